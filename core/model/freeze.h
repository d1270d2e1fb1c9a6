#pragma once

// Parameters that are not trained (requires_grad false): autograd makes no gradient of them, keeps nothing for one, and
// does not run backward below the first parameter that is trained.

#include <string>
#include <vector>

#include "core/base/result.h"
#include "core/model/model.h"

namespace shardscope::core {

/// Freezes the parameters of the modules named (and all modules below them), or single parameters, by full name. Layers
/// whose parameters differ in this get programs of their own, with the backward kernels that are still needed. Errors:
/// a name that is neither a module nor a parameter, nothing left to train.
[[nodiscard]] Result<void> freeze(Model& model, const std::vector<std::string>& names);

}  // namespace shardscope::core
