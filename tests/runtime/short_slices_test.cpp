#include "runtime/device/short_slices.h"

#include <gtest/gtest.h>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdint>
#include <functional>
#include <thread>
#include <utility>

#include "runtime/device/stream_queues.h"

namespace shardscope::runtime {
namespace {

/// The first version of the kernel's struct sched_attr.
struct Attributes {
    std::uint32_t size = 0, policy = 0;
    std::uint64_t flags = 0;
    std::int32_t nice = 0;
    std::uint32_t priority = 0;
    std::uint64_t runtime = 0, deadline = 0, period = 0;
};

Attributes attributesHere() {
    Attributes attributes;
    return syscall(SYS_sched_getattr, 0, &attributes, sizeof(attributes), 0) == 0 ? attributes : Attributes{};
}

/// Of the calling thread, in ns; 0 in kernels that tell none.
std::uint64_t slice() {
    return attributesHere().runtime;
}

void askFor(std::uint64_t ns) {
    Attributes attributes = attributesHere();
    attributes.size = sizeof(attributes);
    attributes.runtime = ns;
    syscall(SYS_sched_setattr, 0, &attributes, 0);
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
        constexpr std::uint64_t kOther = 900'000;
        if (sched_getscheduler(0) != SCHED_OTHER || sliceInThread([] { askFor(kOther); }) != kOther)
            GTEST_SKIP() << "this process may not choose the slices of its threads";
        if (m_usual <= 100'000) GTEST_SKIP() << "threads of this process have the shortest slices already";
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

TEST_F(ShortSlicesOfThreads, GiveBackWhatAThreadHad) {
    constexpr std::uint64_t kChosen = 700'000;
    EXPECT_EQ(sliceInThread([] {
                  askFor(kChosen);
                  const ShortSlices here;
              }),
              kChosen);
}

TEST_F(ShortSlicesOfThreads, AreThoseOfStreamsThatMoveData) {
    StreamQueues queues;
    std::uint64_t ofKernels = 0, ofData = 0;
    const StreamIndex kernels = queues.open(StreamWork::Kernels), data = queues.open(StreamWork::Data);
    for (const auto& [stream, seen] : {std::pair{kernels, &ofKernels}, {data, &ofData}})
        ASSERT_TRUE(queues.enqueue(stream, [seen = seen]() -> core::Result<void> {
            *seen = slice();
            return {};
        }));
    ASSERT_TRUE(queues.synchronize());
    EXPECT_EQ(ofKernels, m_usual);
    EXPECT_LT(ofData, m_usual);
}

TEST_F(ShortSlicesOfThreads, LeaveAloneWhomItsUserGaveAPolicy) {
    std::uint64_t before = 0;
    const std::uint64_t after = sliceInThread([&] {
        const sched_param none{};
        ASSERT_EQ(sched_setscheduler(0, SCHED_BATCH, &none), 0);
        before = slice();
        keepShortSlices();
    });
    EXPECT_EQ(after, before);
}

}  // namespace
}  // namespace shardscope::runtime
