#include "cli/face/layer_times.h"

#include "sim/price/price_graph.h"

namespace shardscope::cli {

core::Plan withLayerTimes(core::Plan plan, const core::Model& model, const core::Cluster& cluster,
                          const sim::PriceKnobs& knobs) {
    if (plan.schedule == core::StageSchedule::Naive && plan.split == core::StageSplit::ByTime)
        plan.layerWeights = sim::layerSeconds(model, cluster, knobs, plan.compiled);
    return plan;
}

}  // namespace shardscope::cli
