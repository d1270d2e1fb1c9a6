#pragma once

// The processor as a device: products and activations through oneDNN, the rest as loops, one thread, float32 and
// bfloat16. What it has no fast kernel for (other dtypes, rare kernels) the reference loops do. Each call is done when
// it returns; StreamedDevice makes tasks of streams of them.

#include "runtime/cpu/primitives.h"
#include "runtime/device/host_device.h"

namespace shardscope::runtime {

class CpuDevice final : public HostDevice {
public:
    explicit CpuDevice(std::int64_t capacity = 0);

    [[nodiscard]] std::string_view name() const override { return "cpu"; }
    core::Result<void> launch(StreamIndex stream, const KernelCall& call) override;
    core::Result<void> copy(StreamIndex stream, const TensorView& from, const TensorView& to) override;
    core::Result<void> add(StreamIndex stream, const TensorView& from, const TensorView& to) override;
    core::Result<void> fill(StreamIndex stream, const TensorView& to, double value) override;
    core::Result<void> divide(StreamIndex stream, const TensorView& values, double divisor) override;
    core::Result<void> update(StreamIndex stream, const OptimizerCall& call) override;

private:
    cpu::Primitives m_primitives;
};

}  // namespace shardscope::runtime
