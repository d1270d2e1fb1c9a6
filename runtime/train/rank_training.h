#pragma once

// What one rank of a training does, and what it has to tell afterwards.

#include <vector>

#include "core/base/result.h"
#include "runtime/executor/executor.h"
#include "runtime/train/train.h"
#include "runtime/train/training.h"

namespace shardscope::runtime {

struct RankRecord {
    RankReport report;
    std::vector<StepOutcome> outcomes;      ///< by step; op times of the last one only
    ParameterValues gradients, parameters;  ///< own parts, by ParameterId; empty unless asked for
};

/// Trains as `rank`; TrainConfig's callbacks are called from this thread.
[[nodiscard]] core::Result<RankRecord> trainRank(const Training& training, std::int64_t rank,
                                                 const Executor::CommunicatorSource& communicators);

/// Puts together what all ranks (in order) have to tell. Their instants must be of one clock.
[[nodiscard]] TrainReport reportOf(const Training& training, std::vector<RankRecord> records);

}  // namespace shardscope::runtime
