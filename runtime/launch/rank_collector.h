#pragma once

// Takes what the store hears of the ranks and keeps it until all are done or one has failed.

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <optional>
#include <vector>

#include "core/base/result.h"
#include "runtime/launch/rank_messages.h"
#include "runtime/rendezvous/store_server.h"
#include "runtime/train/training.h"

namespace shardscope::runtime {

class RankCollector {
public:
    /// TrainConfig::progress hears of every step that a rank tells, from the store's threads.
    explicit RankCollector(const Training& training);

    /// A store that tells this collector. The collector must outlive it.
    core::Result<std::unique_ptr<StoreServer>> serve(const Endpoint& at);

    struct Failure {
        std::int64_t rank = 0;
        RankFailure failure;
    };
    /// The first failure that is a rank's own fault; else the first one.
    [[nodiscard]] std::optional<Failure> failure() const;
    [[nodiscard]] bool complete() const;
    /// Something may have changed since; false after `patience`.
    bool wait(std::chrono::milliseconds patience);

    /// All instants on one clock. Once complete.
    [[nodiscard]] TrainReport report();

private:
    void told(std::int64_t rank, std::span<const std::byte> message);
    void take(std::int64_t rank, std::span<const std::byte> message);
    void lost(std::int64_t rank);
    void note(std::int64_t rank, RankFailure failure);

    const Training& m_training;
    mutable std::mutex m_mutex;
    std::condition_variable m_changed;
    bool m_news = false;
    std::vector<std::optional<RankResult>> m_results;  ///< by rank
    std::vector<Failure> m_failures;
};

/// What ranks must agree on before they start: the graph, on what it is run and how. Of the images their number and
/// size count, and the first few of them.
[[nodiscard]] std::uint64_t fingerprintOf(const Training& training);

}  // namespace shardscope::runtime
