#include "sim/price/price_graph.h"

#include <fmt/format.h>

#include "sim/price/caveats.h"
#include "sim/price/kernel_price.h"
#include "sim/price/repricer.h"

namespace shardscope::sim {

Prices priceGraph(const core::StepGraph& graph, const core::Model& model, const core::Cluster& cluster,
                  const PriceKnobs& knobs) {
    Prices prices;
    Repricer(graph, model).price(cluster, knobs, prices);
    prices.caveats = caveatsOf(graph, model, cluster, prices);
    return prices;
}

double modelFlops(const core::StepGraph& graph, const core::Model& model) {
    double perMicroBatch = 0;
    for (const core::Layer& layer : model.layers) {
        const core::Program& program = model.programOf(layer);
        for (const auto* list : {&program.forward, &program.backward}) {
            if (graph.plan.evaluation && list == &program.backward) continue;
            for (const core::Kernel& kernel : *list) {
                if (core::classOf(kernel.kind) == core::KernelClass::Memory) continue;
                const double flops = static_cast<double>(kernel.flops.value);
                perMicroBatch += kernel.kind == core::KernelKind::AttentionGrad ? flops * 4 / 5 : flops;
            }
        }
    }
    const core::Plan& plan = graph.plan;
    return perMicroBatch * static_cast<double>(plan.microBatches) * static_cast<double>(plan.mesh.dpReplicate) *
           static_cast<double>(plan.mesh.dpShard);
}

double modelFlopsUtilisation(const core::StepGraph& graph, const core::Model& model, const core::Cluster& cluster,
                             core::Duration step) {
    if (step.ns <= 0) return 0;
    const double peak = core::peakOf(cluster.gpu, model.workload.dtype).value;
    return modelFlops(graph, model) / (step.seconds() * static_cast<double>(graph.plan.mesh.size()) * peak);
}

std::vector<double> layerSeconds(const core::Model& model, const core::Cluster& cluster, const PriceKnobs& knobs,
                                 bool compiled) {
    // Every layer as one op of a graph without anything else.
    core::StepGraph graph;
    graph.plan.compiled = compiled;
    graph.classes.push_back({});
    for (std::size_t i = 0; i < model.layers.size(); ++i)
        for (bool backward : {false, true}) {
            const core::Program& program = model.programOf(model.layers[i]);
            const auto& kernels = backward ? program.backward : program.forward;
            core::Op op;
            op.rankClass = core::ClassId(std::size_t{0});
            op.kernels = {core::LayerId(i), 0, static_cast<std::uint32_t>(kernels.size()), backward};
            graph.ops.push_back(op);
        }
    graph.classes.front().opEnd = static_cast<std::uint32_t>(graph.ops.size());
    Prices prices;
    Repricer(graph, model).price(cluster, knobs, prices);
    std::vector<double> seconds;
    for (std::size_t i = 0; i < model.layers.size(); ++i)
        seconds.push_back(static_cast<double>(prices.duration[2 * i] + prices.duration[2 * i + 1]) * 1e-9);
    return seconds;
}

}  // namespace shardscope::sim
