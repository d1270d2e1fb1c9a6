#include "core/base/nearest.h"

#include <gtest/gtest.h>

#include <vector>

#include "core/scenario/builtin_models.h"

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

TEST(Alike, AreNamesThatShareAPart) {
    const std::vector<std::string> known{"h100-pcie", "h100-sxm", "a100-sxm-40gb", "l4", "t4"};
    EXPECT_EQ(alike("nvidia-H100", known), (std::vector<std::string>{"h100-pcie", "h100-sxm"}));
    EXPECT_EQ(alike("sxm.h100", known), (std::vector<std::string>{"h100-sxm", "h100-pcie", "a100-sxm-40gb"}))
        << "what shares most comes first";
    EXPECT_TRUE(alike("b200", known).empty());
    EXPECT_TRUE(alike("", known).empty());
    EXPECT_TRUE(alike("l4", known).empty()) << "too short to mean anything by itself";
    EXPECT_EQ(alike("layer", std::vector<std::string>(20, "layers")).size(), 5U);
    EXPECT_EQ(alikeInWords("nvidia-h100", known), "names like it: h100-pcie, h100-sxm");
    EXPECT_EQ(alikeInWords("b200", known), "");
}

TEST(Alike, ModelsOfAFamilyAreNamed) {
    const auto unknown = builtinModel("llama", "");
    ASSERT_FALSE(unknown.has_value());
    EXPECT_NE(unknown.error().hint.find("llama-"), std::string::npos) << unknown.error().hint;
}

}  // namespace
}  // namespace shardscope::core
