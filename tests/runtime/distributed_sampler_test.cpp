// Which samples a rank sees, against lists recorded from PyTorch 2.15's DistributedSampler and randperm.

#include "runtime/data/distributed_sampler.h"

#include <gtest/gtest.h>

#include <set>

#include "runtime/data/random_order.h"
#include "runtime/data/sample_order.h"

namespace shardscope::runtime {
namespace {

using Lists = std::vector<std::vector<std::int64_t>>;

struct Recorded {
    std::int64_t samples, ranks;
    bool shuffle, dropLast;
    std::uint64_t seed;
    std::int64_t epoch;
    Lists lists;
};

Lists listsOf(const Recorded& one) {
    DistributedSampler sampler(one.samples, one.ranks, {one.shuffle, one.dropLast, one.seed});
    sampler.setEpoch(one.epoch);
    Lists lists;
    for (std::int64_t rank = 0; rank < one.ranks; ++rank) lists.push_back(sampler.indicesOf(rank));
    return lists;
}

TEST(DistributedSampler, GivesEveryRankPyTorchsIndices) {
    const Recorded cases[] = {
        {1, 1, true, false, 0, 0, {{0}}},
        {3, 8, true, false, 0, 1, {{1}, {2}, {0}, {1}, {2}, {0}, {1}, {2}}},
        {3, 8, true, true, 0, 1, {{}, {}, {}, {}, {}, {}, {}, {}}},
        {8, 8, true, true, 0, 0, {{4}, {0}, {7}, {3}, {2}, {5}, {1}, {6}}},
        {10, 4, true, false, 0, 0, {{4, 3, 6}, {1, 9, 2}, {7, 0, 4}, {5, 8, 1}}},
        {10, 4, true, false, 0, 1, {{5, 0, 7}, {6, 8, 4}, {1, 9, 5}, {2, 3, 6}}},
        {10, 4, true, true, 0, 0, {{4, 3}, {1, 9}, {7, 0}, {5, 8}}},
        {10, 4, false, false, 0, 0, {{0, 4, 8}, {1, 5, 9}, {2, 6, 0}, {3, 7, 1}}},
        {10, 4, false, true, 0, 3, {{0, 4}, {1, 5}, {2, 6}, {3, 7}}},
        {2, 7, false, false, 0, 0, {{0}, {1}, {0}, {1}, {0}, {1}, {0}}},
        {5, 4, true, false, 1234, 0, {{0, 3}, {4, 0}, {2, 4}, {1, 2}}},
        {10, 6, true, false, 99999, 0, {{7, 9}, {8, 1}, {6, 3}, {2, 5}, {4, 7}, {0, 8}}},
        {10, 8, true, false, 42, 2, {{2, 5}, {6, 0}, {3, 2}, {8, 6}, {7, 3}, {9, 8}, {1, 7}, {4, 9}}},
        {13, 4, true, true, 1234, 1, {{4, 3, 9}, {11, 0, 8}, {6, 7, 5}, {12, 2, 1}}},
    };
    for (const Recorded& one : cases)
        EXPECT_EQ(listsOf(one), one.lists) << one.samples << " over " << one.ranks << ", seed " << one.seed;
}

TEST(DistributedSampler, RepeatsTheOrderWhereTheEpochIsNotSet) {
    DistributedSampler sampler(10, 2, {});
    const Lists first = {sampler.indicesOf(0), sampler.indicesOf(1)};
    EXPECT_EQ(first, (Lists{{4, 7, 3, 0, 6}, {1, 5, 9, 8, 2}}));
    EXPECT_EQ((Lists{sampler.indicesOf(0), sampler.indicesOf(1)}), first);
    sampler.setEpoch(1);
    EXPECT_NE(sampler.indicesOf(0), first[0]);
}

TEST(DistributedSampler, GivesEverySampleOnceAndFewTwice) {
    for (const bool dropLast : {false, true}) {
        const std::int64_t ranks = 7;
        DistributedSampler sampler(60000, ranks, {true, dropLast, 3});
        EXPECT_EQ(sampler.samplesOfRank(), dropLast ? 8571 : 8572);  // framework semantics 7.3
        std::multiset<std::int64_t> seen;
        for (std::int64_t rank = 0; rank < ranks; ++rank)
            for (const std::int64_t index : sampler.indicesOf(rank)) seen.insert(index);
        const std::set<std::int64_t> distinct(seen.begin(), seen.end());
        EXPECT_EQ(distinct.size(), dropLast ? 59997u : 60000u);
        EXPECT_EQ(seen.size() - distinct.size(), dropLast ? 0u : 4u);
        EXPECT_GE(*distinct.begin(), 0);
        EXPECT_LT(*distinct.rbegin(), 60000);
    }
}

TEST(RandomPermutation, IsPyTorchs) {
    using Order = std::vector<std::int64_t>;
    EXPECT_EQ(randomPermutation(0, 0), Order{});
    EXPECT_EQ(randomPermutation(10, 0), (Order{4, 1, 7, 5, 3, 9, 0, 8, 6, 2}));
    EXPECT_EQ(randomPermutation(10, 1), (Order{5, 6, 1, 2, 0, 8, 9, 3, 7, 4}));
    EXPECT_EQ(randomPermutation(10, 42), (Order{2, 6, 1, 8, 4, 5, 0, 9, 3, 7}));
    // The engine takes the low 32 bits; a negative seed is one modulo 2^64.
    EXPECT_EQ(randomPermutation(12, 4294967301), (Order{11, 0, 9, 6, 10, 3, 4, 5, 8, 7, 1, 2}));
    EXPECT_EQ(randomPermutation(12, static_cast<std::uint64_t>(-7)), (Order{4, 6, 8, 10, 0, 3, 1, 9, 5, 11, 7, 2}));
    // A second call goes on where the first one ended.
    std::mt19937 engine(11);
    EXPECT_EQ(randomPermutation(10, engine), (Order{1, 7, 2, 0, 9, 3, 5, 6, 4, 8}));
    EXPECT_EQ(randomPermutation(10, engine), (Order{7, 8, 2, 1, 3, 9, 0, 5, 6, 4}));
    const Order large = randomPermutation(60000, 0);
    std::uint64_t checksum = 0;
    for (const std::int64_t index : large) checksum = checksum * 31 + static_cast<std::uint64_t>(index);
    EXPECT_EQ(checksum, 3799782375284089614u);
}

TEST(SampleOrder, CutsEpochsIntoStepsAndShufflesEachAnew) {
    const auto all = [](bool setEpoch, std::int64_t step) {
        std::vector<std::int64_t> indices;
        for (std::int64_t rank = 0; rank < 2; ++rank) {
            auto order = SampleOrder::create(10, {2, rank, 2}, setEpoch);
            EXPECT_EQ(order->stepsOfEpoch(), 2) << "five samples a rank";
            const auto own = order->indicesOf(step);
            indices.insert(indices.end(), own.begin(), own.end());
        }
        return indices;
    };
    // The lists of two ranks, seed 0: 4 7 3 0 6 and 1 5 9 8 2 in epoch 0.
    EXPECT_EQ(all(true, 0), (std::vector<std::int64_t>{4, 7, 1, 5}));
    EXPECT_EQ(all(true, 1), (std::vector<std::int64_t>{3, 0, 9, 8}));
    EXPECT_NE(all(true, 2), all(true, 0));
    EXPECT_EQ(all(false, 2), all(false, 0)) << "nobody told the sampler";
    EXPECT_EQ(all(false, 3), all(false, 1));
}

TEST(SampleOrder, HasTheSamplesOfAStepWhateverTheirRanks) {
    const auto set = [](std::int64_t ranks, std::int64_t step) {
        std::multiset<std::int64_t> indices;
        for (std::int64_t rank = 0; rank < ranks; ++rank) {
            auto order = SampleOrder::create(64, {ranks, rank, 8 / ranks}, true);
            const auto own = order->indicesOf(step);
            indices.insert(own.begin(), own.end());
        }
        return indices;
    };
    for (const std::int64_t step : {0, 3, 11})
        for (const std::int64_t ranks : {2, 4, 8}) EXPECT_EQ(set(ranks, step), set(1, step)) << "step " << step;
}

TEST(SampleOrder, RefusesFewerSamplesThanAStepTakes) {
    const auto order = SampleOrder::create(10, {2, 0, 6}, true);
    ASSERT_FALSE(order);
    EXPECT_EQ(order.error().message, "10 samples over 2 ranks, 5 a rank; one step of a rank takes 6");
}

}  // namespace
}  // namespace shardscope::runtime
