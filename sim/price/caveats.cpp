#include "sim/price/caveats.h"

#include <fmt/format.h>

#include "sim/price/collective_constants.h"
#include "sim/price/collective_price.h"
#include "sim/price/gpu_rates.h"

namespace shardscope::sim {
namespace {

struct Uses {
    bool link = false, network = false, attention = false, memoryBound = false;
};

Uses usesOf(const core::Model& model, const Prices& prices) {
    Uses uses;
    for (const core::Program& program : model.programs)
        for (const core::Kernel& kernel : program.forward) {
            uses.attention |= core::classOf(kernel.kind) == core::KernelClass::Attention;
            uses.memoryBound |= core::classOf(kernel.kind) == core::KernelClass::Memory;
        }
    for (std::uint32_t links : prices.links) {
        uses.link |= (links & kLinkBit) != 0;
        uses.network |= (links & kNetworkBit) != 0;
    }
    return uses;
}

}  // namespace

std::vector<std::string> caveatsOf(const core::Model& model, const core::Cluster& cluster, const Prices& prices) {
    const Uses uses = usesOf(model, prices);
    const GpuFamily family = familyOf(cluster.gpu);
    core::Cluster used = cluster;
    if (!uses.link) used.gpusPerNode = 1;
    if (!uses.network) used.nodes = 1;
    std::vector<std::string> caveats = core::doubtsOf(used, core::Confidence::Low);

    const auto addConstants = [&](std::string_view what, std::string_view name, const LinkConstants& constants) {
        if (constants.confidence != core::Confidence::Low) return;
        caveats.push_back(fmt::format("collectives over {} {}: constants fitted to {} only (low confidence)", what,
                                      name, constants.source));
    };
    if (uses.link)
        addConstants("links of kind", core::nameOf(cluster.node.link),
                     linkConstantsOf(cluster.node.link, family, cluster.gpusPerNode));
    if (uses.network)
        addConstants("a network of kind", core::nameOf(cluster.node.transport),
                     networkConstantsOf(cluster.node.transport));
    const bool measured = family == GpuFamily::Ampere || family == GpuFamily::Hopper || family == GpuFamily::Blackwell;
    if (uses.attention && !measured)
        caveats.push_back(fmt::format("attention on {}: constants of A100 (low confidence)", cluster.gpu.title));
    if (uses.memoryBound && !measured)
        caveats.push_back(fmt::format("memory-bound kernels on {}: 85 % of the peak bandwidth assumed (low confidence)",
                                      cluster.gpu.title));
    return caveats;
}

}  // namespace shardscope::sim
