// DDP's buckets, as PyTorch 2.15 forms them: small cases of ddp_buckets.json by hand.

#include "core/plan/ddp_buckets.h"

#include <gtest/gtest.h>

#include <numeric>

namespace shardscope::core {
namespace {

using Lists = std::vector<std::vector<std::uint32_t>>;

Lists listsOf(const std::vector<DdpBucket>& buckets) {
    Lists lists;
    for (const DdpBucket& bucket : buckets) lists.push_back(bucket.gradients);
    return lists;
}

std::vector<DdpGradient> gradientsOf(const std::vector<std::int64_t>& bytes) {
    std::vector<DdpGradient> gradients;
    for (const std::int64_t b : bytes) gradients.push_back({{b}, DType::F32});
    return gradients;
}

std::vector<std::uint32_t> reversed(std::size_t n) {
    std::vector<std::uint32_t> order(n);
    std::iota(order.rbegin(), order.rend(), 0u);
    return order;
}

// ddp05 (model huge_middle): the huge gradient shares its bucket with what was pending before it.
TEST(DdpBuckets, OvershootTheirCap) {
    const auto gradients = gradientsOf({16384, 256, 30720000, 480000, 3840000, 32, 256, 32});
    EXPECT_EQ(listsOf(initialBuckets(gradients, {})), (Lists{{0, 1, 2, 3, 4, 5, 6, 7}}));
    const auto rebuilt = rebuiltBuckets(gradients, {}, reversed(8));
    EXPECT_EQ(listsOf(rebuilt), (Lists{{7, 6, 5, 4}, {3, 2}, {1, 0}}));
    EXPECT_EQ(rebuilt[1].bytes.value, 31200000);
}

// ddp09: a dtype each has its buckets, and what never filled comes last.
TEST(DdpBuckets, HoldOneDtype) {
    auto gradients = gradientsOf({524288, 2048, 1048576, 2048, 1048576, 1024, 32768, 64});
    for (const std::size_t i : {2u, 3u, 4u, 5u}) gradients[i].dtype = DType::BF16;
    EXPECT_EQ(listsOf(initialBuckets(gradients, {})), (Lists{{2, 3, 4, 5}, {0, 1, 6, 7}}));
    EXPECT_EQ(listsOf(rebuiltBuckets(gradients, {}, reversed(8))), (Lists{{5, 4}, {3, 2}, {7, 6, 1, 0}}));
}

// ddp24 and ddp14 (model stack_uneven, find_unused_parameters): the order of definition, the last bucket first, and
// that for good.
TEST(DdpBuckets, FollowTheDefinitionWhereUnusedParametersAreLookedFor) {
    const auto gradients = gradientsOf({1200000, 12000, 2400000, 800, 2000000, 10000, 25000000, 10000, 500000, 200,
                                        180000, 3600, 3240000, 3600, 36000, 40});
    DdpKnobs knobs;
    knobs.findUnusedParameters = true;
    const auto initial = initialBuckets(gradients, knobs);
    EXPECT_EQ(listsOf(initial), (Lists{{7, 8, 9, 10, 11, 12, 13, 14, 15}, {1, 2, 3, 4, 5, 6}, {0}}));
    EXPECT_EQ(listsOf(rebuiltBuckets(gradients, knobs, reversed(16))), listsOf(initial));
    EXPECT_EQ(lastIterationOfInitialBuckets(knobs), 0);
    knobs.staticGraph = true;
    EXPECT_EQ(initialBuckets(gradients, knobs).size(), 1u);
    EXPECT_EQ(lastIterationOfInitialBuckets(knobs), 2);
}

// ddp20 and ddp26 (model stack12_512): an explicit cap counts for the first bucket too; a list gives one cap a bucket,
// at the start as well.
TEST(DdpBuckets, TakeExplicitCaps) {
    std::vector<std::int64_t> bytes;
    for (int i = 0; i < 12; ++i) bytes.insert(bytes.end(), {1048576, 2048});
    const auto gradients = gradientsOf(bytes);
    DdpKnobs one;
    one.bucketCap = 1;
    EXPECT_EQ(initialBuckets(gradients, one).size(), 1u);
    EXPECT_EQ(rebuiltBuckets(gradients, one, reversed(24)).size(), 12u);
    DdpKnobs list;
    list.bucketCapList = {1, 2, 4, 8};
    const auto sizes = [](const std::vector<DdpBucket>& buckets) {
        std::vector<std::int64_t> all;
        for (const DdpBucket& bucket : buckets) all.push_back(bucket.bytes.value);
        return all;
    };
    EXPECT_EQ(sizes(initialBuckets(gradients, list)), (std::vector<std::int64_t>{5255168, 4202496, 2101248, 1048576}));
    EXPECT_EQ(sizes(rebuiltBuckets(gradients, list, reversed(24))),
              (std::vector<std::int64_t>{1050624, 2101248, 4202496, 5253120}));
}

}  // namespace
}  // namespace shardscope::core
