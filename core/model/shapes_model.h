#pragma once

// A model of which only the shapes of its weights are known. Every 2-D weight is one GEMM over all rows (batch x
// sequence) with its two products in backward; tables that are looked up are none; attention, norms and activations are
// not there, and the model's caveats say so.
//
// Layers: "embedding" (what comes before the blocks, if anything does), a layer a block, "head" (what comes after),
// "loss". Layers hand on [rows, width], where the width is that of the embedding, or else the commonest size of a 1-D
// weight.

#include "core/base/result.h"
#include "core/model/spec.h"

namespace shardscope::core {

/// Errors: no weights, names that are no dotted names or are there twice, sizes beyond 2^62 bytes or FLOPs.
[[nodiscard]] Result<Model> buildFromShapes(const ShapesSpec& spec, const Workload& workload);

}  // namespace shardscope::core
