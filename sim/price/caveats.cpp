#include "sim/price/caveats.h"

#include <fmt/format.h>

#include <set>

#include "sim/price/attention_price.h"
#include "sim/price/collective_constants.h"
#include "sim/price/collective_price.h"
#include "sim/price/gpu_rates.h"

namespace shardscope::sim {
namespace {

struct Uses {
    bool link = false, network = false, memoryBound = false, overlap = false;
    std::set<AttentionKernel> attention;
    bool flash3 = false;
};

Uses usesOf(const core::StepGraph& graph, const core::Model& model, GpuFamily family, const Prices& prices) {
    Uses uses;
    // Where a GPU has its layers alone, nothing is computed beside a transfer.
    uses.overlap = graph.plan.policy != core::UnitPolicy::None &&
                   graph.plan.mesh.dpShard * graph.plan.mesh.dpReplicate > 1 && prices.slowNum > prices.slowDen;
    for (const core::Program& program : model.programs)
        for (const core::Kernel& kernel : program.forward) {
            if (core::classOf(kernel.kind) == core::KernelClass::Attention)
                uses.attention.insert(attentionKernelOf(kernel, family));
            uses.flash3 |= kernel.op.starts_with("flash_attention_3");
            uses.memoryBound |= core::classOf(kernel.kind) == core::KernelClass::Memory;
        }
    for (std::uint32_t links : prices.links) {
        uses.link |= (links & kLinkBit) != 0;
        uses.network |= (links & kNetworkBit) != 0;
    }
    return uses;
}

/// The GPU on which the constants of this one's kernels were measured; it is itself, or near enough, if `own`.
struct Origin {
    std::string_view title;
    bool own = false;
};

Origin originOf(const core::Gpu& gpu) {
    const auto from = [&](std::string_view title, std::string_view name) {
        return Origin{title, gpu.name.starts_with(name)};
    };
    switch (familyOf(gpu)) {
        case GpuFamily::Hopper: return from("H100", "h100");
        case GpuFamily::Blackwell: return from("B200", "b200");
        default: return from("A100", "a100");
    }
}

/// A dtype without units of its own is priced at the fp32 rate; that is slow, and no property of the plan.
void addMissingUnits(const core::Model& model, const core::Gpu& gpu, std::vector<std::string>& caveats) {
    const core::DType dtype = model.workload.dtype;
    const bool missing =
        (dtype == core::DType::BF16 && !gpu.bf16Flops.known) || (dtype == core::DType::F16 && !gpu.fp16Flops.known);
    if (!missing) return;
    const bool other = dtype == core::DType::BF16 && gpu.fp16Flops.known;
    caveats.push_back(fmt::format("{} on {}: it has no units for it, matrix products are priced at the fp32 rate{}",
                                  core::nameOf(dtype), gpu.title,
                                  other ? " (float16 has units: precision.mixed_precision_param)" : ""));
}

}  // namespace

std::vector<std::string> caveatsOf(const core::StepGraph& graph, const core::Model& model, const core::Cluster& cluster,
                                   const Prices& prices) {
    const GpuFamily family = familyOf(cluster.gpu);
    const Uses uses = usesOf(graph, model, family, prices);
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
    addMissingUnits(model, cluster.gpu, caveats);
    const Origin origin = originOf(cluster.gpu);
    const bool ownShare = family == GpuFamily::Ampere || family == GpuFamily::Hopper || family == GpuFamily::Blackwell;
    if (!uses.attention.empty() && !origin.own)
        caveats.push_back(
            fmt::format("attention on {}: constants of {} (low confidence)", cluster.gpu.title, origin.title));
    if (uses.flash3 && family != GpuFamily::Hopper)
        caveats.push_back(fmt::format(
            "FlashAttention 3 on {}: it is written for Hopper, version 2 is priced in its place", cluster.gpu.title));
    for (const AttentionKernel kernel : uses.attention)
        if (ownShare && !attentionIsMeasured(kernel, family))
            caveats.push_back(
                fmt::format("{} on {}: no figures of it there, those of other kernels and GPUs stand in "
                            "(low confidence)",
                            nameOf(kernel), cluster.gpu.title));
    if (uses.memoryBound && !origin.own)
        caveats.push_back(fmt::format(
            "memory-bound kernels on {}: {} (low confidence)", cluster.gpu.title,
            ownShare ? fmt::format("constants of {}", origin.title) : "85 % of the peak bandwidth assumed"));
    if (uses.overlap)
        caveats.push_back(
            fmt::format("compute beside a transfer takes {:.2f} x its time: a rule from published "
                        "slow-downs (low confidence)",
                        static_cast<double>(prices.slowNum) / static_cast<double>(prices.slowDen)));
    if (std::any_of(graph.units.begin(), graph.units.end(),
                    [](const core::Unit& unit) { return unit.originalPadded > 0; }))
        caveats.push_back(
            fmt::format("fsdp_original_dtype: parameters kept in {} are gathered as such, but kernels that use them "
                        "are priced, and "
                        "keep activations, as if they were {}: faster and smaller than they are",
                        core::nameOf(graph.plan.precision.original), core::nameOf(graph.plan.precision.compute())));
    if (graph.plan.compiled)
        caveats.push_back(
            "torch.compile: every chain of memory-bound kernels fuses, a launch takes 3 us, and what is saved for "
            "backward "
            "stays as it is (low confidence)");
    if (uses.link || uses.network)
        caveats.push_back("memory of NCCL's buffers: counted from its source, not measured (low confidence)");
    if (!cluster.gpu.name.starts_with("a100"))
        caveats.push_back("memory of the CUDA context: 0.5 GiB as on A100 (low confidence)");
    return caveats;
}

}  // namespace shardscope::sim
