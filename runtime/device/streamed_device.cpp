#include "runtime/device/streamed_device.h"

#include <vector>

namespace shardscope::runtime {

using core::Result;

Result<void> StreamedDevice::enqueue(StreamIndex stream, StreamTask task) {
    return m_queues.enqueue(stream, std::move(task));
}

Result<void> StreamedDevice::launch(StreamIndex stream, const KernelCall& call) {
    return m_queues.enqueue(
        stream, [this, stream, &kernel = call.kernel, inputs = std::vector(call.inputs.begin(), call.inputs.end()),
                 outputs = std::vector(call.outputs.begin(), call.outputs.end()),
                 seeds = std::vector(call.seeds.begin(), call.seeds.end())] {
            return m_worker->launch(stream, {kernel, inputs, outputs, seeds});
        });
}

Result<void> StreamedDevice::copy(StreamIndex stream, const TensorView& from, const TensorView& to) {
    return m_queues.enqueue(stream, [this, stream, from, to] { return m_worker->copy(stream, from, to); });
}

Result<void> StreamedDevice::add(StreamIndex stream, const TensorView& from, const TensorView& to) {
    return m_queues.enqueue(stream, [this, stream, from, to] { return m_worker->add(stream, from, to); });
}

Result<void> StreamedDevice::fill(StreamIndex stream, const TensorView& to, double value) {
    return m_queues.enqueue(stream, [this, stream, to, value] { return m_worker->fill(stream, to, value); });
}

Result<void> StreamedDevice::divide(StreamIndex stream, const TensorView& values, double divisor) {
    return m_queues.enqueue(stream,
                            [this, stream, values, divisor] { return m_worker->divide(stream, values, divisor); });
}

Result<void> StreamedDevice::update(StreamIndex stream, const OptimizerCall& call) {
    return m_queues.enqueue(stream, [this, stream, call] { return m_worker->update(stream, call); });
}

Result<void> StreamedDevice::upload(StreamIndex stream, std::span<const std::byte> from, const TensorView& to) {
    return m_queues.enqueue(stream, [this, stream, bytes = std::vector(from.begin(), from.end()), to] {
        return m_worker->upload(stream, bytes, to);
    });
}

Result<void> StreamedDevice::download(StreamIndex stream, const TensorView& from, std::span<std::byte> to) {
    return m_queues.enqueue(stream, [this, stream, from, to] { return m_worker->download(stream, from, to); });
}

}  // namespace shardscope::runtime
