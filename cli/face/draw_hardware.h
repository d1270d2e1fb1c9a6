#pragma once

// Hardware as lines of text: what is linked to what, with the rate of each link per direction.

#include <string>
#include <vector>

#include "core/cluster/cluster.h"

namespace shardscope::cli {

/// GPUs, the link between them, PCIe, NICs and the network; at most 8 GPUs and 8 NICs one by one.
[[nodiscard]] std::vector<std::string> drawNode(const core::Node& node, const core::Gpu& gpu);
/// Processors, memory and what leads out of it.
[[nodiscard]] std::vector<std::string> drawGpu(const core::Gpu& gpu, const core::Node& node);

}  // namespace shardscope::cli
