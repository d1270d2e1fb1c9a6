#pragma once

// The measured constants of collectives, as data: a row per kind of link or network, each with its source.

#include <cstdint>
#include <span>
#include <string_view>

#include "core/cluster/cluster.h"
#include "sim/price/gpu_rates.h"

namespace shardscope::sim {

/// Bandwidth b of a link turns into a bus bandwidth of
///     b x share x (1 - lead / n)      (n ranks; fewer ranks use fewer paths at once)
/// and a message of S bytes into  offset + NCCL's own latency + volume / bus x (1 + sqrt(half / S)).
struct LinkConstants {
    double offset = 0;     ///< seconds
    double share = 1;      ///< of the nominal rate per direction
    double lead = 0;       ///< below 1
    double halfSize = 0;   ///< bytes at which half of the bus bandwidth is reached
    double pairShare = 1;  ///< of the nominal rate in a plain copy between two ranks
    bool pcie = false;     ///< hops cost what PCIe hops cost
    core::Confidence confidence = core::Confidence::Low;
    std::string_view source;
};

/// Inside a link domain. `activeRanks`: GPUs that are in use behind the same PCIe switches.
[[nodiscard]] LinkConstants linkConstantsOf(core::LinkKind kind, GpuFamily family, std::int64_t activeRanks);
/// Between domains.
[[nodiscard]] LinkConstants networkConstantsOf(core::Transport transport);

/// NCCL's latency constants for rings (cost model facts 1.2; NCCL 5067397c, src/graph/tuning.cc), seconds.
struct RingProtocol {
    std::string_view name;
    double base, nvlinkHop, pcieHop, networkHop;
    double post;   ///< least cost of a hop when several nodes take part
    double share;  ///< of the bus bandwidth (1.4)
    bool limited;  ///< also held to the LL limit
};
[[nodiscard]] std::span<const RingProtocol> ringProtocols();
/// Largest bus bandwidth of the LL protocol, bytes/s (1.4, "LLmax"); on more than one node the CPU's row, x86.
[[nodiscard]] double llLimit(GpuFamily family, std::int64_t domains);

}  // namespace shardscope::sim
