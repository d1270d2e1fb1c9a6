#pragma once

#include "core/base/result.h"
#include "core/plan/plan.h"

namespace shardscope::runtime {

/// Errors: what plans say and no device executes (8-bit AdamW).
[[nodiscard]] core::Result<void> checkRunnable(const core::Plan& plan);

}  // namespace shardscope::runtime
