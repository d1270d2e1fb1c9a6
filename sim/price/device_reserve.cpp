// What a rank's memory holds besides the graph's blocks (cost model facts 3 and 7.2).

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "sim/price/collective_constants.h"
#include "sim/price/price_graph.h"

namespace shardscope::sim {
namespace {

constexpr double kMebi = 1024.0 * 1024.0;
// CUDA context of PyTorch on A100 with lazy loading: 0.47 GiB (stas00/ml-engineering@744d01e1).
constexpr double kContext = 0.5 * 1024 * kMebi;
// Buffers of one connection of one channel: LL 512 KiB, LL128 4,915,200 B, Simple 4 MiB (NCCL 5067397c).
constexpr double kConnection = 512.0 * 1024 + 4915200 + 4 * kMebi;
// A ring takes one, trees up to three children and a parent; all of them together at most about four.
constexpr double kConnections = 4;
// Point to point: 8 steps of 512 KiB over NVLink, 128 KiB elsewhere, per peer, direction and channel.
constexpr double kPairSteps = 8;

double channelsOf(const core::Cluster& cluster) {
    switch (cluster.node.link) {
        case core::LinkKind::PciePeer:
        case core::LinkKind::PcieHost:
        case core::LinkKind::NvLinkBridge: return 4;
        default: return 24;
    }
}

// In-switch reduction: heads x channels x 2 x 8 x 128 KiB, 256 MiB on an H100 node and 384 MiB on a B200 node.
double switchBuffersOf(const core::Cluster& cluster) {
    if (cluster.node.link != core::LinkKind::NvSwitch || cluster.gpusPerNode < 2) return 0;
    const double share = std::min(1.0, static_cast<double>(cluster.gpusPerNode) / 8);
    if (familyOf(cluster.gpu) == GpuFamily::Hopper) return 256 * kMebi * share;
    if (familyOf(cluster.gpu) == GpuFamily::Blackwell) return 384 * kMebi * share;
    return 0;
}

core::Bytes bytesOf(double amount) {
    return {static_cast<std::int64_t>(amount)};
}

}  // namespace

std::vector<DeviceReserve> deviceReserves(const core::StepGraph& graph, const core::Cluster& cluster) {
    const double channels = channelsOf(cluster);
    const double ring = channels * kConnections * kConnection + switchBuffersOf(cluster);
    const double chunk = (channels > 4 ? 512.0 : 128.0) * 1024;
    const double pair = channels * kPairSteps * chunk;
    std::vector<DeviceReserve> reserves;
    for (const core::RankClass& rankClass : graph.classes) {
        std::set<std::uint32_t> communicators;
        std::set<std::uint32_t> pairs;
        for (const core::Op& op : graph.opsOf(rankClass)) {
            if (!op.group.valid()) continue;
            const core::Group& group = graph.groups[op.group.index()];
            if (op.kind == core::OpKind::Send || op.kind == core::OpKind::Receive)
                pairs.insert(op.group.value);
            else if (group.size > 1)
                communicators.insert(group.communicator);
        }
        DeviceReserve reserve;
        reserve.context = bytesOf(kContext);
        reserve.communication =
            bytesOf(static_cast<double>(communicators.size()) * ring + static_cast<double>(pairs.size()) * 2 * pair);
        reserve.usable = bytesOf(cluster.gpu.memoryUsable.value);
        reserve.sources = {
            "context: 0.5 GiB (0.47 GiB measured on A100 with lazy loading)",
            fmt::format("communication: {} communicators of {} channels x up to 4 connections x 9.2 MiB, {} peers",
                        communicators.size(), channels, pairs.size()),
            fmt::format("usable: {:.2f} GiB of {} ({}, {} confidence)", cluster.gpu.memoryUsable.value / (1024 * kMebi),
                        cluster.gpu.title, cluster.gpu.memoryUsable.source,
                        nameOf(cluster.gpu.memoryUsable.confidence)),
        };
        reserves.push_back(std::move(reserve));
    }
    return reserves;
}

}  // namespace shardscope::sim
