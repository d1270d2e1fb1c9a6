#include "runtime/communicator/thread_communicator.h"

#include <fmt/format.h>
#include <algorithm>
#include <cassert>
#include <cstring>
#include <exception>
#include <thread>

#include "runtime/communicator/rank_error.h"
#include "runtime/communicator/rank_order_sum.h"
#include "runtime/device/clock.h"

namespace shardscope::runtime {

using core::Result;

std::string describe(const CallLabel& label) {
    std::string text = label.operation;
    if (!label.unit.empty()) text += " of " + label.unit;
    if (label.bytes > 0) text += fmt::format(" ({} bytes, {})", label.bytes, core::nameOf(label.dtype));
    return text;
}

class ThreadCommunicator final : public Communicator {
public:
    ThreadCommunicator(ThreadWorld& world, ThreadWorld::Channel& channel, std::int64_t position)
        : m_world(world), m_channel(channel), m_position(position) {}

    [[nodiscard]] std::int64_t rank() const override { return m_position; }
    [[nodiscard]] std::int64_t size() const override { return static_cast<std::int64_t>(m_channel.members.size()); }

    Result<Transfer> allGather(const CallLabel& label, std::span<std::byte> buffer) override {
        const std::size_t share = buffer.size() / m_channel.members.size();
        assert(share * m_channel.members.size() == buffer.size());
        const auto own = static_cast<std::size_t>(m_position);
        return meet(label, buffer.subspan(own * share, share), 0, [&](const ThreadWorld::Meeting& meeting) {
            for (std::size_t r = 0; r < meeting.entries.size(); ++r)
                if (r != own && share > 0) std::memcpy(&buffer[r * share], meeting.entries[r].input.data(), share);
        });
    }

    Result<Transfer> reduceScatter(const CallLabel& label, std::span<const std::byte> input, std::span<std::byte> share,
                                   bool average) override {
        assert(share.size() * m_channel.members.size() == input.size());
        return meet(label, input, 0, [&](const ThreadWorld::Meeting& meeting) {
            sumInto(share, static_cast<std::size_t>(m_position) * share.size(), meeting, label.dtype, average);
        });
    }

    Result<Transfer> allReduce(const CallLabel& label, std::span<std::byte> buffer, bool average) override {
        // The members read each other's buffers until all have left the meeting.
        std::vector<std::byte> sum(buffer.size());
        const auto met = meet(label, buffer, 0, [&](const ThreadWorld::Meeting& meeting) {
            sumInto(sum, 0, meeting, label.dtype, average);
        });
        if (met) std::copy(sum.begin(), sum.end(), buffer.begin());
        return met;
    }

    Result<Transfer> send(const CallLabel& label, std::span<const std::byte> message, std::int64_t to) override {
        return m_world.meet(m_channel, messageMeeting(m_position, to), 0, entryOf(label, message, 0),
                            [](const ThreadWorld::Meeting&) {});
    }

    Result<Transfer> receive(const CallLabel& label, std::span<std::byte> message, std::int64_t from) override {
        return m_world.meet(m_channel, messageMeeting(from, m_position), 1, entryOf(label, {}, 0),
                            [&](const ThreadWorld::Meeting& meeting) {
                                const auto& sent = meeting.entries[0].input;
                                assert(sent.size() == message.size());
                                if (!sent.empty()) std::memcpy(message.data(), sent.data(), sent.size());
                            });
    }

    Result<Transfer> barrier(const CallLabel& label) override {
        return meet(label, {}, 0, [](const ThreadWorld::Meeting&) {});
    }

    Result<void> agree(const std::string& what, std::uint64_t value) override {
        std::optional<core::Error> difference;
        auto met = meet(
            {"agreement on " + what, {}, 0, 0, core::DType::U64}, {}, value, [&](const ThreadWorld::Meeting& meeting) {
                for (const auto& entry : meeting.entries)
                    if (entry.value != meeting.entries[0].value && !difference)
                        difference = core::Error{
                            core::ErrorCode::Input,
                            fmt::format("rank {} has {} {:016x}, rank {} has {:016x}", entry.worldRank, what,
                                        entry.value, meeting.entries[0].worldRank, meeting.entries[0].value),
                            {},
                            "start every rank with the same model, plan and program version"};
            });
        if (!met) return tl::unexpected(std::move(met).error());
        if (difference) return tl::unexpected(std::move(*difference));
        return {};
    }

    void abandon(const core::Error& why) override {
        const std::lock_guard lock(m_world.m_mutex);
        m_world.failLocked(worldRank(), why);
    }
    void watch(std::function<bool(std::size_t)> waitsOnlyFor) override {
        m_world.watch(worldRank(), std::move(waitsOnlyFor));
    }

private:
    static void sumInto(std::span<std::byte> target, std::size_t offset, const ThreadWorld::Meeting& meeting,
                        core::DType dtype, bool average) {
        std::vector<const std::byte*> parts;
        for (const ThreadWorld::Entry& entry : meeting.entries) parts.push_back(entry.input.data() + offset);
        sumInRankOrder(parts, target, dtype, average);
    }

    [[nodiscard]] std::int64_t worldRank() const { return m_channel.members[static_cast<std::size_t>(m_position)]; }

    [[nodiscard]] ThreadWorld::Entry entryOf(const CallLabel& label, std::span<const std::byte> input,
                                             std::uint64_t value) const {
        return {label, input, value, worldRank(), true};
    }

    Result<Transfer> meet(const CallLabel& label, std::span<const std::byte> input, std::uint64_t value,
                          const std::function<void(const ThreadWorld::Meeting&)>& transfer) {
        return m_world.meet(m_channel, m_channel.collective, static_cast<std::size_t>(m_position),
                            entryOf(label, input, value), transfer);
    }

    ThreadWorld::Meeting& messageMeeting(std::int64_t from, std::int64_t to) {
        assert(from != to && from >= 0 && to >= 0 && from < size() && to < size());
        const std::lock_guard lock(m_world.m_mutex);
        auto& meeting = m_channel.messages[{from, to}];
        if (meeting.entries.empty()) meeting.entries.resize(2);
        return meeting;
    }

    ThreadWorld& m_world;
    ThreadWorld::Channel& m_channel;
    std::int64_t m_position;
};

ThreadWorld::ThreadWorld(std::int64_t ranks, std::chrono::milliseconds patience)
    : m_size(ranks), m_patience(patience), m_ranks(static_cast<std::size_t>(ranks)) {
    assert(ranks > 0);
}

ThreadWorld::~ThreadWorld() = default;

std::unique_ptr<Communicator> ThreadWorld::communicator(const std::string& name,
                                                        const std::vector<std::int64_t>& members, std::int64_t rank) {
    const auto place = std::find(members.begin(), members.end(), rank);
    assert(place != members.end() && std::is_sorted(members.begin(), members.end()));
    const std::lock_guard lock(m_mutex);
    auto& channel = m_channels[{name, members}];
    if (!channel) {
        channel = std::make_unique<Channel>();
        channel->name = name;
        channel->members = members;
        channel->collective.entries.resize(members.size());
    }
    return std::make_unique<ThreadCommunicator>(*this, *channel, place - members.begin());
}

void ThreadWorld::watch(std::int64_t rank, std::function<bool(std::size_t)> waitsOnlyFor) {
    const std::lock_guard lock(m_mutex);
    m_ranks[static_cast<std::size_t>(rank)].waitsOnlyFor = std::move(waitsOnlyFor);
}

Result<Transfer> ThreadWorld::meet(Channel& channel, Meeting& meeting, std::size_t index, Entry entry,
                                   const std::function<void(const Meeting&)>& transfer) {
    Transfer times;
    std::unique_lock lock(m_mutex);
    const std::int64_t rank = entry.worldRank;
    if (m_failure) return tl::unexpected(failureFor(rank));
    times.arrival = clockNow();
    const std::uint64_t generation = meeting.generation;
    assert(!meeting.entries[index].present && "a rank is in one call of a communicator at a time");
    auto& waiting = m_ranks[static_cast<std::size_t>(rank)].waiting;
    waiting[&meeting] = describe(entry.label) + " on " + channel.name;
    meeting.entries[index] = std::move(entry);
    if (++meeting.arrived == meeting.entries.size()) {
        if (auto mismatch = mismatchIn(channel, meeting)) {
            failLocked(rank, std::move(*mismatch));
            return tl::unexpected(failureFor(rank));
        }
        meeting.open = true;
        meeting.transferStart = clockNow();
        for (const Entry& member : meeting.entries)
            m_ranks[static_cast<std::size_t>(member.worldRank)].waiting.erase(&meeting);
        meeting.changed.notify_all();
    } else {
        waitForMembers(lock, meeting, generation, rank);
        if (!meeting.open) return tl::unexpected(failureFor(rank));
    }
    times.transferStart = meeting.transferStart;
    lock.unlock();
    std::exception_ptr thrown;
    try {
        transfer(meeting);
    } catch (...) {  // std::bad_alloc above all; the others wait until this member is done
        thrown = std::current_exception();
    }
    lock.lock();
    times.end = clockNow();
    // Buffers of the members are in use until all have copied: nobody leaves before, not even when a rank has failed.
    if (++meeting.done == meeting.entries.size()) {
        for (Entry& member : meeting.entries) member = {};
        meeting.arrived = meeting.done = 0;
        meeting.open = false;
        ++meeting.generation;
        meeting.changed.notify_all();
    } else {
        meeting.changed.wait(lock, [&] { return meeting.generation != generation; });
    }
    if (!thrown) return times;
    try {
        std::rethrow_exception(thrown);
    } catch (const std::exception& error) {
        failLocked(rank, {core::ErrorCode::Unsupported, fmt::format("stopped by {}", error.what()), {}, {}});
    }
    return tl::unexpected(failureFor(rank));
}

void ThreadWorld::waitForMembers(std::unique_lock<std::mutex>& lock, Meeting& meeting, std::uint64_t generation,
                                 std::int64_t rank) {
    const auto over = [&] { return m_failure.has_value() || meeting.open || meeting.generation != generation; };
    const auto end = std::chrono::steady_clock::now() + m_patience;
    checkDeadlockLocked();
    while (!over()) {
        // A rank's streams and its host may come to a stop after this call has begun to wait.
        constexpr std::chrono::milliseconds kLook{50};
        const auto now = std::chrono::steady_clock::now();
        if (now >= end) {
            failLocked(rank, {core::ErrorCode::Unsupported,
                              fmt::format("rank {} waited {} ms for its peers in {}; {}", rank, m_patience.count(),
                                          m_ranks[static_cast<std::size_t>(rank)].waiting[&meeting], whoIsWhere()),
                              {},
                              {}});
            return;
        }
        if (meeting.changed.wait_until(lock, std::min(end, now + kLook), over)) return;
        if (const auto again = std::chrono::steady_clock::now(); again >= m_nextLook) {
            m_nextLook = again + kLook;
            checkDeadlockLocked();
        }
    }
}

std::optional<core::Error> ThreadWorld::mismatchIn(const Channel& channel, const Meeting& meeting) const {
    const Entry& first = meeting.entries.front();
    for (const Entry& other : meeting.entries) {
        if (other.label == first.label) continue;
        return core::Error{
            core::ErrorCode::Input,
            fmt::format("rank {} is at {} of micro-batch {}, rank {} at {} of micro-batch {} (communicator {})",
                        first.worldRank, describe(first.label), first.label.microBatch, other.worldRank,
                        describe(other.label), other.label.microBatch, channel.name),
            {},
            "members of a communicator must issue the same operations in the same order"};
    }
    return std::nullopt;
}

void ThreadWorld::failLocked(std::int64_t rank, core::Error error) {
    if (!m_failure) {
        m_failure = std::move(error);
        m_failedRank = rank;
    }
    for (auto& [key, channel] : m_channels) {
        channel->collective.changed.notify_all();
        for (auto& [ends, message] : channel->messages) message.changed.notify_all();
    }
}

std::string ThreadWorld::whoIsWhere() const {
    std::string text;
    for (std::size_t r = 0; r < m_ranks.size(); ++r) {
        std::string calls;
        for (const auto& [meeting, call] : m_ranks[r].waiting) calls += (calls.empty() ? "" : " and ") + call;
        text += fmt::format("{}rank {} {}", text.empty() ? "" : ", ", r,
                            m_ranks[r].finished ? "has finished"
                            : calls.empty()     ? "is in no call"
                                                : "waits in " + calls);
    }
    return text;
}

// Every rank has finished or waits for another, in each of its calls; while the lock is held none of them can end.
void ThreadWorld::checkDeadlockLocked() {
    if (m_failure) return;
    std::int64_t first = -1;
    for (std::size_t r = 0; r < m_ranks.size(); ++r) {
        const Rank& rank = m_ranks[r];
        if (rank.finished) continue;
        const std::size_t calls = rank.waiting.size();
        if (calls == 0 || (rank.waitsOnlyFor && !rank.waitsOnlyFor(calls))) return;
        if (first < 0) first = static_cast<std::int64_t>(r);
    }
    if (first < 0) return;
    failLocked(first, {core::ErrorCode::Input,
                       "no rank can go on: " + whoIsWhere(),
                       {},
                       "every call needs its counterpart on the other members, in the same order"});
}

core::Error ThreadWorld::failureFor(std::int64_t rank) const {
    assert(m_failure);
    if (rank == m_failedRank) return *m_failure;
    core::Error error = *m_failure;
    error.message = fmt::format("rank {} failed: {}", m_failedRank, error.message);
    return error;
}

Result<void> ThreadWorld::run(const std::function<Result<void>(std::int64_t)>& body) {
    {
        const std::lock_guard lock(m_mutex);
        m_failure.reset();
        m_failedRank = -1;
        for (Rank& rank : m_ranks) rank = {};
        m_channels.clear();
    }
    std::vector<std::thread> threads;
    const auto runRank = [&](std::int64_t rank) {
        Result<void> result;
        try {
            result = body(rank);
        } catch (const std::exception& thrown) {  // std::bad_alloc above all
            result = core::fail(core::ErrorCode::Unsupported, fmt::format("stopped by {}", thrown.what()));
        }
        const std::lock_guard lock(m_mutex);
        m_ranks[static_cast<std::size_t>(rank)].finished = true;
        if (!result)
            failLocked(rank, std::move(result).error());
        else
            checkDeadlockLocked();
    };
    try {
        for (std::int64_t rank = 0; rank < m_size; ++rank) threads.emplace_back(runRank, rank);
    } catch (const std::exception& thrown) {
        const std::lock_guard lock(m_mutex);
        failLocked(static_cast<std::int64_t>(threads.size()),
                   {core::ErrorCode::Unsupported, fmt::format("no thread for the rank: {}", thrown.what()), {}, {}});
    }
    for (std::thread& thread : threads) thread.join();
    if (!m_failure) return {};
    return tl::unexpected(ofRank(m_failedRank, *m_failure));
}

}  // namespace shardscope::runtime
