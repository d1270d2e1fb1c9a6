// Random scenarios (tests/plans) with asserts and sanitizers on: the first eight bytes are a seed.

#include <fmt/format.h>

#include <cstdint>
#include <cstdlib>
#include <cstring>

#include "tests/plans/support/scenario_checks.h"
#include "tests/plans/support/shrink.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace shardscope::tests;
    std::uint64_t seed = 0;
    std::memcpy(&seed, data, size < sizeof seed ? size : sizeof seed);
    const Settings settings = drawSettings(seed);
    const Verdict verdict = checkScenario(settings, seed % 8 == 0);
    if (!verdict.broken) return 0;
    fmt::print(stderr, "seed {}: does not hold: {}\n{}\n{}\n", seed, verdict.broken->property, verdict.broken->detail,
               scenarioText(settings));
    std::abort();
}
