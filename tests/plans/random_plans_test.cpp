// Properties over the whole space of plans: what `random_plans` checks ten thousand times, a few times here; and that
// its drawing and shrinking do what they say.

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "core/scenario/keys.h"
#include "tests/plans/support/apart.h"
#include "tests/plans/support/shrink.h"

namespace shardscope::tests {
namespace {

bool has(const Settings& settings, std::string_view key) {
    return std::any_of(settings.begin(), settings.end(), [&](const Setting& s) { return s.key == key; });
}

TEST(RandomPlans, HoldOrAreRefusedWithAReason) {
    const Sweep sweep = checkSeeds(1, 400, 2);
    for (const std::uint64_t seed : sweep.broken) {
        const Verdict verdict = checkApart(drawSettings(seed), takesMore(seed));
        ADD_FAILURE() << "seed " << seed << ": " << (verdict.broken ? verdict.broken->property : "") << "\n"
                      << (verdict.broken ? verdict.broken->detail : "") << "\n"
                      << scenarioText(drawSettings(seed)) << "\nrandom_plans --only " << seed << " shrinks it";
    }
    std::int64_t simulated = 0;
    for (const auto& [strategy, count] : sweep.simulated) {
        EXPECT_GT(count, 10) << strategy;
        simulated += count;
    }
    EXPECT_GT(simulated, 200);
    EXPECT_EQ(simulated + sweep.refused + static_cast<std::int64_t>(sweep.broken.size()), 400);
}

TEST(RandomPlans, AreTheSameForTheSameSeed) {
    EXPECT_EQ(drawSettings(7), drawSettings(7));
    EXPECT_NE(drawSettings(7), drawSettings(8));
}

TEST(RandomPlans, DrawEveryKeyAndEveryWordOfIt) {
    std::set<std::string> keys, words;
    for (std::uint64_t seed = 0; seed < 4000; ++seed)
        for (const Setting& setting : drawSettings(seed)) {
            keys.insert(setting.key);
            words.insert(setting.key + "=" + setting.value);
        }
    for (const core::Key& key : core::scenarioKeys()) {
        // Files of the user's, and sizes of models that none of those drawn has.
        if (key.path == "cluster.path" || key.path == "model.image_size" || key.path == "model.channels" ||
            key.path == "model.head_dim")
            continue;
        EXPECT_TRUE(keys.contains(std::string(key.path))) << key.path;
        for (const std::string_view word : key.words)
            EXPECT_TRUE(words.contains(std::string(key.path) + "=\"" + std::string(word) + '"'))
                << key.path << " " << word;
    }
}

TEST(RandomPlans, ShrinkToWhatMatters) {
    const auto fails = [](const Settings& settings) {
        const auto scenario = scenarioOf(settings);
        return scenario && scenario->training.localBatchSize >= 3 && scenario->training.checkpoint == "full";
    };
    for (std::uint64_t seed = 0, found = 0; found < 5; ++seed) {
        Settings settings = drawSettings(seed);
        if (has(settings, "training.activation_checkpoint")) continue;
        settings.push_back({"training.activation_checkpoint", "\"full\""});
        if (!fails(settings)) continue;
        ++found;
        const Settings expected = {{"training.local_batch_size", "3"}, {"training.activation_checkpoint", "\"full\""}};
        EXPECT_EQ(shrink(settings, fails), expected) << "seed " << seed;
    }
}

TEST(RandomPlans, ShrinkListsToTheNameThatMatters) {
    const auto fails = [](const Settings& settings) {
        const auto scenario = scenarioOf(settings);
        return scenario && !scenario->training.frozen.empty() &&
               std::any_of(scenario->training.frozen.begin(), scenario->training.frozen.end(),
                           [](const std::vector<std::string>& names) { return names.front() == "b"; });
    };
    const Settings expected = {{"training.frozen", "[\"b\"]"}};
    EXPECT_EQ(shrink({{"title", "\"x\""}, {"training.frozen", "[\"a\", \"b\", \"c\"]"}}, fails), expected);
}

TEST(RandomPlans, ARefusalIsNoFailureAndAFaultIs) {
    const Verdict refused = checkApart({{"model.name", "\"no_such_model\""}}, false);
    EXPECT_TRUE(refused.refused);
    EXPECT_FALSE(refused.broken);
    const Verdict held = checkApart({{"model.name", "\"vit_tiny\""}, {"parallelism.strategy", "\"single\""}}, true);
    EXPECT_FALSE(held.refused) << held.refusal;
    EXPECT_FALSE(held.broken);
}

}  // namespace
}  // namespace shardscope::tests
