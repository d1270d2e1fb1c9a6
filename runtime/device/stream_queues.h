#pragma once

// Streams as threads: each does its tasks one after another in the order of issue, events order tasks of different
// streams.

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

#include "core/base/result.h"
#include "runtime/device/device.h"

namespace shardscope::runtime {

/// Calls without "any thread" are for the one thread that owns the streams. A task that fails, or throws, ends all work
/// that has not begun: it is dropped, waits pass. The first error is kept.
class StreamQueues {
public:
    StreamQueues() = default;
    StreamQueues(const StreamQueues&) = delete;
    StreamQueues& operator=(const StreamQueues&) = delete;
    /// Drops what has not begun and waits for what has.
    ~StreamQueues();

    /// A stream for which there is no thread is an error that is kept.
    StreamIndex open(StreamWork work);
    /// Errors: the one that is kept.
    core::Result<void> enqueue(StreamIndex stream, StreamTask task);
    Event record(StreamIndex stream);
    void wait(StreamIndex stream, Event event);
    /// Waits until no stream works. Errors: the one that is kept.
    core::Result<void> synchronize();
    /// When the work before the event was done (clockNow()); valid after `synchronize`.
    [[nodiscard]] std::int64_t timeOf(Event event) const;
    /// After `synchronize`.
    void forgetEvents();
    void onError(std::function<void(const core::Error&)> handler);
    /// Device::waitsOnlyFor; any thread.
    [[nodiscard]] bool waitsOnlyFor(std::size_t calls) const;

private:
    /// A task, or the mark of an event (`recorded`), or the wait for one.
    struct Item {
        StreamTask task;
        std::uint64_t event = 0;
        bool recorded = false;
    };
    struct Stream {
        std::deque<Item> items;      ///< not begun
        std::uint64_t waitsFor = 0;  ///< the event that its first item waits for
        bool running = false;        ///< a task
        std::condition_variable wake;
        std::thread thread;
        [[nodiscard]] bool idle() const { return items.empty() && !running; }
    };
    struct Recorded {
        std::int64_t time = 0;
        bool done = false;
    };

    void work(Stream& stream);
    /// Passes marks and waits up to the next task; false: there is none to run now.
    bool advance(Stream& stream);
    void finish(std::uint64_t event);
    void wakeAll();
    [[nodiscard]] bool isDone(std::uint64_t event) const { return m_events[event - 1].done; }

    mutable std::mutex m_mutex;
    std::condition_variable m_idle;  ///< a stream has become idle
    std::deque<Stream> m_streams;    ///< does not move
    std::vector<Recorded> m_events;  ///< by id - 1
    std::optional<core::Error> m_error;
    std::function<void(const core::Error&)> m_onError;
    bool m_hostWaits = false, m_closing = false;
};

}  // namespace shardscope::runtime
