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

double floorLog2(std::int64_t n) {
    return n > 1 ? std::floor(std::log2(static_cast<double>(n))) : 0;
}

/// Seconds for each byte of an all-reduce's buffer on the network: once over two domains, twice over more.
double networkPerByte(const CollectivePath& path) {
    if (path.placement.domains <= 1) return 0;
    return (path.placement.domains == 2 ? 1 : 2) / path.networkBus;
}

void takeIfLess(CollectivePrice& best, double latency, double transfer, std::string_view algorithm,
                std::string_view protocol) {
    if (latency + transfer >= best.seconds) return;
    best.seconds = latency + transfer;
    best.latency = latency;
    best.bus = best.volume / transfer;
    best.algorithm = algorithm;
    best.protocol = protocol;
}

/// Facts 1.3 and 1.4. Inside a domain the members form a chain, which each byte goes up and down.
void priceTrees(CollectivePrice& best, double bytes, const CollectivePath& path) {
    const double inDomain = static_cast<double>(path.placement.perDomain);
    const double chain = path.linkBus > 0 && inDomain > 1 ? 2 * (inDomain - 1) / inDomain / path.linkBus : 0;
    const double perByte = std::max(chain, networkPerByte(path)) / kTreeShare;
    const bool several = path.placement.domains > 1;
    const double ramp = 1 + std::sqrt(path.halfSize / bytes);
    for (const TreeProtocol& protocol : treeProtocols()) {
        const double hop = path.pcie ? protocol.pcieHop : protocol.nvlinkHop;
        const double latency =
            path.offset + protocol.base +
            2 * ((inDomain - 1) * hop + floorLog2(path.placement.domains) * (protocol.networkHop + protocol.post));
        double slower = perByte / (several ? protocol.overNodes : protocol.insideNode);
        if (protocol.limited) slower = std::max(slower, 2 / path.llLimit);
        takeIfLess(best, latency, bytes * slower * ramp, "tree", protocol.name);
    }
}

void priceSwitches(CollectivePrice& best, double bytes, const CollectivePath& path) {
    if (path.switchBus <= 0) return;
    const double perByte = std::max(1 / path.switchBus, networkPerByte(path));
    const double half = path.placement.domains > 1 ? std::max(path.halfSize, path.switchHalfSize) : path.switchHalfSize;
    const double latency =
        path.offset + kSwitchHop + 2 * floorLog2(path.placement.domains) * (kSwitchNetworkHop + kSwitchPost);
    takeIfLess(best, latency, bytes * perByte * (1 + std::sqrt(half / bytes)), "in-switch", "Simple");
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
    if (const SwitchConstants adds = switchConstantsOf(cluster.node.link, family);
        adds.share > 0 && placement.perDomain >= adds.leastRanks) {
        path.switchBus =
            cluster.node.linkBandwidth.value * adds.share * (1 - adds.lead / static_cast<double>(placement.perDomain));
        path.switchHalfSize = adds.halfSize;
    }
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
        takeIfLess(best, latency, best.volume / bus * ramp, "ring", protocol.name);
    }
    if (kind == CollectiveKind::AllReduce) {
        priceTrees(best, bytes, path);
        priceSwitches(best, bytes, path);
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
