#pragma once

// What a plan's timeline says of its ranks: simulated, or measured.

#include <cstdint>
#include <vector>

#include "cli/face/report.h"
#include "core/base/result.h"
#include "core/base/work.h"

namespace shardscope::cli {

/// Fills `plan` from its timeline and its step: classes (a row of the timeline each, with its `memory`), sums, causes,
/// throughput. `plan.model` may be null: then tokens are not counted. Errors: Cancelled.
[[nodiscard]] core::Result<void> describeRows(PlanReport& plan, std::vector<MemoryVerdict> memory,
                                              std::int64_t globalBatch, const core::Work& work);

}  // namespace shardscope::cli
