#pragma once

// What torch.compile makes of a run of kernels: neighbours that only move bytes become one kernel, which reads what
// comes from outside once and writes what something outside needs once. Products, attention, look-ups and sums over
// rows stay apart, each of them ends a chain.

#include <cstdint>
#include <vector>

#include "core/model/program.h"

namespace shardscope::sim {

/// Kernels [first, first + count) of the list; one alone is what it was.
struct FusedKernel {
    std::uint32_t first = 0, count = 1;
    double traffic = 0;  ///< bytes read and written; of several only
};

/// Of the kernels [first, first + count) of the program's forward or backward list, in order.
[[nodiscard]] std::vector<FusedKernel> fuseMemoryBound(const core::Program& program, bool backward, std::uint32_t first,
                                                       std::uint32_t count);

}  // namespace shardscope::sim
