#include "runtime/train/step_timeline.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "runtime/executor/rank_map.h"
#include "traces/timeline/graph_flows.h"

namespace shardscope::runtime {

timeline::Timeline timelineOf(const core::Model& model, const core::StepGraph& graph,
                              const std::vector<StepOutcome>& outcomes) {
    timeline::Timeline made;
    made.title = fmt::format("{}, {}, executed", model.name, graph.plan.name);
    std::int64_t zero = outcomes.empty() ? 0 : outcomes.front().begin;
    for (const StepOutcome& outcome : outcomes) zero = std::min(zero, outcome.begin);
    for (const core::Group& group : graph.groups) made.groups.push_back({made.strings.intern(group.name), group.size});

    std::vector<timeline::RankOps> ranks;
    for (std::size_t r = 0; r < outcomes.size(); ++r) {
        const StepOutcome& outcome = outcomes[r];
        const RankMap place{graph.plan.mesh, static_cast<std::int64_t>(r)};
        timeline::RankRow row;
        row.rank = static_cast<std::int64_t>(r);
        row.stage = place.stage();
        row.name = made.strings.intern(fmt::format("rank {}", r));
        row.laneBegin = static_cast<std::uint32_t>(made.lanes.size());
        row.stepBegin = outcome.begin - zero;
        row.stepEnd = outcome.end - zero;
        std::map<std::uint8_t, std::uint32_t> laneOf;  // streams in use, in their order
        for (const OpTimes& times : outcome.times) laneOf[graph.ops[times.op.index()].stream] = 0;
        for (auto& [stream, lane] : laneOf) {
            lane = static_cast<std::uint32_t>(made.lanes.size());
            const core::Stream& described = graph.streams[stream];
            made.lanes.push_back({row.rank, 1, row.name, made.strings.intern(described.name),
                                  described.kind == core::StreamKind::Compute, static_cast<std::uint32_t>(r)});
        }
        row.laneEnd = static_cast<std::uint32_t>(made.lanes.size());
        made.ranks.push_back(row);
        const auto rankClass = std::ranges::find(graph.classes, place.stage(), &core::RankClass::stage);
        timeline::RankOps& own = ranks.emplace_back();
        own.rank = row.rank;
        own.rankClass = core::ClassId(static_cast<std::size_t>(rankClass - graph.classes.begin()));
        own.span.assign(rankClass->opEnd - rankClass->opBegin, timeline::kNoIndex);
        for (const OpTimes& times : outcome.times) {
            const core::Op& op = graph.ops[times.op.index()];
            timeline::SpanRow span;
            span.lane = laneOf[op.stream];
            span.start = times.start - zero;
            span.transferStart = times.transferStart - zero;
            span.end = times.end - zero;
            span.name = made.strings.intern(core::labelOf(graph, model, times.op));
            if (op.unit.valid()) span.unit = made.strings.intern(graph.units[op.unit.index()].name);
            span.kind = timeline::spanKindOf(op.kind, graph.streams[op.stream].kind);
            span.phase = op.phase;
            span.activity = timeline::activityOf(op.kind);
            span.microBatch = op.microBatch;
            span.op = times.op.value;
            span.bytes = op.bytes.value;
            span.dtype = static_cast<std::uint8_t>(op.dtype);
            if (op.group.valid()) span.group = static_cast<std::uint16_t>(op.group.index());
            own.span[times.op.value - rankClass->opBegin] = timeline::append(made, span);
        }
    }
    timeline::addGraphFlows(graph, ranks, true, made);
    timeline::arrange(made);
    return made;
}

}  // namespace shardscope::runtime
