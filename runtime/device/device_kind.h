#pragma once

// The devices of this build by name.

#include <memory>
#include <optional>
#include <string_view>

#include "runtime/device/device.h"

namespace shardscope::runtime {

enum class DeviceKind : std::uint8_t {
    Reference,  ///< plain loops, each call done when it returns
    Cpu,        ///< oneDNN, streams as threads
};

/// "reference", "cpu"
[[nodiscard]] std::string_view nameOf(DeviceKind kind);
[[nodiscard]] std::optional<DeviceKind> deviceCalled(std::string_view name);
[[nodiscard]] std::unique_ptr<Device> deviceOf(DeviceKind kind);
/// Whether this processor has no products of that dtype for the device, which then computes in float32 and rounds.
[[nodiscard]] bool computesWider(DeviceKind kind, core::DType dtype);
/// Whether a device that has fast kernels has none for any of that dtype, or none for what a kernel draws by chance:
/// the reference loops do those.
[[nodiscard]] bool leavesToLoops(DeviceKind kind, core::DType dtype);
[[nodiscard]] bool leavesToLoops(DeviceKind kind, const core::Kernel& kernel);

}  // namespace shardscope::runtime
