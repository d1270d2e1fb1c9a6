#pragma once

// Scenarios checked in processes of their own, so that a crash or a loop without end is an answer too.

#include <cstdint>
#include <string>
#include <vector>

#include "tests/plans/support/scenario_checks.h"

namespace shardscope::tests {

inline constexpr unsigned kMostSeconds = 20;

/// One scenario. A process that dies, or takes longer than kMostSeconds, breaks a property of that name.
[[nodiscard]] Verdict checkApart(const Settings& settings, bool more);

struct Sweep {
    std::int64_t scenarios = 0, refused = 0;
    std::vector<std::pair<std::string, std::int64_t>> simulated;  ///< by strategy
    std::vector<std::uint64_t> broken;                            ///< seeds, a few of the first
};

/// Seeds [first, first + count) over `jobs` processes; every eighth scenario with what takes several simulations.
[[nodiscard]] Sweep checkSeeds(std::uint64_t first, std::int64_t count, int jobs);
[[nodiscard]] bool takesMore(std::uint64_t seed);

}  // namespace shardscope::tests
