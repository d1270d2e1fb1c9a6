// Streams are in order and run beside each other, events order them, an error ends what follows it; memory goes back to
// the pool of its stream.

#include <atomic>
#include <future>
#include <thread>

#include <gtest/gtest.h>

#include "runtime/device/stream_pools.h"
#include "runtime/device/stream_queues.h"

namespace shardscope::runtime {
namespace {

using core::Result;

StreamTask fails(const char* why) {
    return [why]() -> Result<void> { return core::fail(core::ErrorCode::Input, why); };
}

TEST(Streams, DoTheirTasksInTheOrderOfIssue) {
    StreamQueues queues;
    const StreamIndex stream = queues.open(StreamWork::Kernels);
    std::vector<int> order;
    for (int i = 0; i < 1000; ++i)
        ASSERT_TRUE(queues.enqueue(stream, [&order, i]() -> Result<void> {
            order.push_back(i);
            return {};
        }));
    ASSERT_TRUE(queues.synchronize());
    ASSERT_EQ(order.size(), 1000u);
    for (int i = 0; i < 1000; ++i) EXPECT_EQ(order[static_cast<std::size_t>(i)], i);
}

TEST(Streams, RunBesideEachOther) {
    StreamQueues queues;
    const StreamIndex one = queues.open(StreamWork::Kernels), other = queues.open(StreamWork::Kernels);
    std::promise<void> begun, released;
    ASSERT_TRUE(queues.enqueue(one, [&]() -> Result<void> {
        begun.set_value();
        released.get_future().wait();  // ends only if the other stream works meanwhile
        return {};
    }));
    ASSERT_TRUE(queues.enqueue(other, [&]() -> Result<void> {
        begun.get_future().wait();
        released.set_value();
        return {};
    }));
    EXPECT_TRUE(queues.synchronize());
}

TEST(Streams, WaitForEventsOfOthers) {
    StreamQueues queues;
    const StreamIndex first = queues.open(StreamWork::Kernels), second = queues.open(StreamWork::Kernels),
                      third = queues.open(StreamWork::Kernels);
    std::atomic<int> made = 0;
    for (int round = 0; round < 200; ++round) {
        // Handed round: each stream adds to what the one before has made.
        for (const StreamIndex stream : {first, second, third}) {
            const int expected = 3 * round + stream;
            ASSERT_TRUE(queues.enqueue(stream, [&made, expected]() -> Result<void> {
                if (made.load(std::memory_order_relaxed) != expected)
                    return core::fail(core::ErrorCode::Input, "another order");
                made.store(expected + 1, std::memory_order_relaxed);
                return {};
            }));
            const Event done = queues.record(stream);
            queues.wait(static_cast<StreamIndex>((stream + 1) % 3), done);
        }
    }
    const auto done = queues.synchronize();
    EXPECT_TRUE(done) << (done ? "" : done.error().message);
    EXPECT_EQ(made, 600);
}

TEST(Streams, EventsHaveTheTimeOfTheirPlace) {
    StreamQueues queues;
    const StreamIndex stream = queues.open(StreamWork::Kernels), other = queues.open(StreamWork::Kernels);
    std::promise<void> released;
    const Event before = queues.record(stream);
    ASSERT_TRUE(queues.enqueue(stream, [&]() -> Result<void> {
        released.get_future().wait();
        return {};
    }));
    const Event after = queues.record(stream);
    queues.wait(other, after);
    const Event waited = queues.record(other), reached = queues.record(stream);
    released.set_value();
    ASSERT_TRUE(queues.synchronize());
    EXPECT_LE(queues.timeOf(before), queues.timeOf(after));
    EXPECT_LE(queues.timeOf(after), queues.timeOf(waited));
    EXPECT_LE(queues.timeOf(after), queues.timeOf(reached));
    queues.forgetEvents();
    EXPECT_TRUE(queues.record(stream).valid());
}

TEST(Streams, AnErrorEndsWhatFollowsAndIsKept) {
    StreamQueues queues;
    const StreamIndex stream = queues.open(StreamWork::Kernels), other = queues.open(StreamWork::Kernels);
    std::atomic<int> told = 0, ran = 0;
    std::string what;
    queues.onError([&](const core::Error& error) {
        what = error.message;
        ++told;
    });
    std::promise<void> enqueued;
    ASSERT_TRUE(queues.enqueue(stream, [&]() -> Result<void> {
        enqueued.get_future().wait();
        return core::fail(core::ErrorCode::Input, "the first");
    }));
    const auto counts = [&]() -> Result<void> {
        ++ran;
        return {};
    };
    ASSERT_TRUE(queues.enqueue(stream, counts));
    queues.wait(other, queues.record(stream));
    ASSERT_TRUE(queues.enqueue(other, counts));
    enqueued.set_value();
    const auto done = queues.synchronize();
    ASSERT_FALSE(done);
    EXPECT_EQ(done.error().message, "the first");
    EXPECT_EQ(ran, 0) << "neither on its stream nor behind its event";
    EXPECT_EQ(told, 1);
    EXPECT_EQ(what, "the first");
    const auto later = queues.enqueue(other, fails("the second"));
    ASSERT_FALSE(later);
    EXPECT_EQ(later.error().message, "the first");
    EXPECT_FALSE(queues.synchronize());
}

TEST(Streams, WhatATaskThrowsIsItsError) {
    StreamQueues queues;
    const StreamIndex stream = queues.open(StreamWork::Kernels);
    ASSERT_TRUE(queues.enqueue(stream, []() -> Result<void> { throw std::bad_alloc(); }));
    const auto done = queues.synchronize();
    ASSERT_FALSE(done);
    EXPECT_NE(done.error().message.find("bad_alloc"), std::string::npos) << done.error().message;
}

// Of so many tasks some may begin before the end does.
TEST(Streams, EndWithPendingWorkWithoutDoingIt) {
    constexpr int kTasks = 10'000;
    std::atomic<int> ran = 0;
    {
        StreamQueues queues;
        const StreamIndex stream = queues.open(StreamWork::Kernels), other = queues.open(StreamWork::Kernels);
        std::promise<void> released;
        const auto all = released.get_future().share();
        ASSERT_TRUE(queues.enqueue(stream, [all]() -> Result<void> {
            all.wait();
            return {};
        }));
        for (int i = 0; i < kTasks; ++i)
            ASSERT_TRUE(queues.enqueue(stream, [&]() -> Result<void> {
                std::this_thread::sleep_for(std::chrono::milliseconds(1));
                ++ran;
                return {};
            }));
        queues.wait(other, queues.record(stream));
        ASSERT_TRUE(queues.enqueue(other, fails("late")));
        released.set_value();
    }
    EXPECT_LT(ran, kTasks);
}

TEST(Streams, KnowWhenNothingButCallsCanGoOn) {
    StreamQueues queues;
    const StreamIndex stream = queues.open(StreamWork::Kernels), other = queues.open(StreamWork::Kernels);
    std::promise<void> released;
    ASSERT_TRUE(queues.enqueue(stream, [&]() -> Result<void> {
        released.get_future().wait();
        return {};
    }));
    queues.wait(other, queues.record(stream));
    ASSERT_TRUE(queues.enqueue(other, []() -> Result<void> { return {}; }));
    EXPECT_FALSE(queues.waitsOnlyFor(1)) << "the host can go on";
    std::thread watcher([&] {
        while (!queues.waitsOnlyFor(1)) std::this_thread::yield();
        EXPECT_FALSE(queues.waitsOnlyFor(0));
        EXPECT_FALSE(queues.waitsOnlyFor(2));
        released.set_value();
    });
    EXPECT_TRUE(queues.synchronize());
    watcher.join();
    EXPECT_FALSE(queues.waitsOnlyFor(1));
}

TEST(StreamPools, GiveOutAgainWhatFitsInTheSamePool) {
    StreamPools pools;
    auto first = pools.take(10'000, 1);
    ASSERT_TRUE(first.data);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(first.data.get()) % StreamPools::kAlignment, 0u);
    EXPECT_GE(first.size, 10'000);
    const std::byte* place = first.data.get();
    pools.giveBack(std::move(first), 1);
    auto elsewhere = pools.take(10'000, 2);
    EXPECT_NE(elsewhere.data.get(), place) << "another stream's pool";
    auto small = pools.take(1000, 1);
    EXPECT_NE(small.data.get(), place) << "too much of it would be left over";
    auto large = pools.take(20'000, 1);
    EXPECT_NE(large.data.get(), place);
    auto again = pools.take(9900, 1);
    EXPECT_EQ(again.data.get(), place);
    auto nothing = pools.take(0, 1);
    EXPECT_TRUE(nothing.data);
}

}  // namespace
}  // namespace shardscope::runtime
