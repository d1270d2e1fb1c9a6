#pragma once

// Clocks of a run: when each simulated rank begins and how fast it computes. A rank that stands for others with the
// same clock is counted with its multiplicity.

#include <cstdint>
#include <span>
#include <vector>

#include "core/base/ids.h"
#include "core/base/result.h"
#include "core/graph/step_graph.h"
#include "sim/price/prices.h"

namespace shardscope::sim {

/// Speeds are integers: time of a rank's compute in millionths of the priced one. 1,100,000 computes a tenth longer.
inline constexpr std::int64_t kNominalPpm = 1'000'000;

/// One rank, or all ranks of a class together.
struct Instance {
    core::ClassId rankClass;
    std::int64_t coordinate = 0;    ///< rank number inside its class, 0 .. multiplicity of the class - 1
    std::int64_t multiplicity = 1;  ///< ranks that it stands for: 1, or the whole class
    std::int64_t offset = 0;        ///< ns from the step's start before which nothing of this rank is issued
    std::int64_t computePpm = kNominalPpm;
};

/// Work of a priced compute op on a rank of that speed, rounded up to whole nanoseconds.
[[nodiscard]] constexpr std::int64_t workAt(std::int64_t duration, std::int64_t computePpm) {
    if (computePpm == kNominalPpm) return duration;
    return (duration * computePpm + kNominalPpm - 1) / kNominalPpm;
}

/// Clocks of all ranks of one class, as columns. Empty vectors: zero offsets, nominal speeds.
struct Clocks {
    std::int64_t ranks = 1;                    ///< 1: one rank that stands for the whole class
    std::span<const std::int64_t> offset;      ///< ns, by rank
    std::span<const std::int64_t> computePpm;  ///< by rank, see Instance
};

/// One instance per class, each for its whole class.
[[nodiscard]] std::vector<Instance> foldedInstances(const core::StepGraph& graph);
/// Every rank of every class, class by class; offsets zero, nominal speed.
[[nodiscard]] std::vector<Instance> allInstances(const core::StepGraph& graph);

/// That the prices fit the graph and that no clock of these instances can leave 62 bits. Errors say which value is off.
[[nodiscard]] core::Result<void> checkClocks(const core::StepGraph& graph, const Prices& prices,
                                             std::int64_t largestOffset, std::int64_t largestPpm);

}  // namespace shardscope::sim
