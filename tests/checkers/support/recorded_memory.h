#pragma once

// Memory of a graph in the words of the recordings: the largest live bytes that schedules.jsonl derives from its
// events, and PyTorch's FSDPMemTracker categories at the phases of every unit.

#include <array>
#include <cstdint>
#include <map>
#include <string>

#include "core/graph/host_memory.h"

namespace shardscope::checkers {

/// `host_order_bytes` of schedules.jsonl (README there): gather buffers, unsharded parameters with kept slices, both
/// together, reduce-scatter inputs, and all of these plus the gradients of the unit whose post-backward runs.
struct HostOrderBytes {
    std::int64_t gatherBuffers = 0, unsharded = 0, gatherPlusUnsharded = 0, reduceInputs = 0, total = 0;
    friend bool operator==(const HostOrderBytes&, const HostOrderBytes&) = default;
};
[[nodiscard]] HostOrderBytes hostOrderBytes(const core::StepGraph& graph, const core::RankClass& rankClass);

/// Live bytes at one moment, a kept slice of an int reshard and reduce-scatter outputs apart.
struct Moment {
    core::CategoryBytes live;
    std::int64_t keptSlices = 0;     ///< part of UnsharedParameters that the tracker books under Activation
    std::int64_t reduceOutputs = 0;  ///< part of ReduceBuffers
    std::int64_t unitGradients = 0;  ///< gradients of the unit at hand
};

/// By phase name ("Before Pre-Forward", "After Post-Backward", ...), the phases of one unit.
using UnitPhases = std::map<std::string, Moment>;

struct StepMoments {
    std::map<std::string, Moment> step;  ///< before_forward, after_forward_and_loss, after_backward, after_optimizer
    std::map<std::string, UnitPhases> units;  ///< by unit name
};
/// `optimizerStateBytes`: of the rank at hand, see HostMemoryCursor.
[[nodiscard]] StepMoments momentsOf(const core::StepGraph& graph, const core::RankClass& rankClass,
                                    std::int64_t optimizerStateBytes);

}  // namespace shardscope::checkers
