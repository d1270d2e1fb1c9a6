#include "sim/run/simulate.h"

#include <algorithm>
#include <string>

#include "core/graph/host_memory.h"
#include "sim/engine/core_engine.h"
#include "sim/engine/event_engine.h"
#include "sim/run/breakdown_of_run.h"
#include "sim/run/chosen_ranks.h"

namespace shardscope::sim {

using core::ErrorCode;
using core::fail;

namespace {

constexpr std::size_t kMostRankOps = 100'000'000;  // kept instants of the event engine: 24 bytes and a queue entry each

std::int64_t ranksOf(const core::StepGraph& graph) {
    std::int64_t ranks = 0;
    for (const core::RankClass& rankClass : graph.classes) ranks += rankClass.multiplicity;
    return ranks;
}

std::int64_t largestOf(const std::vector<std::int64_t>& values, std::int64_t otherwise) {
    return values.empty() ? otherwise : *std::max_element(values.begin(), values.end());
}

core::Result<void> check(const core::StepGraph& graph, const Prices& prices, const RunOptions& options) {
    const std::int64_t ranks = ranksOf(graph);
    const auto fits = [&](const std::vector<std::int64_t>& values, std::int64_t least,
                          const char* what) -> core::Result<void> {
        if (values.empty()) return {};
        if (static_cast<std::int64_t>(values.size()) != ranks)
            return fail(ErrorCode::Input,
                        std::string(what) + " of " + std::to_string(values.size()) + " ranks, expected " +
                            std::to_string(ranks),
                        "clocks");
        for (std::size_t rank = 0; rank < values.size(); ++rank)
            if (values[rank] < least)
                return fail(ErrorCode::Input,
                            std::string(what) + " of rank " + std::to_string(rank) + ": " +
                                std::to_string(values[rank]) + ", expected at least " + std::to_string(least),
                            "clocks");
        return {};
    };
    SHARDSCOPE_TRY(fits(options.offsets, 0, "start offsets"));
    SHARDSCOPE_TRY(fits(options.computePpm, 1, "compute speeds"));
    for (const std::int64_t rank : options.chosenRanks)
        if (rank < 0 || rank >= ranks)
            return fail(ErrorCode::Input,
                        "rank " + std::to_string(rank) + ", expected 0 to " + std::to_string(ranks - 1),
                        "chosen ranks");
    return checkClocks(graph, prices, largestOf(options.offsets, 0), largestOf(options.computePpm, kNominalPpm));
}

}  // namespace

PreparedStep::PreparedStep(const core::StepGraph& graph, Wiring wiring) : m_graph(&graph), m_wiring(std::move(wiring)) {
    m_foldedClock = ClockEngine::refusal(graph, m_wiring, 1).empty();
    m_rankClock = m_foldedClock && ClockEngine::refusal(graph, m_wiring, ranksOf(graph)).empty();
    if (m_foldedClock) m_clock.emplace(graph, m_wiring);
    m_peakAllocated.reserve(graph.classes.size());
    for (const core::RankClass& rankClass : graph.classes)
        m_peakAllocated.push_back(core::peakAllocated(graph, rankClass));
}

std::vector<core::Bytes> PreparedStep::peaksByRow(bool folded) const {
    if (folded) return m_peakAllocated;
    std::vector<core::Bytes> peaks;
    peaks.reserve(static_cast<std::size_t>(ranksOf(*m_graph)));
    for (std::size_t c = 0; c < m_peakAllocated.size(); ++c)
        peaks.insert(peaks.end(), static_cast<std::size_t>(m_graph->classes[c].multiplicity), m_peakAllocated[c]);
    return peaks;
}

core::Result<PreparedStep> PreparedStep::prepare(const core::StepGraph& graph) {
    SHARDSCOPE_ASSIGN(Wiring wiring, wire(graph));
    return PreparedStep(graph, std::move(wiring));
}

core::Result<StepResult> PreparedStep::run(const Prices& prices, const RunOptions& options) const {
    SHARDSCOPE_TRY(check(*m_graph, prices, options));
    if (!options.contention && (prices.slowNum != prices.slowDen || !prices.links.empty() || prices.shared)) {
        Prices alone = prices;
        alone.shared.reset();
        alone.slowNum = alone.slowDen = 1;
        alone.links.clear();
        return run(alone, options);
    }
    const bool folded = options.offsets.empty() && options.computePpm.empty();
    if (!prices.shared && (folded ? m_foldedClock : m_rankClock)) return runClocks(*m_clock, prices, options, folded);
    return runEvents(prices, options, folded);
}

StepResult PreparedStep::runClocks(const ClockEngine& engine, const Prices& prices, const RunOptions& options,
                                   bool folded) const {
    const Clocks clocks{folded ? 1 : ranksOf(*m_graph), options.offsets, options.computePpm};
    ClockRun run = engine.run(prices, clocks);
    StepResult result;
    result.step = run.end;
    result.folded = folded;
    result.engine = Engine::Clock;
    result.breakdown = std::move(run.breakdown);
    result.peakAllocated = peaksByRow(folded);
    const core::RankClass& all = m_graph->classes.front();
    if (folded) {
        result.ranks.push_back(
            {0, all.multiplicity, core::ClassId(0), all.name, 0, engine.replay(run, prices, clocks, 0)});
        return result;
    }
    for (ChosenRank& chosen : chooseRanks(*m_graph, result.breakdown, options))
        result.ranks.push_back({chosen.rank, 1, chosen.rankClass, std::move(chosen.name),
                                static_cast<std::size_t>(chosen.rank),
                                engine.replay(run, prices, clocks, chosen.rank)});
    return result;
}

core::Result<StepResult> PreparedStep::runEvents(const Prices& prices, const RunOptions& options, bool folded) const {
    const core::StepGraph& graph = *m_graph;
    std::size_t rankOps = 0;
    for (const core::RankClass& c : graph.classes)
        rankOps += static_cast<std::size_t>(folded ? 1 : c.multiplicity) * (c.opEnd - c.opBegin);
    if (rankOps > kMostRankOps)
        return fail(ErrorCode::Unsupported,
                    std::to_string(rankOps) + " ops of all ranks together, at most " + std::to_string(kMostRankOps) +
                        " are run one by one",
                    "clocks", "leave out the ranks' own clocks, so that equal ranks are run once");
    std::vector<Instance> instances = folded ? foldedInstances(graph) : allInstances(graph);
    for (std::size_t i = 0; i < instances.size() && !folded; ++i) {
        if (!options.offsets.empty()) instances[i].offset = options.offsets[i];
        if (!options.computePpm.empty()) instances[i].computePpm = options.computePpm[i];
    }
    SHARDSCOPE_ASSIGN(const EventRun run, prices.shared ? runOnCores(graph, m_wiring, prices, instances)
                                                        : sim::runEvents(graph, m_wiring, prices, instances));
    StepResult result;
    result.step = run.end;
    result.folded = folded;
    result.engine = Engine::Event;
    result.breakdown = breakdownOfRun(graph, m_wiring, instances, run);
    result.peakAllocated = peaksByRow(folded);
    if (!folded) {
        for (ChosenRank& chosen : chooseRanks(graph, result.breakdown, options)) {
            const auto row = static_cast<std::size_t>(chosen.rank);
            result.ranks.push_back({chosen.rank, 1, chosen.rankClass, std::move(chosen.name), row, run.timesOf(row)});
        }
        return result;
    }
    std::int64_t first = 0;
    for (std::size_t c = 0; c < graph.classes.size(); ++c) {
        const core::RankClass& all = graph.classes[c];
        result.ranks.push_back({first, all.multiplicity, core::ClassId(c), all.name, c, run.timesOf(c)});
        first += all.multiplicity;
    }
    return result;
}

core::Result<StepResult> simulate(const core::StepGraph& graph, const Prices& prices, const RunOptions& options) {
    SHARDSCOPE_ASSIGN(const PreparedStep prepared, PreparedStep::prepare(graph));
    return prepared.run(prices, options);
}

}  // namespace shardscope::sim
