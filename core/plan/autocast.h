#pragma once

#include "core/base/result.h"
#include "core/plan/plan.h"

namespace shardscope::core {

/// Whether torch.autocast fits these number formats. Errors: parameters that are not float32, or products in a format
/// that is no shorter.
[[nodiscard]] Result<void> checkAutocast(const Precision& precision);

}  // namespace shardscope::core
