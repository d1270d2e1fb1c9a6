#pragma once

// Where the members of a group sit. Ranks fill nodes in order and dp_shard is innermost, so consecutive ranks share a
// node; what counts is the link domain (a node, or the trays of one NVLink rack).

#include <cstdint>

#include "core/cluster/cluster.h"

namespace shardscope::sim {

struct Placement {
    std::int64_t ranks = 1;      ///< members
    std::int64_t domains = 1;    ///< link domains they sit in
    std::int64_t perDomain = 1;  ///< members per domain, the most of any
    friend bool operator==(const Placement&, const Placement&) = default;
};

/// The least favourable of the groups {base, base + stride, ...} of `size` ranks that tile [firstRank, firstRank +
/// ranks).
[[nodiscard]] Placement placementOf(const core::Cluster& cluster, std::int64_t firstRank, std::int64_t ranks,
                                    std::int64_t size, std::int64_t stride);

}  // namespace shardscope::sim
