#include "runtime/calibrate/processor_time.h"

#include <gtest/gtest.h>

#include <chrono>
#include <thread>

namespace shardscope::runtime {
namespace {

TEST(ProcessorTime, GrowsWithWorkAndNotWithSleep) {
    const std::int64_t before = threadTime();
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    const std::int64_t asleep = threadTime() - before;
    EXPECT_LT(asleep, 25'000'000);
    // It goes on at all: else this does not end.
    while (threadTime() - before < asleep + 1'000'000) {
    }
}

TEST(ProcessorTime, OfAProcessIsThatOfAllItsThreads) {
    const std::int64_t process = processTime(), own = threadTime();
    std::thread other([] {
        const std::int64_t begin = threadTime();
        while (threadTime() - begin < 5'000'000) {
        }
    });
    other.join();
    EXPECT_GE(processTime() - process, 5'000'000);
    EXPECT_LT(threadTime() - own, processTime() - process);
}

}  // namespace
}  // namespace shardscope::runtime
