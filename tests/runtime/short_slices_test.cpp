#include "runtime/device/short_slices.h"

#include <gtest/gtest.h>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdint>
#include <functional>
#include <thread>

namespace shardscope::runtime {
namespace {

/// Of the calling thread, in ns, as sched_getattr tells it; 0: the system's (in kernels that tell none).
std::uint64_t slice() {
    struct {
        std::uint32_t size, policy;
        std::uint64_t flags;
        std::int32_t nice;
        std::uint32_t priority;
        std::uint64_t runtime, deadline, period;
    } attributes{};
    return syscall(SYS_sched_getattr, 0, &attributes, sizeof(attributes), 0) == 0 ? attributes.runtime : 0;
}

std::uint64_t sliceInThread(const std::function<void()>& before) {
    std::uint64_t seen = 0;
    std::thread([&] {
        before();
        seen = slice();
    }).join();
    return seen;
}

class ShortSlicesOfThreads : public ::testing::Test {
protected:
    void SetUp() override {
        m_usual = sliceInThread([] {});
        if (m_usual == 0) GTEST_SKIP() << "this kernel has no slices of threads (Linux 6.12 and later do)";
    }
    std::uint64_t m_usual = 0;
};

TEST_F(ShortSlicesOfThreads, AreThoseOfWhatIsStartedMeanwhile) {
    std::uint64_t inner = 0, after = 0;
    EXPECT_EQ(sliceInThread([&] {
                  {
                      const ShortSlices here;
                      inner = sliceInThread([] {});
                  }
                  after = sliceInThread([] {});
              }),
              m_usual);
    EXPECT_LT(inner, m_usual);
    EXPECT_EQ(after, m_usual);
}

TEST_F(ShortSlicesOfThreads, AreKept) {
    EXPECT_LT(sliceInThread([] { keepShortSlices(); }), m_usual);
}

TEST_F(ShortSlicesOfThreads, LeaveAPolicyThatTheUserChose) {
    int policy = -1;
    std::thread([&] {
        const sched_param none{};
        ASSERT_EQ(sched_setscheduler(0, SCHED_BATCH, &none), 0);
        keepShortSlices();
        policy = sched_getscheduler(0);
    }).join();
    EXPECT_EQ(policy, SCHED_BATCH);
}

}  // namespace
}  // namespace shardscope::runtime
