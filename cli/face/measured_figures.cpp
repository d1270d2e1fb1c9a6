#include "cli/face/measured_figures.h"

#include <algorithm>

#include "core/base/median.h"

namespace shardscope::cli {

namespace {

constexpr std::size_t kUnmeasuredSteps = 2;

double medianStep(std::vector<std::int64_t> steps) {
    if (steps.size() > kUnmeasuredSteps) steps.erase(steps.begin(), steps.begin() + kUnmeasuredSteps);
    return core::medianOf({steps.begin(), steps.end()});
}

}  // namespace

std::vector<RunFigure> figuresOf(const runtime::TrainReport& measured) {
    std::int64_t peak = 0;
    for (const runtime::RankReport& rank : measured.ranks) peak = std::max(peak, rank.peakTotal);
    return runFigures(medianStep(measured.stepNs), measured.timeline, measured.breakdown, peak);
}

}  // namespace shardscope::cli
