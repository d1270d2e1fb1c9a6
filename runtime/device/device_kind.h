#pragma once

// The devices of this build by name.

#include <memory>
#include <optional>
#include <string_view>

#include "runtime/device/device.h"

namespace shardscope::runtime {

enum class DeviceKind : std::uint8_t {
    Reference,  ///< plain loops
    Cpu,        ///< oneDNN
};

/// "reference", "cpu"
[[nodiscard]] std::string_view nameOf(DeviceKind kind);
[[nodiscard]] std::optional<DeviceKind> deviceCalled(std::string_view name);
/// To be made by the thread that uses it.
[[nodiscard]] std::unique_ptr<Device> deviceOf(DeviceKind kind);

}  // namespace shardscope::runtime
