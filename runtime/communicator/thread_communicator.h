#pragma once

// Ranks as threads of one process: collectives are copies between the members' buffers, sums are taken in rank order.
// The world knows who waits where, so that calls that can never be met (a rank at another call, or already done) are
// soon reported; a rank that fails stops the others with its name.

#include <chrono>
#include <condition_variable>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "runtime/communicator/communicator.h"

namespace shardscope::runtime {

class ThreadWorld {
public:
    /// A call that is not met within `patience` is an error as well (a rank that computes for longer than that).
    explicit ThreadWorld(std::int64_t ranks, std::chrono::milliseconds patience = std::chrono::minutes(10));
    ~ThreadWorld();
    ThreadWorld(const ThreadWorld&) = delete;
    ThreadWorld& operator=(const ThreadWorld&) = delete;

    [[nodiscard]] std::int64_t size() const { return m_size; }

    /// Runs `body(rank)` on one thread a rank and waits for all. The error of the first rank that failed, named.
    core::Result<void> run(const std::function<core::Result<void>(std::int64_t rank)>& body);

    /// As Communicator::watch; ranks without are taken to stand still in a call. Asked with the world locked.
    void watch(std::int64_t rank, std::function<bool(std::size_t calls)> waitsOnlyFor);

    /// The end of `rank` in the communicator of that name and members (world ranks, ascending, `rank` among them).
    /// Members that give the same name and list share it. The world must outlive it.
    std::unique_ptr<Communicator> communicator(const std::string& name, const std::vector<std::int64_t>& members,
                                               std::int64_t rank);

private:
    friend class ThreadCommunicator;

    struct Entry {
        CallLabel label;
        std::span<const std::byte> input;
        std::uint64_t value = 0;
        std::int64_t worldRank = 0;
        bool present = false;
    };
    /// One call that its members are at. `open` once the last has arrived; the next generation starts when all have
    /// left.
    struct Meeting {
        std::vector<Entry> entries;
        std::size_t arrived = 0, done = 0;
        std::uint64_t generation = 0;
        std::int64_t transferStart = 0;
        bool open = false;
        std::condition_variable changed;
    };
    struct Channel {
        std::string name;
        std::vector<std::int64_t> members;
        Meeting collective;
        std::map<std::pair<std::int64_t, std::int64_t>, Meeting> messages;  ///< by (sender, receiver) positions
    };

    struct Rank {
        std::map<const Meeting*, std::string> waiting;  ///< calls that it waits in
        std::function<bool(std::size_t)> waitsOnlyFor;
        bool finished = false;
    };

    /// Waits for all members of the meeting, lets `transfer` copy, waits until all have copied.
    core::Result<Transfer> meet(Channel& channel, Meeting& meeting, std::size_t index, Entry entry,
                                const std::function<void(const Meeting&)>& transfer);
    void waitForMembers(std::unique_lock<std::mutex>& lock, Meeting& meeting, std::uint64_t generation,
                        std::int64_t rank);
    void failLocked(std::int64_t rank, core::Error error);
    [[nodiscard]] std::optional<core::Error> mismatchIn(const Channel& channel, const Meeting& meeting) const;
    void checkDeadlockLocked();
    /// "rank 0 waits in all-gather of root on dp_shard#0, rank 1 has finished"
    [[nodiscard]] std::string whoIsWhere() const;
    [[nodiscard]] core::Error failureFor(std::int64_t rank) const;

    std::int64_t m_size;
    std::chrono::milliseconds m_patience;
    std::mutex m_mutex;
    std::map<std::pair<std::string, std::vector<std::int64_t>>, std::unique_ptr<Channel>> m_channels;
    std::vector<Rank> m_ranks;
    std::chrono::steady_clock::time_point m_nextLook;
    std::optional<core::Error> m_failure;
    std::int64_t m_failedRank = -1;
};

}  // namespace shardscope::runtime
