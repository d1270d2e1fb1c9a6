// A price in words: the formula, the numbers in it, their origin.

#include <fmt/format.h>

#include <string_view>

#include "sim/price/collective_price.h"
#include "sim/price/copy_price.h"
#include "sim/price/host_price.h"
#include "sim/price/kernel_price.h"
#include "sim/price/price_graph.h"
#include "sim/price/repricer.h"

namespace shardscope::sim {
namespace {

std::string timeText(double seconds) {
    return seconds >= 1e-3 ? fmt::format("{:.3f} ms", seconds * 1e3) : fmt::format("{:.2f} us", seconds * 1e6);
}

std::string bytesText(double bytes) {
    if (bytes >= 1024.0 * 1024 * 1024) return fmt::format("{:.2f} GiB", bytes / (1024.0 * 1024 * 1024));
    if (bytes >= 1024.0 * 1024) return fmt::format("{:.2f} MiB", bytes / (1024.0 * 1024));
    return fmt::format("{:.1f} KiB", bytes / 1024);
}

std::string kernelText(const core::Kernel& kernel, core::DType dtype, const KernelPrice& price, const GpuRates& rates) {
    std::string text;
    switch (core::classOf(kernel.kind)) {
        case core::KernelClass::Gemm:
            text = fmt::format("GEMM {} x [{} x {}] x [{} x {}] {}", kernel.b, kernel.m, kernel.k, kernel.k, kernel.n,
                               core::nameOf(dtype));
            if (price.waves > 0)
                text += fmt::format(", tiles {} x {}, k in {}, {} waves over {:g} SMs", price.tileM, price.tileN,
                                    price.split, price.waves, rates.multiprocessors);
            break;
        case core::KernelClass::Attention:
            text = fmt::format("attention {} x {} heads, {} x {} x {}{} {}", kernel.b, kernel.heads, kernel.m, kernel.n,
                               kernel.k, kernel.causal ? " causal" : "", core::nameOf(dtype));
            break;
        case core::KernelClass::Memory: text = "memory-bound"; break;
    }
    text += fmt::format(": {}", timeText(price.floor));
    if (price.compute > 0) {
        text += fmt::format(" + max({} for {:.3g} GFLOP at {:.0f} % of {:.4g} TFLOPS, {} for {})",
                            timeText(price.compute), price.work * 1e-9, 100 * price.work / (price.compute * price.peak),
                            price.peak * 1e-12, timeText(price.memory), bytesText(price.traffic));
    } else {
        text += fmt::format(" + {} for {} at {:.0f} % of {:.4g} GB/s", timeText(price.memory), bytesText(price.traffic),
                            price.memory > 0 ? 100 * price.traffic / (price.memory * rates.memoryBandwidth) : 0,
                            rates.memoryBandwidth * 1e-9);
    }
    return text + fmt::format(" = {}", timeText(price.seconds));
}

std::string originText(std::string_view what, const core::Sourced& value) {
    return fmt::format("  {}: {} ({} confidence)\n", what, value.source, nameOf(value.confidence));
}

/// `compiled`: chains of memory-bound kernels run as one.
std::string computeText(const core::Op& op, const core::Model& model, const core::Cluster& cluster,
                        const GpuRates& rates, bool compiled) {
    std::string text;
    const core::Program& program = model.programOf(model.layers[op.kernels.layer.index()]);
    const auto& kernels = op.kernels.backward ? program.backward : program.forward;
    std::vector<FusedKernel> chains;
    if (compiled) chains = fuseMemoryBound(program, op.kernels.backward, op.kernels.first, op.kernels.count);
    std::size_t next = 0;
    for (std::uint32_t i = op.kernels.first; i < op.kernels.first + op.kernels.count; ++i) {
        if (next < chains.size() && chains[next++].count > 1) {
            const FusedKernel& chain = chains[next - 1];
            std::string names;
            for (std::uint32_t k = i; k < i + chain.count; ++k)
                names += fmt::format("{}{}", k > i ? " + " : "",
                                     kernels[k].op.empty() ? core::nameOf(kernels[k].kind) : kernels[k].op);
            const KernelPrice price = priceTraffic(chain.traffic, 1, rates);
            text += fmt::format("  {}: {}\n", names, kernelText({}, core::DType::F32, price, rates));
            i += chain.count - 1;
            continue;
        }
        const core::DType dtype = operandType(program, kernels[i]);
        const std::string_view name = kernels[i].op.empty() ? core::nameOf(kernels[i].kind) : kernels[i].op;
        text += fmt::format("  {}: {}\n", name,
                            kernelText(kernels[i], dtype, priceKernel(kernels[i], dtype, rates), rates));
    }
    text += originText("peak", core::peakOf(cluster.gpu, model.workload.dtype));
    text += originText("share of the peak", cluster.gpu.gemmShare);
    text += originText("sustained share", cluster.gpu.sustainedShare);
    text += originText("memory bandwidth", cluster.gpu.memoryBandwidth);
    return text + "  formulas: cost model facts 4.1 to 4.4\n";
}

std::string collectiveText(const Repricer::Cost& cost, const Placement& placement, const core::Cluster& cluster) {
    const double bytes = static_cast<double>(cost.bytes);
    const CollectivePath path = pathOf(cluster, placement);
    const CollectivePrice price = priceCollective(cost.collective, bytes, path);
    if (placement.ranks <= 1) return "  one rank: nothing to send\n";
    std::string text = fmt::format(
        "  {} over {} ranks in {} link domain(s), {}, {}: {} latency + {} sent by every rank / {:.1f} GB/s = {}\n",
        bytesText(bytes), placement.ranks, placement.domains, price.algorithm, price.protocol, timeText(price.latency),
        bytesText(price.volume), price.bus * 1e-9, timeText(price.seconds));
    text += fmt::format("  bus bandwidth {:.1f} GB/s (link {:.1f}", path.bus * 1e-9, path.linkBus * 1e-9);
    if (path.networkBus > 0) text += fmt::format(", network {:.1f}", path.networkBus * 1e-9);
    text += fmt::format("), reached by half at {}\n", bytesText(path.halfSize));
    const LinkConstants link = linkConstantsOf(cluster.node.link, familyOf(cluster.gpu), cluster.gpusPerNode);
    text += fmt::format("  link constants: {} ({} confidence)\n", link.source, nameOf(link.confidence));
    text += originText("link bandwidth", cluster.node.linkBandwidth);
    if (placement.domains > 1) {
        const LinkConstants network = networkConstantsOf(cluster.node.transport);
        text += fmt::format("  network constants: {} ({} confidence)\n", network.source, nameOf(network.confidence));
        text += originText("network bandwidth", cluster.node.networkBandwidth);
    }
    return text + "  formulas: cost model facts 1.2 to 1.5 and 2\n";
}

}  // namespace

std::string explainPrice(const core::StepGraph& graph, const core::Model& model, const core::Cluster& cluster,
                         const PriceKnobs& knobs, core::OpId id) {
    const core::Op& op = graph.ops[id.index()];
    Repricer repricer(graph, model);
    Prices prices;
    repricer.price(cluster, knobs, prices);
    const Repricer::Cost& cost = repricer.costOf(id);
    const GpuRates rates = ratesOf(cluster.gpu, knobs);
    std::string text = fmt::format("{}: {}, issued by the host at {}\n", core::nameOf(op.kind),
                                   timeText(static_cast<double>(prices.duration[id.index()]) * 1e-9),
                                   timeText(static_cast<double>(prices.release[id.index()]) * 1e-9));
    switch (cost.kind) {
        case Repricer::CostKind::None: return text + "  no device time\n";
        case Repricer::CostKind::Compute:
            if (!op.kernels.layer.valid()) return text + "  no kernels\n";
            if (cost.loss && knobs.freeLoss) return text + "  the loss is free by a knob\n";
            return text + computeText(op, model, cluster, rates, cost.fusedEnd > cost.fusedBegin);
        case Repricer::CostKind::Collective:
            if (knobs.freeCommunication) return text + "  communication is free by a knob\n";
            return text + collectiveText(cost, repricer.placementOf(cost, cluster), cluster);
        case Repricer::CostKind::Message: {
            if (knobs.freeCommunication) return text + "  communication is free by a knob\n";
            const Placement placement = repricer.placementOf(cost, cluster);
            const CollectivePrice price =
                priceMessage(cluster, placement, static_cast<double>(cost.bytes), repricer.sendersOf(cost, cluster));
            text += fmt::format("  {} {}: {} latency + {:.1f} GB/s = {}\n", bytesText(price.volume),
                                placement.domains > 1 ? "over the network" : "inside a link domain",
                                timeText(price.latency), price.bus * 1e-9, timeText(price.seconds));
            return text +
                   originText(placement.domains > 1 ? "network bandwidth" : "link bandwidth",
                              placement.domains > 1 ? cluster.node.networkBandwidth : cluster.node.linkBandwidth);
        }
        case Repricer::CostKind::HostCopy: {
            if (knobs.freeCopies) return text + "  free by a knob\n";
            const bool pinned = graph.plan.fsdp.pinMemory;
            const double bytes = static_cast<double>(cost.bytes);
            const HostPrice price = priceHostCopy(bytes, cost.launches, pinned, cluster);
            text += fmt::format("  {} in {} copies over PCIe, {} memory at {:.1f} GB/s = {}\n", bytesText(bytes),
                                cost.launches, pinned ? "page-locked" : "pageable", price.rate * 1e-9,
                                timeText(price.seconds));
            if (cost.added > 0) {
                const HostPrice added = priceHostPass(static_cast<double>(cost.added), false, cluster);
                text +=
                    fmt::format("  {} read and written in host memory at {:.2f} GB/s a rank = {}\n",
                                bytesText(static_cast<double>(cost.added)), added.rate * 1e-9, timeText(added.seconds));
            }
            return text + originText("PCIe bandwidth", cluster.gpu.pcieBandwidth) + "  formula: cost model facts 6.1\n";
        }
        case Repricer::CostKind::HostPass: {
            if (knobs.freeOptimizer) return text + "  free by a knob\n";
            const double traffic = static_cast<double>(cost.bytes);
            const HostPrice price = priceHostPass(traffic, cost.fused, cluster);
            text += fmt::format("  {} read and written in host memory at {:.2f} GB/s a rank, {} ranks a node = {}\n",
                                bytesText(traffic), price.rate * 1e-9, cluster.gpusPerNode, timeText(price.seconds));
            return text + fmt::format("  rate: {}\n  formula: cost model facts 6.2\n", price.source);
        }
        case Repricer::CostKind::Copy:
        case Repricer::CostKind::Optimizer: {
            const bool optimizer = cost.kind == Repricer::CostKind::Optimizer;
            if (optimizer ? knobs.freeOptimizer : knobs.freeCopies) return text + "  free by a knob\n";
            const double traffic = static_cast<double>(cost.bytes);
            const KernelPrice price = optimizer
                                          ? priceOptimizer(traffic, cost.launches, graph.plan.fusedOptimizer, rates)
                                          : priceCopy(traffic, cost.launches, rates);
            text += fmt::format("  {} + {} read and written at {:.0f} % of {:.4g} GB/s = {}\n", timeText(price.floor),
                                bytesText(traffic),
                                price.memory > 0 ? 100 * traffic / (price.memory * rates.memoryBandwidth) : 0,
                                rates.memoryBandwidth * 1e-9, timeText(price.seconds));
            text += originText("memory bandwidth", cluster.gpu.memoryBandwidth);
            return text + (optimizer ? "  formula: cost model facts 4.5\n" : "  formula: cost model facts 4.2\n");
        }
    }
    return text;
}

}  // namespace shardscope::sim
