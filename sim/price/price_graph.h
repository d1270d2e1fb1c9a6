#pragma once

// From a frozen graph, its model and a cluster to one price per op. Formulas, sources and ranges of validity:
// docs/model.md; each kind of price has a file of its own beside this one.

#include <cstdint>
#include <string>
#include <vector>

#include "core/cluster/cluster.h"
#include "core/graph/step_graph.h"
#include "core/model/model.h"
#include "sim/price/price_knobs.h"
#include "sim/price/prices.h"

namespace shardscope::sim {

/// Prices of every op of `graph`, which was built from `model`. `Prices::caveats` names every value of low confidence
/// that some price rests on.
[[nodiscard]] Prices priceGraph(const core::StepGraph& graph, const core::Model& model, const core::Cluster& cluster,
                                const PriceKnobs& knobs = {});

/// The formula of one op's price with the numbers put in, and where they come from; several lines.
[[nodiscard]] std::string explainPrice(const core::StepGraph& graph, const core::Model& model,
                                       const core::Cluster& cluster, const PriceKnobs& knobs, core::OpId op);

/// FLOPs of one step of the whole job: matrix products and attention, forward and backward, of all micro-batches of all
/// replicas. No recomputation: of the five products of a fused attention backward, four count. Attention is not
/// discounted for causality.
[[nodiscard]] double modelFlops(const core::StepGraph& graph, const core::Model& model);

/// Model FLOPs utilisation: modelFlops / (step x ranks x dense peak of the compute dtype). 0 for an empty step.
[[nodiscard]] double modelFlopsUtilisation(const core::StepGraph& graph, const core::Model& model,
                                           const core::Cluster& cluster, core::Duration step);

/// Seconds that layer `layer` takes forward and backward on one GPU, one micro-batch, compiled or not: the weights of a
/// split by time.
[[nodiscard]] std::vector<double> layerSeconds(const core::Model& model, const core::Cluster& cluster,
                                               const PriceKnobs& knobs = {}, bool compiled = false);

/// What a rank's memory holds besides the graph's blocks.
struct DeviceReserve {
    core::Bytes context;        ///< CUDA context, kernels, libraries
    core::Bytes communication;  ///< NCCL's buffers, all communicators of the class
    core::Bytes usable;         ///< what a framework sees of the device's memory
    std::vector<std::string> sources;
};
/// By class of `graph`. Whether a step fits is judged on reserved + context + communication <= usable.
[[nodiscard]] std::vector<DeviceReserve> deviceReserves(const core::StepGraph& graph, const core::Cluster& cluster);

}  // namespace shardscope::sim
