#pragma once

// What must hold for every scenario there can be: it is refused with a message that says why, or its graph, its run,
// its memory and its report hold together.

#include <optional>
#include <string>

#include "tests/plans/support/random_scenario.h"

namespace shardscope::tests {

struct Broken {
    std::string property;  ///< "memory is never negative"
    std::string detail;
    friend bool operator==(const Broken&, const Broken&) = default;
};

struct Verdict {
    bool refused = false;
    std::string refusal;           ///< message
    std::optional<Broken> broken;  ///< the first property that does not hold
};

/// `more`: also what takes several simulations (the same again, two strategies in both orders).
[[nodiscard]] Verdict checkScenario(const Settings& settings, bool more);

}  // namespace shardscope::tests
