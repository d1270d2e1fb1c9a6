#pragma once

// Random scenarios over the whole space of plans: every key of the scenario's table, with values of every kind. Keys
// that are added to the table take part without a change here.

#include <cstdint>
#include <string>
#include <vector>

#include "core/base/result.h"
#include "core/scenario/resolve.h"

namespace shardscope::tests {

/// One key with its value as it stands in a scenario file (TOML).
struct Setting {
    std::string key, value;
    friend bool operator==(const Setting&, const Setting&) = default;
};
using Settings = std::vector<Setting>;

/// The same for the same seed. Sizes are small (a scenario is checked in milliseconds), degrees mostly fit together,
/// and now and then something is absurd.
[[nodiscard]] Settings drawSettings(std::uint64_t seed);

/// Errors: a value that its key does not take.
[[nodiscard]] core::Result<core::Scenario> scenarioOf(const Settings& settings);

/// The model and hardware that the scenario names. `model.path` is relative to the repository; "hf_models.json#ID" is
/// the configuration of that id in tests/data/hf_models.json.
[[nodiscard]] core::Result<core::ScenarioInputs> inputsOf(const core::Scenario& scenario);

}  // namespace shardscope::tests
