#pragma once

// The oracle: plain loops on the host's memory, in the order of the calls, each done when its call returns. Every other
// device is compared with it. Floats are computed with double sums; bfloat16 and float16 tensors are stored as such, so
// every operation's result is rounded once, as PyTorch does.

#include "runtime/device/host_device.h"

namespace shardscope::runtime {

class ReferenceDevice final : public HostDevice {
public:
    explicit ReferenceDevice(std::int64_t capacity = 0) : HostDevice(Fresh::Poisoned, capacity) {}

    [[nodiscard]] std::string_view name() const override { return "reference"; }
    core::Result<void> launch(StreamIndex stream, const KernelCall& call) override;
};

}  // namespace shardscope::runtime
