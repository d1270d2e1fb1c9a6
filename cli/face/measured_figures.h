#pragma once

// The figures of a run that was measured, as those of its prediction are called.

#include <vector>

#include "cli/face/prediction.h"
#include "runtime/train/train.h"

namespace shardscope::cli {

/// The step is the median, where there are more than two without the first two, which make kernels and touch memory for
/// the first time; all else is of the last step.
[[nodiscard]] std::vector<RunFigure> figuresOf(const runtime::TrainReport& measured);

}  // namespace shardscope::cli
