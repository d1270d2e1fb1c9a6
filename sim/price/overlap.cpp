#include "sim/price/overlap.h"

#include <algorithm>
#include <cmath>

namespace shardscope::sim {

OverlapSlowdown overlapSlowdownOf(const core::Cluster& cluster) {
    using core::LinkKind;
    const LinkKind link = cluster.node.link;
    const bool pcie = link == LinkKind::PciePeer || link == LinkKind::PcieHost || link == LinkKind::NvLinkBridge;
    const double units = cluster.gpu.multiprocessors.value;
    // A device too small for that many channels gives a quarter of itself.
    const double channels = std::min(pcie ? 4.0 : 24.0, std::floor(units / 4));
    OverlapSlowdown slowdown;
    slowdown.channels = static_cast<std::int32_t>(channels);
    slowdown.num = static_cast<std::int32_t>(std::lround(1000 * (1.05 + channels / (units - channels))));
    return slowdown;
}

}  // namespace shardscope::sim
