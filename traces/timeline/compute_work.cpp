#include "traces/timeline/compute_work.h"

#include "traces/timeline/breakdown.h"

namespace shardscope::timeline {

namespace {

constexpr std::int64_t ComputeWork::*kParts[] = {
    &ComputeWork::forward, &ComputeWork::backward,  &ComputeWork::recompute, &ComputeWork::accumulation,
    &ComputeWork::copies,  &ComputeWork::optimizer, &ComputeWork::other};

std::int64_t ComputeWork::*partOf(Activity activity, core::Phase phase) {
    switch (activity) {
        case Activity::Kernels:
            if (phase == core::Phase::Forward || phase == core::Phase::Loss) return &ComputeWork::forward;
            if (phase == core::Phase::Backward) return &ComputeWork::backward;
            if (phase == core::Phase::Recompute) return &ComputeWork::recompute;
            return phase == core::Phase::Optimizer ? &ComputeWork::optimizer : &ComputeWork::other;
        case Activity::AddGradient: return &ComputeWork::accumulation;
        case Activity::OptimizerStep: return &ComputeWork::optimizer;
        default: return isCopy(activity) ? &ComputeWork::copies : &ComputeWork::other;
    }
}

}  // namespace

std::vector<ComputeWork> computeWorkOf(const Timeline& timeline) {
    const std::vector<SpanRange> lanes = spansOfLanes(timeline);
    const Spans& spans = timeline.spans;
    std::vector<ComputeWork> all(timeline.ranks.size());
    for (std::uint32_t rank = 0; rank < timeline.ranks.size(); ++rank)
        for (const Segment& segment : segmentsOf(timeline, rank, lanes))
            if (segment.state == State::Compute)
                all[rank].*partOf(static_cast<Activity>(spans.activity[segment.span]),
                                  static_cast<core::Phase>(spans.phase[segment.span])) += segment.end - segment.begin;
    return all;
}

ComputeWork sumOver(const Timeline& timeline, const std::vector<ComputeWork>& ranks) {
    ComputeWork sum;
    for (std::size_t r = 0; r < ranks.size(); ++r)
        for (const auto part : kParts) sum.*part += timeline.ranks[r].multiplicity * ranks[r].*part;
    return sum;
}

}  // namespace shardscope::timeline
