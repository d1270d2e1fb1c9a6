#pragma once

// What the compute time of a step is spent on. On every rank the parts sum up to Breakdown::compute, to the nanosecond:
// each instant counts for the span that segmentsOf names for it.

#include <cstdint>
#include <vector>

#include "traces/timeline/timeline.h"

namespace shardscope::timeline {

/// All in nanoseconds.
struct ComputeWork {
    std::int64_t forward = 0;       ///< the model's kernels, the loss included
    std::int64_t backward = 0;      ///< the model's kernels
    std::int64_t recompute = 0;     ///< forward kernels that run again in backward (activation checkpointing)
    std::int64_t accumulation = 0;  ///< gradients added to those of earlier micro-batches or of a tied weight
    std::int64_t copies = 0;        ///< casts, and packing, unpacking and scaling for transfers, on the compute stream
    std::int64_t optimizer = 0;
    std::int64_t other = 0;  ///< what a foreign trace names differently

    [[nodiscard]] std::int64_t total() const {
        return forward + backward + recompute + accumulation + copies + optimizer + other;
    }
    friend bool operator==(const ComputeWork&, const ComputeWork&) = default;
};

/// One per Timeline::ranks.
[[nodiscard]] std::vector<ComputeWork> computeWorkOf(const Timeline& timeline);

/// Sums over ranks, each counted `multiplicity` times.
[[nodiscard]] ComputeWork sumOver(const Timeline& timeline, const std::vector<ComputeWork>& ranks);

}  // namespace shardscope::timeline
