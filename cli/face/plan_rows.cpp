#include "cli/face/plan_rows.h"

#include <utility>

namespace shardscope::cli {
namespace {

using timeline::Activity;
using timeline::Timeline;

std::int64_t shareOnWire(std::int64_t bytes, std::int64_t ranks) {
    return ranks > 1 ? bytes - bytes / ranks : 0;
}

TransferCounts countTransfers(const Timeline& t, const timeline::RankRow& rank,
                              const std::vector<timeline::SpanRange>& lanes) {
    TransferCounts counts;
    for (std::uint32_t lane = rank.laneBegin; lane < rank.laneEnd; ++lane) {
        for (std::uint32_t s = lanes[lane].begin; s < lanes[lane].end; ++s) {
            const std::int64_t bytes = t.spans.bytes[s];
            const std::uint32_t group = t.spans.group[s];
            const std::int64_t size = group == timeline::kNoGroup ? 1 : t.groups[group].size;
            switch (static_cast<Activity>(t.spans.activity[s])) {
                case Activity::AllGather:
                    ++counts.allGathers;
                    counts.gatherBytes += shareOnWire(bytes, size);
                    break;
                case Activity::ReduceScatter:
                    ++counts.reduceScatters;
                    counts.reduceBytes += shareOnWire(bytes, size);
                    break;
                case Activity::AllReduce:
                    ++counts.allReduces;
                    counts.allReduceBytes += 2 * shareOnWire(bytes, size);
                    break;
                case Activity::Send:
                    ++counts.sends;
                    counts.sendBytes += bytes;
                    break;
                case Activity::Receive: ++counts.receives; break;
                default: break;
            }
        }
    }
    return counts;
}

}  // namespace

core::Result<void> describeRows(PlanReport& plan, std::vector<MemoryVerdict> memory, std::int64_t globalBatch,
                                const core::Work& work) {
    const std::vector<timeline::Breakdown> times = timeline::breakdownOf(plan.timeline);
    const std::vector<timeline::ComputeWork> compute = timeline::computeWorkOf(plan.timeline);
    const std::vector<timeline::SpanRange> lanes = timeline::spansOfLanes(plan.timeline);
    const timeline::CauseFinder finder(plan.timeline);
    std::vector<std::vector<timeline::CauseTotal>> causes;
    for (std::uint32_t row = 0; row < plan.timeline.ranks.size(); ++row) {
        SHARDSCOPE_TRY(work.goOn());
        const timeline::RankRow& rank = plan.timeline.ranks[row];
        causes.push_back(finder.totalsOf(row));
        plan.classes.push_back({plan.timeline.strings[rank.name], rank.rank, rank.multiplicity, times[row],
                                compute[row], causes[row], countTransfers(plan.timeline, rank, lanes),
                                std::move(memory[row])});
    }
    plan.allRanks = timeline::sumOver(plan.timeline, times);
    plan.allRanksWork = timeline::sumOver(plan.timeline, compute);
    plan.causes = timeline::sumOver(plan.timeline, causes);
    if (const double seconds = static_cast<double>(plan.stepNs) * 1e-9; seconds > 0) {
        plan.samplesPerSecond = static_cast<double>(globalBatch) / seconds;
        if (plan.model) plan.tokensPerSecond = plan.samplesPerSecond * static_cast<double>(plan.model->tokensPerSample);
    }
    return {};
}

}  // namespace shardscope::cli
