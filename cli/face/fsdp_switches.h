#pragma once

#include <string>

#include "core/model/model.h"
#include "core/plan/plan.h"

namespace shardscope::cli {

/// The calls of PyTorch that set a plan's switches apart from their defaults (framework semantics 1.10, 1.11, 1.19):
/// lines to follow the fully_shard calls. Empty where there are none.
[[nodiscard]] std::string switchCalls(const core::Plan& plan);

/// The calls that freeze parameters and checkpoint the model's blocks, to stand before its wrapping. Empty where there
/// is nothing of that.
[[nodiscard]] std::string checkpointCalls(const core::Model& model, const core::Plan& plan);

}  // namespace shardscope::cli
