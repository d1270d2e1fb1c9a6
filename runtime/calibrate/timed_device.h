#pragma once

// A device that notes how much processor time every call took on its stream.

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "core/machine/machine_times.h"
#include "runtime/device/device.h"

namespace shardscope::runtime {

/// Seconds of every call since the last `clear`, by what it did.
struct CallTimes {
    std::map<std::string, std::vector<double>> kernels;  ///< by core::kernelSignature
    std::vector<core::BytesSample> copies;               ///< bytes read and written
    std::vector<core::BytesSample> updates;              ///< bytes of the parameter alone
};

/// Passes every call on to `device`, which runs on processors: a call's time is that of the thread that did it, so that
/// it does not grow where threads share cores (a little does where the stream falls asleep between two calls). Times
/// are known once the device was synchronized and its events forgotten, as the executor does at the end of a step.
class TimedDevice final : public Device {
public:
    TimedDevice(Device& device, const core::Model& model);
    /// Waits for the calls whose times are noted here.
    ~TimedDevice() override;

    [[nodiscard]] const CallTimes& times() const { return m_times; }
    void clear() { m_times = {}; }
    /// Whether the calls from here on are timed; they are at first.
    void timeCalls(bool timed) { m_timing = timed; }

    [[nodiscard]] std::string_view name() const override { return m_device.name(); }
    StreamIndex openStream(std::string_view name, StreamWork work) override { return m_device.openStream(name, work); }
    Event record(StreamIndex stream) override { return m_device.record(stream); }
    void wait(StreamIndex stream, Event event) override { m_device.wait(stream, event); }
    core::Result<void> enqueue(StreamIndex stream, StreamTask task) override {
        return m_device.enqueue(stream, std::move(task));
    }
    core::Result<void> synchronize() override { return m_device.synchronize(); }
    void onError(std::function<void(const core::Error&)> handler) override { m_device.onError(std::move(handler)); }
    [[nodiscard]] bool waitsOnlyFor(std::size_t calls) const override { return m_device.waitsOnlyFor(calls); }
    [[nodiscard]] std::int64_t timeOf(Event event) const override { return m_device.timeOf(event); }
    [[nodiscard]] std::int64_t now() const override { return m_device.now(); }
    void forgetEvents() override;

    core::Result<Memory> allocate(core::MemoryCategory category, std::int64_t bytes, StreamIndex pool) override {
        return m_device.allocate(category, bytes, pool);
    }
    void release(const Memory& memory) override { m_device.release(memory); }
    [[nodiscard]] const LiveBytes& liveBytes() const override { return m_device.liveBytes(); }
    [[nodiscard]] const LiveBytes& peakBytes() const override { return m_device.peakBytes(); }
    void resetPeak(core::MemoryCategory category) override { m_device.resetPeak(category); }

    core::Result<void> launch(StreamIndex stream, const KernelCall& call) override;
    core::Result<void> copy(StreamIndex stream, const TensorView& from, const TensorView& to) override;
    core::Result<void> add(StreamIndex stream, const TensorView& from, const TensorView& to) override;
    core::Result<void> fill(StreamIndex stream, const TensorView& to, double value) override;
    core::Result<void> divide(StreamIndex stream, const TensorView& values, double divisor) override;
    core::Result<void> update(StreamIndex stream, const OptimizerCall& call) override;
    core::Result<void> upload(StreamIndex stream, std::span<const std::byte> from, const TensorView& to) override;
    core::Result<void> download(StreamIndex stream, const TensorView& from, std::span<std::byte> to) override;

private:
    /// `kernel` null: a copy, or an update. Its stream's thread sets the processor times around it, in ns.
    struct Pending {
        const std::string* kernel = nullptr;
        bool update = false;
        double bytes = 0;
        std::int64_t begin = 0, end = 0;
    };
    template <typename Call>
    core::Result<void> timed(StreamIndex stream, Pending pending, const Call& call);

    Device& m_device;
    std::map<const core::Kernel*, std::string> m_signatures;
    std::deque<Pending> m_pending;  // does not move
    bool m_timing = true;
    CallTimes m_times;
};

}  // namespace shardscope::runtime
