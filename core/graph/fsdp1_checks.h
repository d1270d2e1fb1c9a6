#pragma once

// What FSDP1 does not have, refuses, or is not simulated with.

#include <vector>

#include "core/base/result.h"
#include "core/graph/step_graph.h"
#include "core/graph/unit_rules.h"

namespace shardscope::core {

/// Settings of FSDP2 alone, offload, stages, a single shard.
[[nodiscard]] Result<void> checkFsdp1(const Plan& plan);
/// Units of several modules; units of which a part is frozen, which FSDP1 refuses too.
[[nodiscard]] Result<void> checkFsdp1Units(const std::vector<Unit>& units);
/// Units inside a checkpointed block, whose hooks would run again.
[[nodiscard]] Result<void> checkFsdp1Recompute(const ClassContext& context);

}  // namespace shardscope::core
