#pragma once

// From model and plan to a frozen StepGraph.

#include "core/base/result.h"
#include "core/base/work.h"
#include "core/graph/step_graph.h"

namespace shardscope::core {

/// Builds, checks (acyclic; every group's members issue the same collectives in the same order; every allocation is
/// released once; every op's operands exist) and freezes the graph of one step.
/// Errors: more stages than layers, a wrap list that names unknown or overlapping modules, a tied parameter split
/// between two units, a group size that does not divide the shard degree, a degree below one, more ops (estimated
/// before anything is built) than are simulated in about two seconds; Cancelled, asked of `work` before every class.
[[nodiscard]] Result<StepGraph> buildStepGraph(const Model& model, const Plan& plan, const Work& work = {});

/// Units that `plan` makes of `model`, inner ones before outer ones, the root last (framework semantics 1.1).
[[nodiscard]] Result<std::vector<Unit>> formUnits(const Model& model, const Plan& plan);

/// Layers [begin, end) of each of `stages` stages; every stage has at least one layer and the loss stays with the last.
[[nodiscard]] Result<std::vector<std::pair<LayerId, LayerId>>> splitStages(const Model& model, const Plan& plan);

}  // namespace shardscope::core
