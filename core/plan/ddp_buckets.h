#pragma once

// DistributedDataParallel's buckets: which gradients travel together, and in which order (framework semantics 2; held
// against ddp_buckets.json).

#include <cstdint>
#include <span>
#include <vector>

#include "core/base/dtype.h"
#include "core/base/quantities.h"
#include "core/plan/plan.h"

namespace shardscope::core {

struct DdpGradient {
    Bytes bytes;
    DType dtype = DType::F32;
};

struct DdpBucket {
    std::vector<std::uint32_t> gradients;  ///< in the order in which they lie in the buffer
    Bytes bytes;
    DType dtype = DType::F32;
};

/// The buckets from the start on: one per dtype, or under find_unused_parameters without static_graph, or with a list
/// of caps, as large as the caps say over the order of definition. In the order of their reductions.
[[nodiscard]] std::vector<DdpBucket> initialBuckets(std::span<const DdpGradient> gradients, const DdpKnobs& knobs);

/// The buckets after they were rebuilt in the order in which the gradients came, `arrival`; the initial ones where DDP
/// does not rebuild them (find_unused_parameters without static_graph).
[[nodiscard]] std::vector<DdpBucket> rebuiltBuckets(std::span<const DdpGradient> gradients, const DdpKnobs& knobs,
                                                    std::span<const std::uint32_t> arrival);

/// The last synchronised iteration, counted from 1, that still has the initial buckets; 0: there is none that has
/// others.
[[nodiscard]] std::int64_t lastIterationOfInitialBuckets(const DdpKnobs& knobs);

}  // namespace shardscope::core
