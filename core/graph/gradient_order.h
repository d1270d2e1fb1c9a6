#pragma once

// When the backward pass of a stage has a parameter's gradient whole.

#include <cstdint>
#include <vector>

#include "core/graph/form_units.h"
#include "core/model/model.h"

namespace shardscope::core {

/// The last backward kernel that adds to a parameter's gradient. Weights that several layers use have it with the one
/// that runs forward first. `layer` is invalid where no kernel of the stage makes one.
struct GradientMaker {
    LayerId layer;
    std::uint32_t kernel = 0;  ///< in Program::backward
};

/// By parameter, for layers [begin, end).
[[nodiscard]] std::vector<GradientMaker> gradientMakers(const Model& model, LayerId begin, LayerId end);

/// The stage's parameters in the order in which autograd accumulates their gradients: that of their makers, except that
/// a linear layer's bias comes before its weight, whose gradient takes one node more (recorded in ddp_buckets.json).
/// Those without a maker come last, in reverse order of definition.
[[nodiscard]] std::vector<ParameterId> gradientOrder(const Model& model, const Stage& stage);

/// DDP's buckets of a stage as units, in the order of their reductions; on the first step the initial ones.
[[nodiscard]] std::vector<Unit> bucketUnits(const Model& model, const Plan& plan, const Stage& stage);

}  // namespace shardscope::core
