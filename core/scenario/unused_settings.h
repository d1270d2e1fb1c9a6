#pragma once

// Settings that were given and change nothing: no plan of the answer has a use for them.

#include <span>
#include <string>
#include <vector>

#include "core/scenario/resolve.h"

namespace shardscope::core {

/// Paths of keys that were given another value than their default and that none of the cases uses, in the order of the
/// keys. Of [model] attention, rms_norm, dropout and kernel_rules are looked at, of [precision] the reduce dtype.
[[nodiscard]] std::vector<std::string> unusedSettings(const Scenario& scenario, const ModelSpec& model,
                                                      std::span<const Case> cases);

}  // namespace shardscope::core
