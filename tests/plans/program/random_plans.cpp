// Random scenarios over the whole space of plans, each refused with a reason or simulated and checked; what fails is
// shrunk and printed as a scenario file.
//
//   random_plans [--count N] [--seed S] [--jobs J]     seeds S, S + 1, ...; 10,000 from 1 on all processors
//   random_plans --only SEED                           one scenario: the file, and what becomes of it
//   random_plans --refusals [--count N] [--seed S]     why scenarios are refused, the most frequent first

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <map>
#include <string>
#include <string_view>
#include <thread>

#include "tests/plans/support/apart.h"
#include "tests/plans/support/shrink.h"

using namespace shardscope::tests;

namespace {

void showBroken(std::uint64_t seed) {
    const Settings settings = drawSettings(seed);
    const Verdict verdict = checkApart(settings, takesMore(seed));
    if (!verdict.broken) {
        fmt::print("seed {}: it held when it was looked at again\n", seed);
        return;
    }
    const auto fails = [&](const Settings& candidate) {
        const Verdict other = checkApart(candidate, takesMore(seed));
        return other.broken && other.broken->property == verdict.broken->property;
    };
    const Settings small = shrink(settings, fails);
    const Verdict last = checkApart(small, takesMore(seed));
    fmt::print("\nseed {}: does not hold: {}\n  {}\nthe smallest scenario found for which it does not:\n\n{}\n", seed,
               verdict.broken->property, last.broken ? last.broken->detail : verdict.broken->detail,
               scenarioText(small));
}

int showOne(std::uint64_t seed) {
    const Settings settings = drawSettings(seed);
    const Verdict verdict = checkApart(settings, true);
    fmt::print("{}\n", scenarioText(settings));
    if (verdict.broken)
        showBroken(seed);
    else
        fmt::print("{}\n", verdict.refused ? "refused: " + verdict.refusal : "holds");
    return verdict.broken ? 1 : 0;
}

int showRefusals(std::uint64_t first, std::int64_t count) {
    std::map<std::string, std::int64_t> reasons;
    for (std::uint64_t seed = first; seed < first + static_cast<std::uint64_t>(count); ++seed) {
        const Verdict verdict = checkApart(drawSettings(seed), false);
        if (!verdict.refused) continue;
        std::string reason = verdict.refusal.substr(0, verdict.refusal.find('\n'));
        for (char& c : reason)
            if (c >= '0' && c <= '9') c = '#';
        ++reasons[reason];
    }
    std::vector<std::pair<std::int64_t, std::string>> ordered;
    for (const auto& [reason, times] : reasons) ordered.emplace_back(times, reason);
    std::sort(ordered.rbegin(), ordered.rend());
    for (const auto& [times, reason] : ordered) fmt::print("{:>6}  {}\n", times, reason);
    return 0;
}

int usage() {
    fmt::print(stderr, "usage: random_plans [--count N] [--seed S] [--jobs J] [--only SEED] [--refusals]\n");
    return 2;
}

}  // namespace

int main(int argc, char** argv) {
    std::uint64_t seed = 1, only = 0;
    std::int64_t count = 10'000;
    int jobs = static_cast<int>(std::max(1u, std::thread::hardware_concurrency()));
    bool isOne = false, refusals = false;
    for (int i = 1; i < argc; ++i) {
        const std::string_view word = argv[i];
        if (word == "--refusals") {
            refusals = true;
            continue;
        }
        char* end = nullptr;
        const std::uint64_t value = i + 1 < argc ? std::strtoull(argv[i + 1], &end, 10) : 0;
        if (end == nullptr || *end != '\0' || end == argv[i + 1]) return usage();
        ++i;
        if (word == "--count")
            count = static_cast<std::int64_t>(std::min<std::uint64_t>(value, 1'000'000'000));
        else if (word == "--seed")
            seed = value;
        else if (word == "--jobs")
            jobs = static_cast<int>(std::min<std::uint64_t>(value, 64));
        else if (word == "--only")
            only = value, isOne = true;
        else
            return usage();
    }
    if (isOne) return showOne(only);
    if (refusals) return showRefusals(seed, count);
    const auto began = std::chrono::steady_clock::now();
    const Sweep sweep = checkSeeds(seed, count, jobs);
    const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
    for (const std::uint64_t broken : sweep.broken) showBroken(broken);
    std::int64_t simulated = 0;
    std::string byStrategy;
    for (const auto& [strategy, times] : sweep.simulated) {
        simulated += times;
        byStrategy += fmt::format("{}{} {}", byStrategy.empty() ? "" : ", ", strategy, times);
    }
    fmt::print("{} scenarios from seed {} in {:.1f} s: {} simulated ({}), {} refused, {} broken\n", sweep.scenarios,
               seed, seconds, simulated, byStrategy, sweep.refused, sweep.broken.empty() ? 0 : sweep.broken.size());
    if (!sweep.broken.empty()) return 1;
    // Scenarios that are all refused would hold as well.
    if (simulated * 2 < sweep.scenarios) {
        fmt::print("fewer than half of the scenarios are simulated: the drawing has gone wrong\n");
        return 1;
    }
    return 0;
}
