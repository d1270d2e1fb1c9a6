#include "core/base/nearest.h"

#include <gtest/gtest.h>

#include <vector>

namespace shardscope::core {
namespace {

TEST(Nearest, CountsEditsAndSwaps) {
    EXPECT_EQ(editDistance("", "abc"), 3u);
    EXPECT_EQ(editDistance("shard", "shard"), 0u);
    EXPECT_EQ(editDistance("sahrd", "shard"), 1u);
    EXPECT_EQ(editDistance("kitten", "sitting"), 3u);
}

TEST(Nearest, OffersTheClosestAndNothingFarAway) {
    const std::vector<std::string> known{"model.layers", "model.heads", "model.hidden"};
    EXPECT_EQ(nearest("model.layer", known), "model.layers");
    EXPECT_EQ(nearest("model.haeds", known), "model.heads");
    EXPECT_EQ(nearest("completely.different.thing", known), "");
    EXPECT_EQ(nearest("ab", std::vector<std::string>{"xy"}), "");
}

}  // namespace
}  // namespace shardscope::core
