#include "runtime/calibrate/processor_time.h"

#include <gtest/gtest.h>

#include <chrono>
#include <thread>

#include "runtime/device/clock.h"

namespace shardscope::runtime {
namespace {

TEST(ProcessorTime, GrowsWithWorkAndNotWithSleep) {
    const std::int64_t begin = clockNow(), own = threadTime();
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    const std::int64_t asleep = threadTime() - own;
    EXPECT_LT(asleep, (clockNow() - begin) / 2);
    // Until the clock of this thread has gone on by as much.
    while (threadTime() - own < asleep + 1'000'000) {
    }
    EXPECT_GE(clockNow() - begin, threadTime() - own);
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
