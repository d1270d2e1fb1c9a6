#pragma once

// Reads a stack out of tensor names: what repeats with a running number ("model.layers.7.", "transformer.h.7.",
// "encoder.layers.encoder_layer_7.") are its blocks; the rest comes before or after them.

#include <cstddef>
#include <string>
#include <vector>

#include "core/model/spec.h"

namespace shardscope::core {

struct ShapesBlock {
    std::string module;                ///< "model.layers.7"
    std::vector<std::size_t> entries;  ///< indices into ShapesSpec::entries, in their order
};

struct ShapesGroups {
    std::vector<std::size_t> before;   ///< embeddings and what else is not after
    std::vector<ShapesBlock> blocks;   ///< by number; of several stacks, an encoder's first
    std::vector<std::size_t> after;    ///< final norms and heads
    std::vector<std::size_t> buffers;  ///< integers, masks, frequency tables, empty tensors: no parameters
    std::size_t stacks = 0;            ///< how many prefixes have blocks
};

[[nodiscard]] ShapesGroups groupByBlocks(const ShapesSpec& spec);

/// True for names of tables that are looked up, not multiplied with ("embed_tokens", "wte", "wpe").
[[nodiscard]] bool looksUp(const std::string& name);

}  // namespace shardscope::core
