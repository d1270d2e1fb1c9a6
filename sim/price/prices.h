#pragma once

// What the ops of a graph cost: one table beside the frozen graph. Whoever fills it (sim/price/price_graph.h, a test, a
// replay of given durations), the engine only reads it.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/base/quantities.h"

namespace shardscope::sim {

/// What a transfer takes of the cores of the machine on which all ranks run. Nanoseconds.
struct TransferLoad {
    double busy = 0;       ///< it lasts that long while every rank computes; with nothing beside it, its duration
    double processor = 0;  ///< processor time on each of its ranks
    double atLeast = 0;    ///< it lasts that long whatever the cores do
};

/// The cores of one machine on which all ranks run (sim/engine/core_engine.h). Nanoseconds.
struct SharedCores {
    double cores = 1;
    double ranks = 1;                     ///< that compute where `busy` and `wakeBusy` hold
    std::vector<TransferLoad> transfers;  ///< by op
    double wake = 0;                      ///< until a thread that slept goes on, on a free core
    double wakeBusy = 0;                  ///< the same while every rank computes
    double finish = 0;                    ///< between the end of the last op and that of the step
};

/// Integer nanoseconds by op, in the order of StepGraph::ops.
struct Prices {
    /// Device time with nothing beside it; for collectives and point-to-point the transfer alone.
    std::vector<std::int64_t> duration;
    /// Instant (from the rank's start) before which the host has not issued the op. Zero: an infinitely fast host.
    std::vector<std::int64_t> release;
    /// Compute that runs beside a transfer of its own rank progresses at slowDen / slowNum of its speed (>= 1).
    std::int32_t slowNum = 1, slowDen = 1;
    /// By GroupId: the links that a transfer of the group occupies, one bit each. Transfers of one rank that run at the
    /// same time on a common link share it: each progresses at 1/k with k transfers there.
    std::vector<std::uint32_t> links;
    /// Given: ranks have no device each but share cores. `release` is then the host's work for the ops so far, and
    /// `slowNum`, `slowDen` and `links` are not used.
    std::optional<SharedCores> shared = std::nullopt;
    /// Values of low confidence that some price rests on; said with every answer.
    std::vector<std::string> caveats;
};

}  // namespace shardscope::sim
