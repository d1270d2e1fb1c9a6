#include "sim/engine/clock_engine.h"

#include "sim/engine/rank_replay.h"
#include "sim/engine/shared_instants.h"

namespace shardscope::sim {

std::string ClockEngine::refusal(const core::StepGraph& graph, const Wiring& wiring, std::int64_t ranks) {
    if (graph.classes.size() != 1) return "several classes";
    std::uint32_t computeStream = kNoOp, communicator = kNoOp;
    for (std::uint32_t i = 0; i < graph.ops.size(); ++i) {
        const core::Op& op = graph.ops[i];
        for (const std::uint32_t from : wiring.waitsOf(i))
            if (from >= i) return "an op that waits for a later one";
        if (wiring.role[i] == OpRole::Compute) {
            if (computeStream != kNoOp && computeStream != op.stream) return "several compute streams";
            computeStream = op.stream;
        }
        if (wiring.role[i] != OpRole::Transfer) continue;
        const core::Group& group = graph.groups[op.group.index()];
        if (communicator != kNoOp && communicator != group.communicator) return "several communicators";
        communicator = group.communicator;
        if (op.match != core::kNoMatch) return "point-to-point transfers";
        if (ranks > 1 && group.size != ranks) return "groups that are not the whole class";
    }
    if (ranks > 1 && ranks != graph.classes.front().multiplicity) return "a part of the class";
    return {};
}

ClockEngine::ClockEngine(const core::StepGraph& graph, const Wiring& wiring) : m_order(orderOf(graph, wiring)) {}

ClockRun ClockEngine::run(const Prices& prices, const Clocks& clocks) const {
    ClockRun result;
    result.shared = findSharedInstants(m_order, prices, clocks);
    result.end = result.shared.finish;
    result.breakdown.reserve(static_cast<std::size_t>(clocks.ranks));
    RankReplay replay(m_order, prices, clocks, result.shared);
    for (std::int64_t rank = 0; rank < clocks.ranks; ++rank) {
        replay.replay(rank);
        result.breakdown.push_back(replay.breakdown());
    }
    return result;
}

OpInstants ClockEngine::replay(const ClockRun& run, const Prices& prices, const Clocks& clocks,
                               std::int64_t rank) const {
    OpInstants times;
    times.resize(m_order.steps.size());
    const auto fill = [&](std::span<const Interval> at) {
        for (std::size_t s = 0; s < m_order.steps.size(); ++s) {
            const StaticOrder::Step& step = m_order.steps[s];
            times.start[step.op] = at[s].begin;
            times.end[step.op] = at[s].end;
            times.transferStart[step.op] =
                step.role == OpRole::Transfer ? run.shared.progress.start(step.number) : at[s].begin;
        }
    };
    if (run.shared.varying.empty()) {
        fill(run.shared.at);
    } else {
        RankReplay replay(m_order, prices, clocks, run.shared);
        replay.replay(rank);
        fill(replay.at());
    }
    return times;
}

}  // namespace shardscope::sim
