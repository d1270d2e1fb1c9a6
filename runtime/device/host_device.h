#pragma once

// A device whose memory is the host's and whose calls are done when they return: what the reference device and the
// CPU's share. Copies, sums and updates are plain loops, which a device may do faster: load as floats, compute in
// double where it sums, store with one rounding to the tensor's dtype.

#include <unordered_map>
#include <vector>

#include "runtime/device/device.h"
#include "runtime/device/stream_pools.h"

namespace shardscope::runtime {

class HostDevice : public Device {
public:
    /// What new memory holds, and memory that was given back: whatever lay there, or all ones, which is a NaN in every
    /// float dtype and an invalid label, so that who reads what nobody wrote is found out.
    enum class Fresh : std::uint8_t { AsItLies, Poisoned };

    /// `capacity` 0: as much as the host gives.
    explicit HostDevice(Fresh fresh, std::int64_t capacity = 0);
    ~HostDevice() override;

    StreamIndex openStream(std::string_view name, StreamWork work) override;
    Event record(StreamIndex stream) override;
    void wait(StreamIndex stream, Event event) override;
    core::Result<void> enqueue(StreamIndex, StreamTask task) override { return task(); }
    core::Result<void> synchronize() override { return {}; }
    void onError(std::function<void(const core::Error&)>) override {}  // the calls return their errors themselves
    [[nodiscard]] bool waitsOnlyFor(std::size_t calls) const override { return calls > 0; }
    [[nodiscard]] std::int64_t timeOf(Event event) const override;
    [[nodiscard]] std::int64_t now() const override;
    void forgetEvents() override;

    core::Result<Memory> allocate(core::MemoryCategory category, std::int64_t bytes, StreamIndex pool) override;
    void release(const Memory& memory) override;
    [[nodiscard]] const LiveBytes& liveBytes() const override { return m_live; }
    [[nodiscard]] const LiveBytes& peakBytes() const override { return m_peak; }
    void resetPeak(core::MemoryCategory category) override;

    core::Result<void> copy(StreamIndex stream, const TensorView& from, const TensorView& to) override;
    core::Result<void> add(StreamIndex stream, const TensorView& from, const TensorView& to) override;
    core::Result<void> fill(StreamIndex stream, const TensorView& to, double value) override;
    core::Result<void> divide(StreamIndex stream, const TensorView& values, double divisor) override;
    core::Result<void> update(StreamIndex stream, const OptimizerCall& call) override;
    core::Result<void> upload(StreamIndex stream, std::span<const std::byte> from, const TensorView& to) override;
    core::Result<void> download(StreamIndex stream, const TensorView& from, std::span<std::byte> to) override;

private:
    struct Piece {
        StreamPools::Piece storage;
        std::int64_t bytes = 0;
        core::MemoryCategory category = core::MemoryCategory::Workspace;
        StreamIndex pool = 0;
    };
    Fresh m_fresh;
    std::int64_t m_capacity;
    StreamPools m_pools;
    std::int64_t m_total = 0;
    std::uint64_t m_nextMemory = 1;
    std::unordered_map<std::uint64_t, Piece> m_pieces;
    LiveBytes m_live{}, m_peak{};
    StreamIndex m_streams = 0;
    std::vector<std::int64_t> m_eventTimes;
};

}  // namespace shardscope::runtime
