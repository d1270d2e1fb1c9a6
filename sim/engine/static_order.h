#pragma once

// The order in which the clock engine takes the ops of a class: communication first. An op comes right after the last
// compute op that it depends on, so that every transfer that can run beside a compute op stands before it.

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "core/graph/step_graph.h"
#include "sim/engine/wiring.h"

namespace shardscope::sim {

struct StaticOrder {
    static constexpr std::uint32_t kNever = 0xffffffffu;

    struct Step {
        std::uint32_t op = 0;                      ///< position in the class
        std::uint32_t waitBegin = 0, waitEnd = 0;  ///< into `waits`
        std::uint32_t lastUse = kNever;            ///< last step that is no transfer and waits for this one
        std::uint32_t number = 0;  ///< among the steps of its role; copies: the stream's number among theirs
        OpRole role = OpRole::Compute;
        /// The first two waits, where most steps have all; a step without so many names itself.
        std::array<std::uint32_t, 2> firstWaits{};
    };
    std::vector<Step> steps;
    std::vector<std::uint32_t> waits;                ///< steps, all earlier ones
    std::vector<std::uint32_t> compute;              ///< steps of role Compute, in stream order
    std::vector<std::uint32_t> transfer;             ///< steps of role Transfer, in the communicator's order
    std::vector<std::vector<std::uint32_t>> copies;  ///< steps of role Copy by stream, in stream order

    [[nodiscard]] std::span<const std::uint32_t> waitsOf(const Step& step) const {
        return std::span(waits).subspan(step.waitBegin, step.waitEnd - step.waitBegin);
    }
};

/// Of the graph's only class: edges lead forward in issue order, one compute stream, one communicator.
[[nodiscard]] StaticOrder orderOf(const core::StepGraph& graph, const Wiring& wiring);

}  // namespace shardscope::sim
