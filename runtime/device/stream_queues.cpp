#include "runtime/device/stream_queues.h"

#include <fmt/format.h>

#include <algorithm>
#include <cassert>
#include <exception>

#include "runtime/device/clock.h"
#include "runtime/device/short_slices.h"

namespace shardscope::runtime {

using core::Result;

namespace {

Result<void> tried(const StreamTask& task) {
    try {
        return task();
    } catch (const std::exception& thrown) {  // std::bad_alloc above all
        return core::fail(core::ErrorCode::Unsupported, fmt::format("stopped by {}", thrown.what()));
    }
}

}  // namespace

StreamQueues::~StreamQueues() {
    {
        const std::lock_guard lock(m_mutex);
        m_closing = true;
        wakeAll();
    }
    for (Stream& stream : m_streams)
        if (stream.thread.joinable()) stream.thread.join();
}

StreamIndex StreamQueues::open(StreamWork kind) {
    const std::lock_guard lock(m_mutex);
    Stream& stream = m_streams.emplace_back();
    try {
        stream.thread = std::thread([this, &stream, kind] {
            if (kind == StreamWork::Data) keepShortSlices();
            work(stream);
        });
    } catch (const std::exception& thrown) {
        if (!m_error)
            m_error =
                core::Error{core::ErrorCode::Unsupported,
                            fmt::format("no thread for stream {} of a device: {}", m_streams.size() - 1, thrown.what()),
                            {},
                            "run fewer ranks"};
    }
    return static_cast<StreamIndex>(m_streams.size() - 1);
}

Result<void> StreamQueues::enqueue(StreamIndex index, StreamTask task) {
    std::unique_lock lock(m_mutex);
    if (m_error) return tl::unexpected(*m_error);
    assert(index < m_streams.size());
    Stream& stream = m_streams[index];
    const bool asleep = stream.idle();
    stream.items.push_back({std::move(task), 0, false});
    lock.unlock();  // else it would wake to find the lock taken
    if (asleep) stream.wake.notify_one();
    return {};
}

Event StreamQueues::record(StreamIndex index) {
    const std::lock_guard lock(m_mutex);
    assert(index < m_streams.size());
    m_events.emplace_back();
    const Event event{m_events.size()};
    Stream& stream = m_streams[index];
    if (m_error || stream.idle())
        finish(event.id);
    else
        stream.items.push_back({{}, event.id, true});
    return event;
}

void StreamQueues::wait(StreamIndex index, Event event) {
    std::unique_lock lock(m_mutex);
    assert(index < m_streams.size() && event.valid() && event.id <= m_events.size());
    if (m_error || isDone(event.id)) return;
    Stream& stream = m_streams[index];
    const bool asleep = stream.idle();
    stream.items.push_back({{}, event.id, false});
    lock.unlock();
    if (asleep) stream.wake.notify_one();
}

Result<void> StreamQueues::synchronize() {
    std::unique_lock lock(m_mutex);
    m_hostWaits = true;
    m_idle.wait(lock, [&] {
        return std::all_of(m_streams.begin(), m_streams.end(), [](const Stream& stream) { return stream.idle(); });
    });
    m_hostWaits = false;
    if (m_error) return tl::unexpected(*m_error);
    return {};
}

std::int64_t StreamQueues::timeOf(Event event) const {
    const std::lock_guard lock(m_mutex);
    assert(event.valid() && event.id <= m_events.size() && isDone(event.id));
    return m_events[event.id - 1].time;
}

void StreamQueues::forgetEvents() {
    const std::lock_guard lock(m_mutex);
    m_events.clear();
}

void StreamQueues::onError(std::function<void(const core::Error&)> handler) {
    const std::lock_guard lock(m_mutex);
    m_onError = std::move(handler);
}

bool StreamQueues::waitsOnlyFor(std::size_t calls) const {
    const std::lock_guard lock(m_mutex);
    if (!m_hostWaits || m_error || calls == 0) return false;
    std::size_t running = 0;
    for (const Stream& stream : m_streams) {
        if (stream.running)
            ++running;
        else if (!stream.items.empty() && (stream.waitsFor == 0 || isDone(stream.waitsFor)))
            return false;
    }
    return running == calls;
}

void StreamQueues::work(Stream& stream) {
    std::unique_lock lock(m_mutex);
    for (;;) {
        if (!advance(stream)) {
            if (stream.items.empty()) {
                if (m_closing) return;
                if (m_hostWaits) m_idle.notify_one();
            }
            stream.wake.wait(lock);
            continue;
        }
        StreamTask task = std::move(stream.items.front().task);
        stream.items.pop_front();
        stream.running = true;
        lock.unlock();
        Result<void> done = tried(task);
        task = {};
        lock.lock();
        if (!done && !m_error) {
            m_error = std::move(done).error();
            wakeAll();
            // Whoever it wakes may ask this device whether it goes on.
            if (const auto handler = m_onError) {
                lock.unlock();
                handler(*m_error);
                lock.lock();
            }
        }
        stream.running = false;
    }
}

bool StreamQueues::advance(Stream& stream) {
    stream.waitsFor = 0;
    while (!stream.items.empty()) {
        const Item& next = stream.items.front();
        const bool drop = m_error || m_closing;
        if (next.event == 0 && !drop) return true;
        if (next.event != 0 && next.recorded) {
            finish(next.event);
        } else if (next.event != 0 && !drop && !isDone(next.event)) {
            stream.waitsFor = next.event;
            return false;
        }
        stream.items.pop_front();
    }
    return false;
}

void StreamQueues::finish(std::uint64_t event) {
    m_events[event - 1] = {clockNow(), true};
    for (Stream& stream : m_streams)
        if (stream.waitsFor == event) stream.wake.notify_one();
}

void StreamQueues::wakeAll() {
    for (Stream& stream : m_streams) stream.wake.notify_one();
}

}  // namespace shardscope::runtime
