#include "runtime/calibrate/timed_device.h"

#include "runtime/calibrate/processor_time.h"

namespace shardscope::runtime {

using core::Result;

TimedDevice::TimedDevice(Device& device, const core::Model& model) : m_device(device) {
    for (const core::Program& program : model.programs)
        for (const auto* kernels : {&program.forward, &program.backward})
            for (const core::Kernel& kernel : *kernels)
                m_signatures.emplace(&kernel, core::kernelSignature(program, kernel));
}

TimedDevice::~TimedDevice() {
    (void)m_device.synchronize();
}

template <typename Call>
Result<void> TimedDevice::timed(StreamIndex stream, Pending pending, const Call& call) {
    if (!m_timing) return call();
    Pending& noted = m_pending.emplace_back(pending);
    const auto note = [](std::int64_t& time) -> StreamTask {
        return [&time]() -> Result<void> {
            time = threadTime();
            return {};
        };
    };
    SHARDSCOPE_TRY(m_device.enqueue(stream, note(noted.begin)));
    SHARDSCOPE_TRY(call());
    return m_device.enqueue(stream, note(noted.end));
}

void TimedDevice::forgetEvents() {
    for (const Pending& one : m_pending) {
        const double seconds = static_cast<double>(one.end - one.begin) * 1e-9;
        if (one.kernel != nullptr)
            m_times.kernels[*one.kernel].push_back(seconds);
        else
            (one.update ? m_times.updates : m_times.copies).push_back({one.bytes, seconds});
    }
    m_pending.clear();
    m_device.forgetEvents();
}

Result<void> TimedDevice::launch(StreamIndex stream, const KernelCall& call) {
    Pending pending;
    const auto known = m_signatures.find(&call.kernel);
    if (known == m_signatures.end()) return m_device.launch(stream, call);
    pending.kernel = &known->second;
    return timed(stream, pending, [&] { return m_device.launch(stream, call); });
}

Result<void> TimedDevice::copy(StreamIndex stream, const TensorView& from, const TensorView& to) {
    Pending pending;
    pending.bytes = static_cast<double>(from.bytes() + to.bytes());
    return timed(stream, pending, [&] { return m_device.copy(stream, from, to); });
}

Result<void> TimedDevice::add(StreamIndex stream, const TensorView& from, const TensorView& to) {
    return m_device.add(stream, from, to);
}

Result<void> TimedDevice::fill(StreamIndex stream, const TensorView& to, double value) {
    return m_device.fill(stream, to, value);
}

Result<void> TimedDevice::divide(StreamIndex stream, const TensorView& values, double divisor) {
    return m_device.divide(stream, values, divisor);
}

Result<void> TimedDevice::update(StreamIndex stream, const OptimizerCall& call) {
    Pending pending;
    pending.update = true;
    pending.bytes = static_cast<double>(call.parameter.bytes());
    return timed(stream, pending, [&] { return m_device.update(stream, call); });
}

Result<void> TimedDevice::upload(StreamIndex stream, std::span<const std::byte> from, const TensorView& to) {
    return m_device.upload(stream, from, to);
}

Result<void> TimedDevice::download(StreamIndex stream, const TensorView& from, std::span<std::byte> to) {
    return m_device.download(stream, from, to);
}

}  // namespace shardscope::runtime
