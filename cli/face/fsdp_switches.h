#pragma once

#include <string>

#include "core/graph/step_graph.h"

namespace shardscope::cli {

/// Arguments of fully_shard beside mesh, precision and reshard, each with ", " before it.
[[nodiscard]] std::string policyArguments(const core::Plan& plan);
/// The function that says which parameters are cut along dim 1; empty without such.
[[nodiscard]] std::string placementFunction(const core::Plan& plan);
/// The function that says which parameters stay in the original dtype; empty without such.
[[nodiscard]] std::string overrideFunction(const core::Plan& plan);
/// FSDP1 in place of fully_shard (framework semantics 1.18).
[[nodiscard]] std::string fsdp1Calls(const core::Model& model, const core::StepGraph& graph);
/// What the step does other than forward, backward and optimizer; empty for a plain one.
[[nodiscard]] std::string stepCalls(const core::Plan& plan);
/// The calls of PyTorch that set a plan's switches apart from their defaults (framework semantics 1.10, 1.11, 1.19):
/// lines to follow the fully_shard calls. Empty where there are none.
[[nodiscard]] std::string switchCalls(const core::Plan& plan);

/// The calls that freeze parameters and checkpoint the model's blocks, to stand before its wrapping. Empty where there
/// is nothing of that.
[[nodiscard]] std::string checkpointCalls(const core::Model& model, const core::Plan& plan);

}  // namespace shardscope::cli
