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

/// The same for trees, which all-reduces may take; `insideNode`, `overNodes`: share of the tree's bandwidth inside a
/// node and over several (1.4).
struct TreeProtocol {
    std::string_view name;
    double base, nvlinkHop, pcieHop, networkHop, post;
    double insideNode, overNodes;
    bool limited;
};
[[nodiscard]] std::span<const TreeProtocol> treeProtocols();
/// Of the bandwidth that a tree finds, which it reaches (1.4).
inline constexpr double kTreeShare = 0.92;

/// All-reduces that the NVSwitches add up (NVLS; over nodes NVLSTree, 1.2 to 1.5): a buffer of S bytes takes
///     offset + hop + 2 floor(log2 nodes) network hop + S / (b x share x (1 - lead / n)) x (1 + sqrt(half / S)).
struct SwitchConstants {
    double share = 0;  ///< of the link's nominal rate; 0: the switches do not add
    double lead = 0;
    double halfSize = 0;
    std::int64_t leastRanks = 0;  ///< of a domain: with fewer NCCL takes rings (facts 2.5)
    std::string_view source;
};
[[nodiscard]] SwitchConstants switchConstantsOf(core::LinkKind kind, GpuFamily family);
inline constexpr double kSwitchHop = 25e-6, kSwitchNetworkHop = 20.9e-6, kSwitchPost = 3e-6;

/// Largest bus bandwidth of the LL protocol, bytes/s (1.4, "LLmax"); on more than one node the CPU's row, x86.
[[nodiscard]] double llLimit(GpuFamily family, std::int64_t domains);

}  // namespace shardscope::sim
