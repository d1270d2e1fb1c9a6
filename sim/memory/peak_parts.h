#pragma once

// What a moment's memory consists of: which tensors of which units and layers are alive.

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "core/graph/step_graph.h"
#include "core/model/model.h"

namespace shardscope::sim {

/// One line of a peak's explanation: the same tensors of one unit or layer, or of several that are alike.
struct MemoryPart {
    core::MemoryCategory category = core::MemoryCategory::Activations;
    std::string tensors;     ///< "self_attention: q k v, attention, clone"; "all-gather output"; "mlp.3: weight, bias"
    std::string owner;       ///< unit or layer; several are named by the first and the last: "blocks.0 .. 9"
    std::int64_t count = 1;  ///< owners, each with an equal share of `bytes`
    core::Bytes bytes;       ///< of all owners together
};

/// `live` says for the blocks of the graph, from `first` on, whether each is there (blocks of other classes must not
/// be), `bytes` what it counts for. Largest part first; the sum of the parts is that of the live blocks.
[[nodiscard]] std::vector<MemoryPart> partsOf(const core::StepGraph& graph, const core::Model& model,
                                              std::span<const std::uint8_t> live, std::span<const std::int64_t> bytes,
                                              std::size_t first = 0);

}  // namespace shardscope::sim
