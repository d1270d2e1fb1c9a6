#include "sim/price/host_price.h"

#include <algorithm>

#include "sim/price/gpu_rates.h"
#include "sim/price/kernel_price.h"

namespace shardscope::sim {

HostPrice priceHostCopy(double bytes, std::int64_t copies, bool pinned, const core::Cluster& cluster) {
    constexpr double kPinned = 0.88, kPageable = kPinned / 5;
    HostPrice price;
    price.rate = cluster.gpu.pcieBandwidth.value * (pinned ? kPinned : kPageable);
    price.source = cluster.gpu.pcieBandwidth.source;
    if (!(bytes > 0)) return price;
    // Every copy starts as a kernel does.
    const double start = priceTraffic(1, 1, ratesOf(cluster.gpu, {})).floor;
    price.seconds = bytes / price.rate + start * static_cast<double>(std::max<std::int64_t>(copies, 1));
    return price;
}

HostPrice priceHostPass(double traffic, bool fused, const core::Cluster& cluster) {
    constexpr double kBytes = 28e9, kPlain = 1.39, kFused = 0.24;  // per billion parameters
    HostPrice price;
    const core::Sourced& given = cluster.node.hostOptimizer;
    const double node = given.known ? given.value : kBytes / (fused ? kFused : kPlain);
    price.rate = node / static_cast<double>(std::max<std::int64_t>(cluster.gpusPerNode, 1));
    price.source = given.known ? given.source : "CPU Adam of ZeRO-Offload's table (low confidence)";
    price.seconds = traffic / price.rate;
    return price;
}

}  // namespace shardscope::sim
