// One report from what the ranks have to tell.

#include <algorithm>
#include <cassert>

#include "core/plan/sharding.h"
#include "runtime/train/rank_training.h"
#include "runtime/train/step_timeline.h"

namespace shardscope::runtime {

namespace {

/// Whole values from the ranks' own parts: shards lie in rank order along dim 0, or side by side along dim 1. Of stages
/// that hold the same (tied) parameter the first counts.
ParameterValues wholeOf(const Training& training, const std::vector<RankRecord>& records,
                        ParameterValues RankRecord::*part) {
    const core::Plan& plan = training.graph().plan;
    ParameterValues whole(training.model().parameters.size());
    for (std::size_t p = 0; p < whole.size(); ++p) {
        const auto elements = static_cast<std::size_t>(core::elementsOf(training.model().parameters[p].shape));
        for (std::size_t rank = 0; rank < records.size() && whole[p].size() < elements; ++rank) {
            if (plan.policy != core::UnitPolicy::Fsdp && !whole[p].empty()) break;
            const std::vector<float>& own = (records[rank].*part)[p];
            whole[p].insert(whole[p].end(), own.begin(), own.end());
        }
        const core::Parameter& parameter = training.model().parameters[p];
        if (plan.policy != core::UnitPolicy::Fsdp || whole[p].size() < elements ||
            !core::cutOnDim1(plan, parameter.name, parameter.shape))
            continue;
        const auto rows = static_cast<std::size_t>(parameter.shape.front()),
                   shards = static_cast<std::size_t>(plan.mesh.dpShard);
        const std::size_t width = elements / rows / shards;
        std::vector<float> side(elements);
        for (std::size_t s = 0; s < shards; ++s)
            for (std::size_t r = 0; r < rows; ++r)
                std::copy_n(whole[p].begin() + static_cast<std::ptrdiff_t>((s * rows + r) * width), width,
                            side.begin() + static_cast<std::ptrdiff_t>((r * shards + s) * width));
        whole[p] = std::move(side);
    }
    return whole;
}

void reportSteps(const std::vector<RankRecord>& records, std::size_t count, TrainReport& report) {
    std::int64_t before = 0;  // end of the step before
    for (std::size_t step = 0; step < count; ++step) {
        double sum = 0;
        std::size_t losses = 0;
        std::int64_t begin = records[0].outcomes[step].begin, end = records[0].outcomes[step].end;
        for (const RankRecord& record : records) {
            const StepOutcome& outcome = record.outcomes[step];
            for (const double loss : outcome.losses) sum += loss;
            losses += outcome.losses.size();
            begin = std::min(begin, outcome.begin);
            end = std::max(end, outcome.end);
        }
        report.losses.push_back(losses == 0 ? 0 : sum / static_cast<double>(losses));
        if (step > 0) begin = std::clamp(before, begin, end);
        report.stepNs.push_back(end - begin);
        before = end;
    }
}

}  // namespace

TrainReport reportOf(const Training& training, std::vector<RankRecord> records) {
    assert(static_cast<std::int64_t>(records.size()) == training.ranks());
    TrainReport report;
    report.globalBatch = training.globalBatch();
    report.graphHash = training.graph().hash;
    reportSteps(records, static_cast<std::size_t>(training.config().steps), report);
    std::vector<StepOutcome> last;
    for (RankRecord& record : records) {
        report.ranks.push_back(std::move(record.report));
        last.push_back(std::move(record.outcomes.back()));
    }
    report.timeline = timelineOf(training.model(), training.graph(), last);
    report.breakdown = timeline::breakdownOf(report.timeline);
    if (training.config().keepGradients) report.gradients = wholeOf(training, records, &RankRecord::gradients);
    if (training.config().keepParameters) report.parameters = wholeOf(training, records, &RankRecord::parameters);
    return report;
}

}  // namespace shardscope::runtime
