#pragma once

// A device of the host with streams: every call of another device becomes a task of a stream. Memory is counted when it
// is asked for and given back, in the host's order; the pools of the other device make that right in stream order.

#include <memory>

#include "runtime/device/clock.h"
#include "runtime/device/device.h"
#include "runtime/device/stream_queues.h"

namespace shardscope::runtime {

class StreamedDevice final : public Device {
public:
    /// `worker`: a device whose calls are done when they return, and may run on several threads at once. Its memory is
    /// used by this one's host thread alone.
    explicit StreamedDevice(std::unique_ptr<Device> worker) : m_worker(std::move(worker)) {}

    [[nodiscard]] std::string_view name() const override { return m_worker->name(); }

    StreamIndex openStream(std::string_view, StreamWork work) override { return m_queues.open(work); }
    Event record(StreamIndex stream) override { return m_queues.record(stream); }
    void wait(StreamIndex stream, Event event) override { m_queues.wait(stream, event); }
    core::Result<void> enqueue(StreamIndex stream, StreamTask task) override;
    core::Result<void> synchronize() override { return m_queues.synchronize(); }
    void onError(std::function<void(const core::Error&)> handler) override { m_queues.onError(std::move(handler)); }
    [[nodiscard]] bool waitsOnlyFor(std::size_t calls) const override { return m_queues.waitsOnlyFor(calls); }
    [[nodiscard]] std::int64_t timeOf(Event event) const override { return m_queues.timeOf(event); }
    [[nodiscard]] std::int64_t now() const override { return clockNow(); }
    void forgetEvents() override { m_queues.forgetEvents(); }

    core::Result<Memory> allocate(core::MemoryCategory category, std::int64_t bytes, StreamIndex pool) override {
        return m_worker->allocate(category, bytes, pool);
    }
    void release(const Memory& memory) override { m_worker->release(memory); }
    [[nodiscard]] const LiveBytes& liveBytes() const override { return m_worker->liveBytes(); }
    [[nodiscard]] const LiveBytes& peakBytes() const override { return m_worker->peakBytes(); }
    void resetPeak(core::MemoryCategory category) override { m_worker->resetPeak(category); }

    core::Result<void> launch(StreamIndex stream, const KernelCall& call) override;
    core::Result<void> copy(StreamIndex stream, const TensorView& from, const TensorView& to) override;
    core::Result<void> add(StreamIndex stream, const TensorView& from, const TensorView& to) override;
    core::Result<void> fill(StreamIndex stream, const TensorView& to, double value) override;
    core::Result<void> divide(StreamIndex stream, const TensorView& values, double divisor) override;
    core::Result<void> update(StreamIndex stream, const OptimizerCall& call) override;
    core::Result<void> upload(StreamIndex stream, std::span<const std::byte> from, const TensorView& to) override;
    core::Result<void> download(StreamIndex stream, const TensorView& from, std::span<std::byte> to) override;

private:
    std::unique_ptr<Device> m_worker;
    StreamQueues m_queues;  ///< ends before the memory that its tasks use
};

}  // namespace shardscope::runtime
