#include "sim/price/placement.h"

#include <algorithm>
#include <numeric>

namespace shardscope::sim {
namespace {

Placement placeGroup(const core::Cluster& cluster, std::int64_t base, std::int64_t size, std::int64_t stride) {
    const std::int64_t first = cluster.domainOf(base);
    const std::int64_t last = cluster.domainOf(base + (size - 1) * stride);
    Placement placement;
    placement.ranks = size;
    placement.domains = std::min(size, last - first + 1);
    placement.perDomain = (size + placement.domains - 1) / placement.domains;
    return placement;
}

}  // namespace

Placement placementOf(const core::Cluster& cluster, std::int64_t firstRank, std::int64_t ranks, std::int64_t size,
                      std::int64_t stride) {
    if (size <= 1) return {};
    const std::int64_t block = size * stride;  // ranks that `stride` interleaved groups cover
    const std::int64_t domain = cluster.domainRanks();
    // The pattern repeats after a whole number of both blocks and domains.
    const std::int64_t blocks = std::max<std::int64_t>(1, ranks / block);
    const std::int64_t distinct = std::min(blocks, domain / std::gcd(block, domain));
    const std::int64_t offsets = std::min(stride, domain);
    Placement worst;
    for (std::int64_t i = 0; i < distinct; ++i)
        for (std::int64_t offset = 0; offset < offsets; ++offset) {
            const Placement here = placeGroup(cluster, firstRank + i * block + offset, size, stride);
            if (here.domains > worst.domains || worst.ranks == 1) worst = here;
        }
    return worst;
}

}  // namespace shardscope::sim
