#include "cli/face/measured_figures.h"

#include <algorithm>

#include "core/base/median.h"
#include "runtime/train/step_times.h"

namespace shardscope::cli {

namespace {

double medianStep(std::vector<std::int64_t> steps) {
    if (steps.size() > runtime::kWarmUpSteps) steps.erase(steps.begin(), steps.begin() + runtime::kWarmUpSteps);
    return core::medianOf({steps.begin(), steps.end()});
}

}  // namespace

std::vector<RunFigure> figuresOf(const runtime::TrainReport& measured) {
    MeanTimes mean;
    std::int64_t peak = 0;
    for (const runtime::RankReport& rank : measured.ranks) {
        mean.add(rank.typical.breakdown, rank.typical.activities);
        peak = std::max(peak, rank.peakTotal);
    }
    return runFigures(medianStep(measured.stepNs), mean, peak);
}

}  // namespace shardscope::cli
