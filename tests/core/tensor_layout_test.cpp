// Strides follow PyTorch's rules: which reshape is a view, how results of element-wise operations lie.

#include "core/model/tensor_layout.h"

#include <gtest/gtest.h>

namespace shardscope::core {
namespace {

TEST(TensorLayout, ContiguousStridesCountFromTheInside) {
    EXPECT_EQ(contiguousStrides({2, 3, 4}), (Strides{12, 4, 1}));
    EXPECT_EQ(contiguousStrides({}), Strides{});
    EXPECT_TRUE(isContiguous({2, 1, 4}, {4, 999, 1}));
    EXPECT_FALSE(isContiguous({2, 3}, {1, 2}));
}

TEST(TensorLayout, DimensionsFoldWhereTheyLieEvenly) {
    EXPECT_EQ(viewStrides({2, 3, 4}, {12, 4, 1}, {6, 4}), (Strides{4, 1}));
    EXPECT_EQ(viewStrides({6, 4}, {4, 1}, {2, 3, 2, 2}), (Strides{12, 4, 2, 1}));
    // [B, heads, S, d] seen in packed [3, S, B, h]: batch and heads fold, as torchvision's unfused attention needs.
    EXPECT_EQ(viewStrides({4, 12, 197, 64}, {768, 64, 3072, 1}, {48, 197, 64}), (Strides{64, 3072, 1}));
    // Seen in [B, S, h] they do not, unless the batch is one.
    EXPECT_EQ(viewStrides({4, 12, 197, 64}, {197 * 768, 64, 768, 1}, {48, 197, 64}), std::nullopt);
    EXPECT_EQ(viewStrides({1, 12, 197, 64}, {197 * 768, 64, 768, 1}, {12, 197, 64}), (Strides{64, 768, 1}));
    EXPECT_EQ(viewStrides({3, 2}, {1, 3}, {6}), std::nullopt);
    EXPECT_EQ(viewStrides({3, 2}, {1, 3}, {3, 1, 2}), (Strides{1, 6, 3}));
    EXPECT_EQ(viewStrides({}, {}, {1, 1}), (Strides{1, 1}));
}

TEST(TensorLayout, DenseResultsKeepTheOrderOfDimensions) {
    EXPECT_EQ(denseStrides({4, 12, 197, 64}, {768, 64, 3072, 1}), (Strides{768, 64, 3072, 1}));
    EXPECT_EQ(denseStrides({2, 3, 5, 7}, {3 * 5 * 21, 7, 3 * 21, 1}), (Strides{105, 7, 21, 1}));
    EXPECT_EQ(denseStrides({2, 3}, {3, 1}), (Strides{3, 1}));
    EXPECT_EQ(denseStrides({2, 3}, {1, 2}), (Strides{1, 2}));
}

}  // namespace
}  // namespace shardscope::core
