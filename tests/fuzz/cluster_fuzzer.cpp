// Any bytes that are TOML are a cluster or are refused with a message; what is read has sizes that mean something.

#include <cmath>
#include <cstdint>
#include <cstdlib>

#include "core/base/document.h"
#include "core/cluster/cluster.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace shardscope::core;
    const auto document = parseToml({reinterpret_cast<const char*>(data), size}, "fuzz.toml");
    if (!document) return 0;
    const auto cluster = parseCluster(*document, "fuzz.toml");
    if (!cluster) {
        if (cluster.error().message.empty() || cluster.error().where.empty()) std::abort();
        return 0;
    }
    const Sourced& peak = peakOf(cluster->gpu, DType::BF16);
    for (const Sourced* value : {&peak, &cluster->gpu.multiprocessors, &cluster->gpu.memory, &cluster->gpu.memoryUsable,
                                 &cluster->gpu.memoryBandwidth, &cluster->gpu.gemmShare, &cluster->gpu.sustainedShare,
                                 &cluster->node.linkBandwidth, &cluster->node.networkBandwidth})
        if (!value->known || !std::isfinite(value->value) || !(value->value > 0)) std::abort();
    if (cluster->ranks() < 1 || cluster->gpusPerNode > cluster->node.gpus) std::abort();
    if (cluster->domainRanks() < cluster->gpusPerNode || cluster->domainOf(cluster->ranks() - 1) < 0) std::abort();
    (void)doubtsOf(*cluster, Confidence::High);
    return 0;
}
