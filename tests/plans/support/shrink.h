#pragma once

// From a scenario that fails to a small one that still does.

#include <functional>

#include "tests/plans/support/random_scenario.h"

namespace shardscope::tests {

/// Drops settings one at a time, halves numbers, shortens lists and takes a small model, as long as `fails` says true;
/// until nothing more can go. `fails(settings)` is taken for true.
[[nodiscard]] Settings shrink(Settings settings, const std::function<bool(const Settings&)>& fails);

/// The scenario file, with a comment where the model is no file of its own; what cannot be read is listed key by key.
[[nodiscard]] std::string scenarioText(const Settings& settings);

}  // namespace shardscope::tests
