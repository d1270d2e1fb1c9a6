#pragma once

// The general engine: discrete events in integer nanoseconds over any number of classes and instances.
//
// An op starts when it heads its stream, the ops that it waits for have ended and the host has issued it. For a
// collective, a send or a receive that instant is its *arrival*; its *transfer* starts when its last member has arrived
// and the previous transfer of the same communicator has ended at every member, and it ends for all members at once.
//
// Two levels of contention. Compute progresses at slowDen / slowNum of its speed while a transfer of its own rank is
// under way; it ends at the first whole nanosecond at which its work is done. A transfer progresses at 1/k, where k is
// the largest number of transfers under way on one of its links at one of its members, itself included; it ends at the
// first whole nanosecond at which it is done. Both are exact, so that no order of simultaneous events can change a
// result.

#include <cstdint>
#include <span>
#include <vector>

#include "core/base/result.h"
#include "core/graph/step_graph.h"
#include "sim/engine/clocks.h"
#include "sim/engine/op_instants.h"
#include "sim/engine/wiring.h"
#include "sim/price/prices.h"

namespace shardscope::sim {

struct EventRun {
    std::vector<std::size_t>
        firstOp;  ///< by instance: where the first op of its class lies in `times`; one more at the end
    OpInstants times;
    std::int64_t end = 0;  ///< end of the last op of all instances

    /// Times of one instance, indexed by op id minus its class's opBegin.
    [[nodiscard]] OpInstants timesOf(std::size_t instance) const;
};

/// A run of which nothing is known but where the ops of each instance lie. Errors: clocks or prices that do not fit.
[[nodiscard]] core::Result<EventRun> emptyRun(const core::StepGraph& graph, const Prices& prices,
                                              std::span<const Instance> instances);

/// Runs the graph. The instances of each class are either one for the whole class or one for every rank of it; classes
/// that meet in a transfer are simulated alike. Errors: prices that do not fit, members of a transfer that are not
/// simulated, a step that cannot finish (ops that wait for each other; the message names the first), more than 40
/// transfers at once on a link of one rank.
[[nodiscard]] core::Result<EventRun> runEvents(const core::StepGraph& graph, const Wiring& wiring, const Prices& prices,
                                               std::span<const Instance> instances);

}  // namespace shardscope::sim
