#include "runtime/train/step_times.h"

#include <algorithm>
#include <cmath>

#include "core/base/median.h"

namespace shardscope::runtime {

StepTimes stepTimesOf(const core::StepGraph& graph, const StepOutcome& outcome) {
    timeline::Timeline one;
    timeline::RankRow row;
    row.laneEnd = static_cast<std::uint32_t>(graph.streams.size());
    row.stepBegin = outcome.begin;
    row.stepEnd = outcome.end;
    one.ranks.push_back(row);
    for (const core::Stream& stream : graph.streams) {
        timeline::Lane lane;
        lane.computeStream = stream.kind == core::StreamKind::Compute;
        one.lanes.push_back(lane);
    }
    // In order of issue, which is the order of each stream.
    std::vector<const OpTimes*> byStream;
    byStream.reserve(outcome.times.size());
    for (const OpTimes& times : outcome.times) byStream.push_back(&times);
    std::stable_sort(byStream.begin(), byStream.end(), [&](const OpTimes* a, const OpTimes* b) {
        return graph.ops[a->op.index()].stream < graph.ops[b->op.index()].stream;
    });
    timeline::Spans& spans = one.spans;
    for (const OpTimes* times : byStream) {
        const core::Op& op = graph.ops[times->op.index()];
        spans.lane.push_back(op.stream);
        spans.start.push_back(times->start);
        spans.end.push_back(times->end);
        spans.transferStart.push_back(times->transferStart);
        spans.kind.push_back(static_cast<std::uint8_t>(timeline::spanKindOf(op.kind, graph.streams[op.stream].kind)));
        spans.phase.push_back(static_cast<std::uint8_t>(op.phase));
        spans.activity.push_back(static_cast<std::uint8_t>(timeline::activityOf(op.kind)));
    }
    return {timeline::breakdownOf(one).front(), timeline::activityTimesOf(one).front()};
}

StepTimes medianTimes(const std::vector<StepTimes>& steps) {
    const std::size_t first = steps.size() > kWarmUpSteps ? kWarmUpSteps : 0;
    const auto median = [&](auto figure) {
        std::vector<double> values;
        for (std::size_t s = first; s < steps.size(); ++s) values.push_back(static_cast<double>(figure(steps[s])));
        return std::llround(core::medianOf(std::move(values)));
    };
    StepTimes typical;
    for (const auto member : timeline::kBreakdownTimes)
        typical.breakdown.*member = median([&](const StepTimes& step) { return step.breakdown.*member; });
    for (std::size_t a = 0; a < typical.activities.size(); ++a)
        typical.activities[a] = median([&](const StepTimes& step) { return step.activities[a]; });
    return typical;
}

}  // namespace shardscope::runtime
