#pragma once

// Parameters that FSDP2 gathers and uses in the original dtype although the plan has a param dtype:
// MixedPrecisionPolicy's param_dtype_override_fn (framework semantics 1.14, 1.19).

#include "core/base/result.h"
#include "core/graph/step_graph.h"

namespace shardscope::core {

/// Error: a name that is neither a module, a parameter nor a module's type.
[[nodiscard]] Result<void> checkOriginalDtype(const Model& model, const Plan& plan);

/// Fills in Unit::inOriginalDtype and what follows from it; nothing where the plan casts nothing.
void markOriginalDtype(const Model& model, const Plan& plan, Unit& unit);

}  // namespace shardscope::core
