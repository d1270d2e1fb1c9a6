#pragma once

// Autograd lets go of what a node has read, and of its temporaries, when the whole node has run.

#include <cstdint>
#include <vector>

#include "core/model/kernel.h"

namespace shardscope::core {

/// First kernel of the node whose last one is kernel `k` of a backward list; `k` itself where the node goes on behind
/// it. Forward kernels are nodes of their own.
[[nodiscard]] inline std::uint32_t beginOfNodeEndingAt(const std::vector<Kernel>& kernels, std::uint32_t k) {
    const std::uint32_t node = kernels[k].node;
    if (node == 0 || (k + 1 < kernels.size() && kernels[k + 1].node == node)) return k;
    while (k > 0 && kernels[k - 1].node == node) --k;
    return k;
}

}  // namespace shardscope::core
