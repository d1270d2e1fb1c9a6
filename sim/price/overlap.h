#pragma once

// How much compute slows while a collective of its rank is in flight.

#include <cstdint>

#include "core/cluster/cluster.h"

namespace shardscope::sim {

struct OverlapSlowdown {
    std::int32_t num = 1000, den = 1000;  ///< time grows by num / den
    std::int32_t channels = 0;            ///< multiprocessors that the collective holds
};

/// 1 + c/(P - c) + 0.05 for P multiprocessors of which the collective's channels hold c (cost model facts 5: the
/// default suggested there; published slow-downs are 19 % on average and 40 % at most). c: 24 rings over NVLink, as
/// NCCL sets up on A100 and H100 (1.6), 4 over PCIe.
[[nodiscard]] OverlapSlowdown overlapSlowdownOf(const core::Cluster& cluster);

}  // namespace shardscope::sim
