#include "sim/run/breakdown_of_run.h"

namespace shardscope::sim {

namespace {

timeline::SpanKind kindOf(OpRole role, core::StreamKind stream) {
    if (stream == core::StreamKind::Host) return timeline::SpanKind::Host;
    switch (role) {
        case OpRole::Compute: return timeline::SpanKind::Compute;
        case OpRole::Transfer: return timeline::SpanKind::Collective;
        default: return timeline::SpanKind::Copy;
    }
}

}  // namespace

std::vector<timeline::Breakdown> breakdownOfRun(const core::StepGraph& graph, const Wiring& wiring,
                                                std::span<const Instance> instances, const EventRun& run) {
    std::vector<timeline::Breakdown> all;
    all.reserve(instances.size());
    std::vector<std::vector<std::uint32_t>> byStream(graph.streams.size());
    for (std::size_t i = 0; i < instances.size(); ++i) {
        const core::RankClass& rankClass = graph.classes[instances[i].rankClass.index()];
        for (auto& ops : byStream) ops.clear();
        for (std::uint32_t op = rankClass.opBegin; op < rankClass.opEnd; ++op)
            byStream[graph.ops[op].stream].push_back(op);
        timeline::Timeline one;
        timeline::RankRow row;
        row.laneEnd = static_cast<std::uint32_t>(graph.streams.size());
        row.stepEnd = run.end;
        one.ranks.push_back(row);
        for (std::uint32_t stream = 0; stream < graph.streams.size(); ++stream) {
            timeline::Lane lane;
            lane.computeStream = graph.streams[stream].kind == core::StreamKind::Compute;
            one.lanes.push_back(lane);
            for (const std::uint32_t op : byStream[stream]) {
                const std::size_t slot = run.firstOp[i] + op - rankClass.opBegin;
                one.spans.lane.push_back(stream);
                one.spans.start.push_back(run.times.start[slot]);
                one.spans.end.push_back(run.times.end[slot]);
                one.spans.transferStart.push_back(run.times.transferStart[slot]);
                one.spans.kind.push_back(
                    static_cast<std::uint8_t>(kindOf(wiring.role[op], graph.streams[stream].kind)));
            }
        }
        all.push_back(timeline::breakdownOf(one).front());
    }
    return all;
}

}  // namespace shardscope::sim
