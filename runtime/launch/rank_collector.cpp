#include "runtime/launch/rank_collector.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <exception>
#include <utility>

#include "core/graph/graph_checks.h"

namespace shardscope::runtime {

using core::Result;

RankCollector::RankCollector(const Training& training)
    : m_training(training), m_results(static_cast<std::size_t>(training.ranks())) {}

Result<std::unique_ptr<StoreServer>> RankCollector::serve(const Endpoint& at) {
    StoreServer::Settings settings;
    settings.at = at;
    settings.ranks = m_training.ranks();
    settings.fingerprint = fingerprintOf(m_training);
    settings.told = [this](std::int64_t rank, const std::vector<std::byte>& message) { told(rank, message); };
    settings.lost = [this](std::int64_t rank) { lost(rank); };
    return StoreServer::start(std::move(settings));
}

void RankCollector::told(std::int64_t rank, std::span<const std::byte> bytes) {
    // The store's thread calls this; there is nobody above it who would catch. Memory may be short, and the callback
    // is the caller's.
    try {
        take(rank, bytes);
    } catch (const std::exception& thrown) {
        note(rank, {{core::ErrorCode::Internal,
                     fmt::format("what rank {} told could not be taken: {}", rank, thrown.what()),
                     {},
                     {}},
                    false});
    }
}

void RankCollector::take(std::int64_t rank, std::span<const std::byte> bytes) {
    auto message = decode(bytes);
    if (!message) return note(rank, {message.error(), false});
    if (auto* failure = std::get_if<RankFailure>(&*message)) return note(rank, std::move(*failure));
    if (auto* step = std::get_if<RankStep>(&*message)) {
        step->rank = rank;
        // Nothing in it is trusted: a step that is none has nobody to tell.
        const TrainConfig& config = m_training.config();
        if (config.progress && canHaveBeen(*step, config.steps)) config.progress(*step);
        return;
    }
    const std::lock_guard lock(m_mutex);
    m_news = true;
    m_changed.notify_all();
    auto& result = std::get<RankResult>(*message);
    if (const auto right = checkResult(result, m_training, rank); right)
        m_results[static_cast<std::size_t>(rank)] = std::move(result);
    else
        m_failures.push_back({rank, {right.error(), false}});
}

void RankCollector::lost(std::int64_t rank) {
    note(rank, {{core::ErrorCode::Io, fmt::format("rank {} has gone: its connection broke", rank), {}, {}}, true});
}

void RankCollector::note(std::int64_t rank, RankFailure failure) {
    const std::lock_guard lock(m_mutex);
    m_failures.push_back({rank, std::move(failure)});
    m_news = true;
    m_changed.notify_all();
}

std::optional<RankCollector::Failure> RankCollector::failure() const {
    const std::lock_guard lock(m_mutex);
    if (m_failures.empty()) return std::nullopt;
    const auto own = std::find_if(m_failures.begin(), m_failures.end(),
                                  [](const Failure& failure) { return !failure.failure.lostPeer; });
    return own == m_failures.end() ? m_failures.front() : *own;
}

bool RankCollector::complete() const {
    const std::lock_guard lock(m_mutex);
    return std::all_of(m_results.begin(), m_results.end(), [](const auto& result) { return result.has_value(); });
}

bool RankCollector::wait(std::chrono::milliseconds patience) {
    std::unique_lock lock(m_mutex);
    const bool news = m_changed.wait_for(lock, patience, [&] { return m_news; });
    m_news = false;
    return news;
}

TrainReport RankCollector::report() {
    const std::lock_guard lock(m_mutex);
    std::vector<RankRecord> records;
    std::vector<RankClock> clocks;
    for (auto& result : m_results) {
        const ClockFit clock(result->clockAtStart, result->clockAtEnd);
        for (StepOutcome& outcome : result->record.outcomes) {
            outcome.begin = clock.toCommon(outcome.begin);
            outcome.end = clock.toCommon(outcome.end);
            for (OpTimes& times : outcome.times) {
                times.start = clock.toCommon(times.start);
                times.transferStart = clock.toCommon(times.transferStart);
                times.end = clock.toCommon(times.end);
            }
        }
        clocks.push_back({clock.offset(), clock.residual(), clock.driftPerSecond()});
        records.push_back(std::move(result->record));
    }
    TrainReport made = reportOf(m_training, std::move(records));
    made.clocks = std::move(clocks);
    return made;
}

std::uint64_t fingerprintOf(const Training& training) {
    const TrainConfig& config = training.config();
    std::uint64_t hash = core::hashOf(training.graph());
    const auto mix = [&](auto... values) {
        ((hash = (hash ^ static_cast<std::uint64_t>(values)) * 1099511628211ull), ...);
    };
    const auto mixNumbers = [&](auto... numbers) { mix(std::bit_cast<std::uint64_t>(numbers)...); };
    mix(config.steps, config.batch, config.seed, config.setEpoch, config.schedule, config.keepGradients,
        config.keepParameters, config.device, config.data, config.images != nullptr, config.dropout, config.cpuRules,
        config.autocast);
    const OptimizerSettings& optimizer = config.optimizer;
    mixNumbers(config.link.bandwidth, config.link.latency, optimizer.learningRate, optimizer.beta1, optimizer.beta2,
               optimizer.epsilon, optimizer.momentum, optimizer.weightDecay);
    if (config.images == nullptr) return hash;
    const ImageSet& images = *config.images;
    mix(images.size(), images.side(), images.classes());
    constexpr std::int64_t kLookedAt = 16;
    std::vector<std::uint8_t> pixels(static_cast<std::size_t>(images.side() * images.side()));
    for (std::int64_t i = 0; i < std::min(kLookedAt, images.size()); ++i) {
        mix(images.draw(i, pixels));
        for (const std::uint8_t pixel : pixels) mix(pixel);
    }
    return hash;
}

}  // namespace shardscope::runtime
