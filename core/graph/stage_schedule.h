#pragma once

// Stage schedules: in which order a stage runs the forward and backward passes of its micro-batches, and what passes
// between stages. Each schedule is one row of the table in stage_schedule.cpp.

#include <vector>

#include "core/base/result.h"
#include "core/graph/unit_rules.h"

namespace shardscope::core {

/// What connects the stages of one graph.
struct StageLinks {
    std::vector<GroupId> next;  ///< by stage: the pair with the following one
    struct Tied {
        std::int64_t firstStage = 0, secondStage = 0;
        std::vector<ParameterId> parameters;
        GroupId group;
    };
    std::vector<Tied> tied;     ///< weights that lie on two stages
    std::vector<GroupId> norm;  ///< clipping: the pairs of the first stage with each of the others
    std::uint8_t stream = 0;    ///< point-to-point
};

/// Errors: a number of stages that the schedule does not know.
[[nodiscard]] Result<void> checkSchedule(const Plan& plan);

/// Adds the links between the stages, of which `units` are the units stage by stage.
/// Errors: a weight on more than two stages.
[[nodiscard]] Result<StageLinks> makeLinks(GraphBuilder& builder, const Model& model, const Plan& plan,
                                           const std::vector<std::vector<Unit>>& units);

/// The whole step of one stage.
void runStage(ClassContext& context, UnitRules& rules, const StageLinks& links);

}  // namespace shardscope::core
