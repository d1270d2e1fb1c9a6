#pragma once

// What the engines read off a frozen graph, once: for every op its role, what its arrival waits for, and its neighbours
// in the queue of its communicator.

#include <cstdint>
#include <span>
#include <vector>

#include "core/base/result.h"
#include "core/graph/graph_checks.h"
#include "core/graph/step_graph.h"

namespace shardscope::sim {

inline constexpr std::uint32_t kNoOp = 0xffffffffu;

enum class OpRole : std::uint8_t {
    Compute,   ///< on a stream of kind Compute: slows down beside a transfer of its rank
    Transfer,  ///< collective, send or receive: arrives, waits for its other members, transfers
    Copy,      ///< on any other stream
};

using core::isTransfer;

/// Compressed lists by op id; all ids are StepGraph's. An op waits for its predecessor on its stream and for the
/// sources of its edges; edges of reason Communicator are left out, since they hold the transfer back and not the
/// arrival. Sources on one stream are reduced to the latest of them.
struct Wiring {
    std::vector<OpRole> role;
    std::vector<std::uint32_t> waitBegin, waits;         ///< ops that must have ended before the op may start
    std::vector<std::uint32_t> nextBegin, next;          ///< the same, reversed
    std::vector<std::uint32_t> queueBefore, queueAfter;  ///< neighbours in the communicator's queue, kNoOp at its ends

    [[nodiscard]] std::span<const std::uint32_t> waitsOf(std::uint32_t op) const {
        return std::span(waits).subspan(waitBegin[op], waitBegin[op + 1] - waitBegin[op]);
    }
    [[nodiscard]] std::span<const std::uint32_t> nextOf(std::uint32_t op) const {
        return std::span(next).subspan(nextBegin[op], nextBegin[op + 1] - nextBegin[op]);
    }
};

/// Errors: an edge that joins ops of different classes, a stream or group index outside the graph's tables, a transfer
/// without a group.
[[nodiscard]] core::Result<Wiring> wire(const core::StepGraph& graph);

}  // namespace shardscope::sim
