#pragma once

// About how long a run takes, which decides what it does by itself and what is refused.

#include <cstdint>
#include <string>

#include "core/base/result.h"
#include "core/model/model.h"
#include "runtime/train/train.h"

namespace shardscope::cli {

/// Steps of one pass over the images; 0: the plan is none that passes over images, or that would take more than ten
/// minutes.
[[nodiscard]] std::int64_t stepsOfPass(const core::Model& model, const runtime::TrainConfig& config,
                                       std::int64_t images);

/// Errors: more than an hour of kernels, or of transfers over an artificial link.
[[nodiscard]] core::Result<void> checkWork(const core::Model& model, const runtime::TrainConfig& config,
                                           const std::string& source);

}  // namespace shardscope::cli
