#pragma once

// Units of one pipeline stage. core/graph/build.h has the whole model's.

#include <vector>

#include "core/base/result.h"
#include "core/graph/step_graph.h"

namespace shardscope::core {

/// Layers [begin, end) that one class of ranks runs.
struct Stage {
    std::int64_t index = 0, count = 1;
    LayerId begin, end;
    [[nodiscard]] bool first() const { return index == 0; }
    [[nodiscard]] bool last() const { return index + 1 == count; }
};

/// The stages of the plan (framework semantics 4.1); see splitStages.
[[nodiscard]] Result<std::vector<Stage>> stagesOf(const Model& model, const Plan& plan);

/// Whether the layer has a module of its own. One without stands in the root or in a list, whose forward is not the
/// layer's: it cannot be wrapped, and what is in it stays with the module around it.
[[nodiscard]] bool hasModuleToWrap(const Model& model, const Layer& layer);

/// FSDP units of a stage, the root last (framework semantics 1.1, 1.2). Names in the plan are checked against the whole
/// model; units that the stage does not run are left out. A unit without parameters of its own is kept: it wraps, and
/// communicates nothing.
[[nodiscard]] Result<std::vector<Unit>> formStageUnits(const Model& model, const Plan& plan, const Stage& stage);

/// Error: the plan gives a reshard to a unit that is not among those of its stages.
[[nodiscard]] Result<void> checkUnitNames(const Plan& plan, const std::vector<std::vector<Unit>>& units);

/// The units that the plan's policy makes of a stage: those of FSDP, DDP's buckets, or one for all.
[[nodiscard]] Result<std::vector<Unit>> unitsOfStage(const Model& model, const Plan& plan, const Stage& stage);

/// The parameters that the layers of a stage use, as one unit (policy `none`), in the order of framework semantics 1.1.
[[nodiscard]] Unit wholeStageUnit(const Model& model, const Stage& stage);

}  // namespace shardscope::core
