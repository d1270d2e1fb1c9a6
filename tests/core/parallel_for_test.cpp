#include "core/base/parallel_for.h"

#include <gtest/gtest.h>

#include <new>

namespace shardscope::core {
namespace {

TEST(ParallelFor, CallsEachOnce) {
    for (const std::size_t count : {std::size_t{0}, std::size_t{1}, std::size_t{2}, std::size_t{1000}}) {
        std::vector<int> calls(count, 0);
        parallelFor(count, [&](std::size_t i) { ++calls[i]; });
        EXPECT_EQ(calls, std::vector<int>(count, 1));
    }
}

TEST(ParallelFor, ThrowsWhatACallThrewOnWhicheverThread) {
    for (std::size_t bad = 0; bad < 8; ++bad)
        EXPECT_THROW(parallelFor(8,
                                 [&](std::size_t i) {
                                     if (i == bad) throw std::bad_alloc();
                                 }),
                     std::bad_alloc);
}

}  // namespace
}  // namespace shardscope::core
