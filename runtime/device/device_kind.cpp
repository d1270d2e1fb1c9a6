#include "runtime/device/device_kind.h"

#include "runtime/cpu/cpu_device.h"
#include "runtime/cpu/primitives.h"
#include "runtime/device/reference_device.h"
#include "runtime/device/streamed_device.h"

namespace shardscope::runtime {

std::string_view nameOf(DeviceKind kind) {
    return kind == DeviceKind::Reference ? "reference" : "cpu";
}

std::optional<DeviceKind> deviceCalled(std::string_view name) {
    for (const DeviceKind kind : {DeviceKind::Reference, DeviceKind::Cpu})
        if (nameOf(kind) == name) return kind;
    return std::nullopt;
}

std::unique_ptr<Device> deviceOf(DeviceKind kind) {
    if (kind == DeviceKind::Cpu) return std::make_unique<StreamedDevice>(std::make_unique<CpuDevice>());
    return std::make_unique<ReferenceDevice>();
}

bool computesWider(DeviceKind kind, core::DType dtype) {
    return kind == DeviceKind::Cpu && dtype == core::DType::BF16 && !cpu::multipliesBfloat16();
}

bool leavesToLoops(DeviceKind kind, core::DType dtype) {
    return kind == DeviceKind::Cpu && dtype == core::DType::F16;
}

bool leavesToLoops(DeviceKind kind, const core::Kernel& kernel) {
    return kind == DeviceKind::Cpu && kernel.draw != 0;
}

}  // namespace shardscope::runtime
