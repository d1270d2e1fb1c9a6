#pragma once

// The figures of a run that was measured, as those of its prediction are called.

#include <vector>

#include "cli/face/prediction.h"
#include "runtime/train/train.h"

namespace shardscope::cli {

/// Times are medians over the steps, where there are more than two without the first two, which make kernels and touch
/// memory for the first time.
[[nodiscard]] std::vector<RunFigure> figuresOf(const runtime::TrainReport& measured);

}  // namespace shardscope::cli
