#pragma once

// clip_grad_norm_ before the optimizer (framework semantics 1.16): the norm of the own gradients, one sum over the
// ranks that hold the other shards, the way over the stages, and a multiplication that always happens.

#include "core/graph/stage_schedule.h"
#include "core/graph/unit_rules.h"

namespace shardscope::core {

void clipGradients(ClassContext& context, UnitRules& rules, const StageLinks& links);

}  // namespace shardscope::core
