#include "sim/price/collective_price.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace shardscope::sim {
namespace {

// bytes/s per direction that the used GPUs of a domain have of the network. NICs sit beside GPUs: a node half used has
// half of them, but never less than one.
double usableNetwork(const core::Cluster& cluster) {
    const double used = static_cast<double>(cluster.gpusPerNode) / static_cast<double>(cluster.node.gpus);
    const double one = 1 / std::max(1.0, cluster.node.nics.value);
    const double trays = static_cast<double>(cluster.domainRanks()) / static_cast<double>(cluster.gpusPerNode);
    return cluster.node.networkBandwidth.value * std::min(1.0, std::max(used, one)) * trays;
}

double networkOffset(const core::Cluster& cluster, const LinkConstants& network) {
    return cluster.node.networkLatency.known ? cluster.node.networkLatency.value : network.offset;
}

}  // namespace

CollectivePath pathOf(const core::Cluster& cluster, const Placement& placement) {
    const GpuFamily family = familyOf(cluster.gpu);
    const LinkConstants link = linkConstantsOf(cluster.node.link, family, cluster.gpusPerNode);
    const double n = static_cast<double>(placement.ranks);
    CollectivePath path;
    path.placement = placement;
    path.linkBus = cluster.node.linkBandwidth.value * link.share * (1 - link.lead / std::max(2.0, n));
    path.bus = path.linkBus;
    path.halfSize = link.halfSize;
    path.offset = link.offset;
    path.pcie = link.pcie;
    path.llLimit = llLimit(family, placement.domains);
    path.links = kLinkBit;
    if (placement.domains > 1) {
        const LinkConstants network = networkConstantsOf(cluster.node.transport);
        // Groups side by side in a domain share its network.
        const double part = static_cast<double>(placement.perDomain) / static_cast<double>(cluster.domainRanks());
        path.networkBus = usableNetwork(cluster) * network.share * std::min(1.0, part);
        if (placement.perDomain == 1) path.linkBus = 0;
        path.bus = placement.perDomain == 1 ? path.networkBus : std::min(path.linkBus, path.networkBus);
        path.halfSize = std::max(network.halfSize, placement.perDomain == 1 ? 0 : link.halfSize);
        path.offset = networkOffset(cluster, network) + (placement.perDomain == 1 ? 0 : link.offset);
        // A ring over nodes keeps the in-node links busy only as far as the network feeds them.
        const bool linkBusy = placement.perDomain > 1 && path.networkBus > 0.5 * path.linkBus;
        path.links = kNetworkBit | (linkBusy ? kLinkBit : 0);
    }
    return path;
}

CollectivePrice priceCollective(CollectiveKind kind, double bytes, const CollectivePath& path) {
    CollectivePrice best;
    if (path.placement.ranks <= 1 || !(bytes > 0)) return best;
    const double n = static_cast<double>(path.placement.ranks);
    const double domains = static_cast<double>(path.placement.domains);
    const double passes = kind == CollectiveKind::AllReduce ? 2 : 1;
    best.volume = passes * bytes * (n - 1) / n;
    best.seconds = std::numeric_limits<double>::max();
    const double ramp = 1 + std::sqrt(path.halfSize / bytes);
    for (const RingProtocol& protocol : ringProtocols()) {
        double hop = path.pcie ? protocol.pcieHop : protocol.nvlinkHop;
        if (path.placement.domains > 1) hop = std::max(hop, protocol.post);
        const double latency =
            path.offset + protocol.base + passes * ((n - domains) * hop + (domains - 1) * protocol.networkHop);
        double bus = path.bus * protocol.share;
        if (protocol.limited) bus = std::min(bus, path.llLimit);
        const double seconds = latency + best.volume / bus * ramp;
        if (seconds >= best.seconds) continue;
        best.seconds = seconds;
        best.latency = latency;
        best.bus = bus / ramp;
        best.protocol = protocol.name;
    }
    return best;
}

CollectivePrice priceMessage(const core::Cluster& cluster, const Placement& placement, double bytes,
                             std::int64_t senders) {
    CollectivePrice price;
    if (!(bytes > 0)) return price;
    price.volume = bytes;
    price.protocol = "Simple";
    const RingProtocol& simple = ringProtocols().back();
    const LinkConstants link = linkConstantsOf(cluster.node.link, familyOf(cluster.gpu), cluster.gpusPerNode);
    if (placement.domains <= 1) {
        price.latency = link.offset + simple.base + (link.pcie ? simple.pcieHop : simple.nvlinkHop);
        price.bus = cluster.node.linkBandwidth.value * link.pairShare;
    } else {
        const LinkConstants network = networkConstantsOf(cluster.node.transport);
        price.latency = networkOffset(cluster, network) + simple.base + simple.networkHop + simple.post;
        // A message rides the NICs of its GPU, at least one.
        const double perNode = cluster.node.networkBandwidth.value;
        const double nics = std::max(1.0, cluster.node.nics.value);
        const double own = perNode * std::max(1 / nics, 1 / static_cast<double>(cluster.node.gpus));
        price.bus =
            std::min(own, perNode / static_cast<double>(std::max<std::int64_t>(1, senders))) * network.pairShare;
    }
    price.seconds = price.latency + bytes / price.bus;
    return price;
}

}  // namespace shardscope::sim
