#include "sim/memory/caching_allocator.h"

#include <gtest/gtest.h>

#include <random>
#include <tuple>
#include <vector>

namespace shardscope::sim {
namespace {

constexpr std::int64_t kMiB = std::int64_t{1} << 20;

// Worked examples of PyTorch's notes on the allocator (cost model facts 7.1): eight 16 MiB tensors, freed, then four of
// 32 MiB reserve 256 MiB with classic segments; in the reverse order 128 MiB.
TEST(CachingAllocator, LargeSegmentsDoNotMergeAcrossEachOther) {
    CachingAllocator allocator;
    std::vector<CachingAllocator::Handle> handles;
    for (int i = 0; i < 8; ++i) handles.push_back(allocator.allocate({16 * kMiB}, 0));
    for (const auto handle : handles) allocator.release(handle);
    for (int i = 0; i < 4; ++i) handles[static_cast<std::size_t>(i)] = allocator.allocate({32 * kMiB}, 0);
    EXPECT_EQ(allocator.reserved().value, 256 * kMiB);
}

TEST(CachingAllocator, LargerSegmentsServeSmallerTensorsLater) {
    CachingAllocator allocator;
    std::vector<CachingAllocator::Handle> handles;
    for (int i = 0; i < 4; ++i) handles.push_back(allocator.allocate({32 * kMiB}, 0));
    for (const auto handle : handles) allocator.release(handle);
    for (int i = 0; i < 8; ++i) std::ignore = allocator.allocate({16 * kMiB}, 0);
    EXPECT_EQ(allocator.reserved().value, 128 * kMiB);
}

// Same source: a 2 MiB and then a 0.5 MiB tensor reserve 22 MiB, two pools.
TEST(CachingAllocator, SmallAndLargeRequestsHavePoolsOfTheirOwn) {
    CachingAllocator allocator;
    std::ignore = allocator.allocate({2 * kMiB}, 0);
    std::ignore = allocator.allocate({kMiB / 2}, 0);
    EXPECT_EQ(allocator.reserved().value, 22 * kMiB);
}

TEST(CachingAllocator, StreamsDoNotShareWhatOneOfThemFreed) {
    CachingAllocator allocator;
    allocator.release(allocator.allocate({64 * kMiB}, 0));
    std::ignore = allocator.allocate({64 * kMiB}, 1);
    EXPECT_EQ(allocator.reserved().value, 128 * kMiB);
    std::ignore = allocator.allocate({64 * kMiB}, 0);
    EXPECT_EQ(allocator.reserved().value, 128 * kMiB);
}

TEST(CachingAllocator, RequestsAreRoundedTo512Bytes) {
    CachingAllocator allocator;
    const auto handle = allocator.allocate({1}, 0);
    EXPECT_EQ(allocator.allocated().value, 512);
    allocator.release(handle);
    EXPECT_EQ(allocator.allocated().value, 0);
}

TEST(CachingAllocator, NeverReservesLessThanItAllocatedAndReusesEverything) {
    std::mt19937 random(7);
    CachingAllocator allocator;
    std::vector<CachingAllocator::Handle> live;
    for (int i = 0; i < 5000; ++i) {
        if (live.empty() || random() % 2 == 0) {
            live.push_back(allocator.allocate({static_cast<std::int64_t>(random() % (24 * kMiB))},
                                              static_cast<std::uint8_t>(random() % 3)));
        } else {
            const std::size_t which = random() % live.size();
            allocator.release(live[which]);
            live[which] = live.back();
            live.pop_back();
        }
        ASSERT_GE(allocator.reserved(), allocator.allocated());
    }
    for (const auto handle : live) allocator.release(handle);
    EXPECT_EQ(allocator.allocated().value, 0);
    const core::Bytes before = allocator.reserved();
    std::ignore = allocator.allocate({20 * kMiB}, 0);  // whole free segments merged again serve it
    EXPECT_EQ(allocator.reserved(), before);
}

}  // namespace
}  // namespace shardscope::sim
