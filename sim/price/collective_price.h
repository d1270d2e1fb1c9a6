#pragma once

// The time of one collective or of one message, alone on its links.
//
// NCCL's structure (cost model facts 1.3 to 1.5): for gathers and scatters over GPUs of a node, and over nodes without
// in-network reduction, the algorithm is always the ring; the time is the least over its protocols of
//     offset + latency(n, nodes) + volume / (bus x protocol share) x (1 + sqrt(half size / bytes)).
// Volume is bytes x (n-1)/n, twice that for an all-reduce. The bus bandwidth is that of the slower level: the link
// inside a domain, or the domain's network that falls to the group.
//
// An all-reduce may also go over trees, or be added up by the NVSwitches (Hopper and later); the least counts, as in
// NCCL. A tree's latency grows with the logarithm of the nodes. Over two nodes every byte crosses the network once each
// way; over more, inner nodes of a tree pass each byte on twice.

#include <cstdint>
#include <string_view>

#include "core/cluster/cluster.h"
#include "sim/price/collective_constants.h"
#include "sim/price/placement.h"

namespace shardscope::sim {

enum class CollectiveKind : std::uint8_t { AllGather, ReduceScatter, AllReduce };

/// What a group has to communicate with; worked out once per group and cluster.
struct CollectivePath {
    Placement placement;
    double bus = 1;         ///< bytes/s
    double linkBus = 1;     ///< bus bandwidth inside a domain; 0 if every member sits in a domain of its own
    double networkBus = 0;  ///< bus bandwidth of the network; 0 inside one domain
    double halfSize = 0;
    double offset = 0;
    double llLimit = 0;
    double switchBus = 0;       ///< bytes of the buffer that the switches add up a second; 0: they do not
    double switchHalfSize = 0;  ///< bytes
    bool pcie = false;
    std::uint32_t links = 0;  ///< Prices::links
};

inline constexpr std::uint32_t kLinkBit = 1, kNetworkBit = 2;

[[nodiscard]] CollectivePath pathOf(const core::Cluster& cluster, const Placement& placement);

struct CollectivePrice {
    double seconds = 0;
    double latency = 0;  ///< offset and NCCL's constants
    double volume = 0;   ///< bytes that every rank sends (in-switch: would send in a ring)
    double bus = 0;      ///< bytes/s that the protocol reaches at this size: volume over the time without the latency
    std::string_view algorithm = "ring", protocol;
};

/// `bytes`: the large side (output of a gather, input of a scatter, buffer of an all-reduce). One rank: a gather is
/// nothing, a scatter or reduce is priced by its caller as a copy.
[[nodiscard]] CollectivePrice priceCollective(CollectiveKind kind, double bytes, const CollectivePath& path);

/// A message between two ranks of one domain, or of two if `placement.domains` is 2; `senders`: ranks of a node that
/// send at the same time.
[[nodiscard]] CollectivePrice priceMessage(const core::Cluster& cluster, const Placement& placement, double bytes,
                                           std::int64_t senders);

}  // namespace shardscope::sim
