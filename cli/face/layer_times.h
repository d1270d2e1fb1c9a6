#pragma once

// What a split by time needs to know of the hardware.

#include "core/cluster/cluster.h"
#include "core/model/model.h"
#include "core/plan/plan.h"
#include "sim/price/price_knobs.h"

namespace shardscope::cli {

/// The plan with the time of each layer on this hardware, if it cuts its stages by time; any other plan as it is. Every
/// command builds its graph from this, so that all of them speak of one graph.
[[nodiscard]] core::Plan withLayerTimes(core::Plan plan, const core::Model& model, const core::Cluster& cluster,
                                        const sim::PriceKnobs& knobs = {});

}  // namespace shardscope::cli
