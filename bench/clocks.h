#pragma once

#include <cstdint>
#include <random>
#include <vector>

#include "sim/run/simulate.h"

namespace shardscope::bench {

/// Start offsets up to 5 ms; with `stragglers` also compute speeds within 2% of nominal.
inline sim::RunOptions randomClocks(std::int64_t ranks, bool stragglers, std::uint64_t seed = 1) {
    std::mt19937_64 random(seed);
    sim::RunOptions options;
    options.offsets.resize(static_cast<std::size_t>(ranks));
    for (auto& offset : options.offsets) offset = static_cast<std::int64_t>(random() % 5'000'000);
    if (!stragglers) return options;
    options.computePpm.resize(static_cast<std::size_t>(ranks));
    for (auto& ppm : options.computePpm) ppm = 980'000 + static_cast<std::int64_t>(random() % 40'000);
    return options;
}

}  // namespace shardscope::bench
