// Collectives of threads: what they compute, and that whatever cannot be met is an error that names both sides.

#include <gtest/gtest.h>

#include <cstring>
#include <future>
#include <thread>

#include "runtime/communicator/thread_communicator.h"
#include "runtime/device/reference_device.h"
#include "runtime/device/streamed_device.h"

namespace shardscope::runtime {
namespace {

using core::DType;
using core::Result;

std::span<std::byte> bytesOf(std::vector<float>& values) {
    return std::as_writable_bytes(std::span(values));
}

CallLabel label(const std::string& operation, const std::string& unit, std::int64_t bytes, DType dtype = DType::F32) {
    return {operation, unit, 0, bytes, dtype};
}

std::vector<std::int64_t> ranksBelow(std::int64_t n) {
    std::vector<std::int64_t> ranks;
    for (std::int64_t r = 0; r < n; ++r) ranks.push_back(r);
    return ranks;
}

TEST(ThreadCommunicator, GathersEverySharesAndSumsInRankOrder) {
    ThreadWorld world(4);
    std::vector<std::vector<float>> gathered(4), shares(4);
    const auto done = world.run([&](std::int64_t rank) -> Result<void> {
        auto comm = world.communicator("dp_shard", ranksBelow(4), rank);
        std::vector<float> all(8, -1.0f), input(8), share(2);
        all[static_cast<std::size_t>(2 * rank)] = static_cast<float>(rank);
        all[static_cast<std::size_t>(2 * rank + 1)] = static_cast<float>(10 * rank);
        for (std::size_t i = 0; i < 8; ++i) input[i] = static_cast<float>(rank * 100) + static_cast<float>(i);
        for (int repeat = 0; repeat < 50; ++repeat) {
            auto transfer = comm->allGather(label("all-gather", "a", 32), bytesOf(all));
            if (!transfer) return tl::unexpected(transfer.error());
            if (transfer->transferStart < transfer->arrival || transfer->end < transfer->transferStart)
                return core::fail(core::ErrorCode::Input, "times run backwards");
            SHARDSCOPE_TRY(comm->reduceScatter(label("reduce-scatter", "a", 32), bytesOf(input), bytesOf(share), true));
        }
        gathered[static_cast<std::size_t>(rank)] = all;
        shares[static_cast<std::size_t>(rank)] = share;
        return {};
    });
    ASSERT_TRUE(done) << core::describe(done.error());
    for (std::size_t r = 0; r < 4; ++r) {
        EXPECT_EQ(gathered[r], (std::vector<float>{0, 0, 1, 10, 2, 20, 3, 30}));
        // Mean over ranks of 100 r + i, at i = 2 r and 2 r + 1.
        EXPECT_EQ(shares[r],
                  (std::vector<float>{150.0f + 2 * static_cast<float>(r), 151.0f + 2 * static_cast<float>(r)}));
    }
}

TEST(ThreadCommunicator, MessagesArriveInOrder) {
    ThreadWorld world(2);
    std::vector<float> received;
    const auto done = world.run([&](std::int64_t rank) -> Result<void> {
        auto comm = world.communicator("pp 0-1", ranksBelow(2), rank);
        for (int i = 0; i < 20; ++i) {
            std::vector<float> message{static_cast<float>(i)};
            if (rank == 0) {
                SHARDSCOPE_TRY(comm->send(label("message", "x", 4), bytesOf(message), 1));
            } else {
                SHARDSCOPE_TRY(comm->receive(label("message", "x", 4), bytesOf(message), 0));
                received.push_back(message[0]);
            }
        }
        return {};
    });
    ASSERT_TRUE(done);
    ASSERT_EQ(received.size(), 20u);
    for (std::size_t i = 0; i < 20; ++i) EXPECT_EQ(received[i], static_cast<float>(i));
}

Result<void> allGatherOnce(ThreadWorld& world, std::int64_t rank, const CallLabel& call) {
    auto comm = world.communicator("dp_shard", ranksBelow(world.size()), rank);
    std::vector<float> all(static_cast<std::size_t>(world.size()) * 2);
    SHARDSCOPE_TRY(comm->allGather(call, bytesOf(all)));
    return {};
}

TEST(ThreadCommunicator, DifferentCallsAreReportedWithBothSides) {
    ThreadWorld world(2);
    const auto done = world.run([&](std::int64_t rank) {
        return allGatherOnce(world, rank, label("all-gather", rank == 0 ? "blocks.0" : "blocks.1", 16));
    });
    ASSERT_FALSE(done);
    EXPECT_NE(done.error().message.find("rank 0 is at all-gather of blocks.0"), std::string::npos)
        << done.error().message;
    EXPECT_NE(done.error().message.find("rank 1 at all-gather of blocks.1"), std::string::npos) << done.error().message;
}

TEST(ThreadCommunicator, ARankThatFinishedEarlyIsNoHang) {
    ThreadWorld world(3);
    const auto done = world.run([&](std::int64_t rank) -> Result<void> {
        if (rank == 1) return {};
        return allGatherOnce(world, rank, label("all-gather", "root", 24));
    });
    ASSERT_FALSE(done);
    EXPECT_NE(done.error().message.find("rank 1 has finished"), std::string::npos) << done.error().message;
    EXPECT_NE(done.error().message.find("rank 2 waits in all-gather of root"), std::string::npos)
        << done.error().message;
}

TEST(ThreadCommunicator, ASendWithoutReceiveIsNoHang) {
    ThreadWorld world(2);
    const auto done = world.run([&](std::int64_t rank) -> Result<void> {
        auto comm = world.communicator("pp 0-1", ranksBelow(2), rank);
        std::vector<float> message(1);
        SHARDSCOPE_TRY(comm->send(label("message", rank == 0 ? "x" : "dx", 4), bytesOf(message), 1 - rank));
        return {};
    });
    ASSERT_FALSE(done);
    EXPECT_NE(done.error().message.find("no rank can go on"), std::string::npos) << done.error().message;
}

TEST(ThreadCommunicator, ARankThatFailsStopsTheOthersWithItsName) {
    ThreadWorld world(3);
    std::vector<std::string> messages(3);
    const auto done = world.run([&](std::int64_t rank) -> Result<void> {
        if (rank == 2) return core::fail(core::ErrorCode::Input, "the disk is on fire");
        auto result = allGatherOnce(world, rank, label("all-gather", "root", 24));
        if (!result) messages[static_cast<std::size_t>(rank)] = result.error().message;
        return result;
    });
    ASSERT_FALSE(done);
    EXPECT_EQ(done.error().where, "rank 2");
    EXPECT_EQ(done.error().message, "the disk is on fire");
    EXPECT_EQ(messages[0], "rank 2 failed: the disk is on fire");
    EXPECT_EQ(messages[1], "rank 2 failed: the disk is on fire");
}

TEST(ThreadCommunicator, PatienceEnds) {
    ThreadWorld world(2, std::chrono::milliseconds(50));
    std::promise<void> gaveUp;
    const auto done = world.run([&](std::int64_t rank) -> Result<void> {
        if (rank == 1) gaveUp.get_future().wait();
        auto result = allGatherOnce(world, rank, label("all-gather", "root", 16));
        if (rank == 0) gaveUp.set_value();
        return result;
    });
    ASSERT_FALSE(done);
    EXPECT_NE(done.error().message.find("waited 50 ms"), std::string::npos) << done.error().message;
}

TEST(ThreadCommunicator, RanksThatDisagreeAreNamed) {
    ThreadWorld world(3);
    const auto agreeing = [&](std::uint64_t ofRank2) {
        return world.run([&, ofRank2](std::int64_t rank) -> Result<void> {
            auto comm = world.communicator("world", ranksBelow(3), rank);
            return comm->agree("the graph's hash", rank == 2 ? ofRank2 : 7);
        });
    };
    EXPECT_TRUE(agreeing(7));
    const auto done = agreeing(8);
    ASSERT_FALSE(done);
    EXPECT_NE(done.error().message.find("rank 2 has the graph's hash 0000000000000008"), std::string::npos)
        << done.error().message;
}

// Ranks whose calls come from streams: each stream is a task queue of its rank's device.
struct StreamedRank {
    StreamedRank(ThreadWorld& of, std::int64_t itsRank) : world(of), rank(itsRank) {
        device.openStream("one", StreamWork::Data);
        device.openStream("other", StreamWork::Data);
        world.watch(rank, [this](std::size_t calls) { return device.waitsOnlyFor(calls); });
    }
    ~StreamedRank() { world.watch(rank, {}); }
    StreamedRank(const StreamedRank&) = delete;
    StreamedRank& operator=(const StreamedRank&) = delete;

    Communicator& open(const std::string& name) {
        communicators.push_back(world.communicator(name, ranksBelow(world.size()), rank));
        return *communicators.back();
    }
    Result<void> barrier(StreamIndex stream, Communicator& comm, std::chrono::milliseconds after = {}) {
        return device.enqueue(stream, [&comm, after]() -> Result<void> {
            std::this_thread::sleep_for(after);
            SHARDSCOPE_TRY(comm.barrier(label("barrier", "", 0)));
            return {};
        });
    }

    ThreadWorld& world;
    std::int64_t rank;
    StreamedDevice device{std::make_unique<ReferenceDevice>()};
    std::vector<std::unique_ptr<Communicator>> communicators;
};

TEST(ThreadCommunicator, StreamsThatWaitCrosswiseAreReported) {
    ThreadWorld world(2);
    const auto done = world.run([&](std::int64_t rank) -> Result<void> {
        StreamedRank own(world, rank);
        Communicator &a = own.open("a"), &b = own.open("b");
        SHARDSCOPE_TRY(own.barrier(0, rank == 0 ? a : b));
        SHARDSCOPE_TRY(own.barrier(0, rank == 0 ? b : a));
        return own.device.synchronize();
    });
    ASSERT_FALSE(done);
    EXPECT_NE(
        done.error().message.find("no rank can go on: rank 0 waits in barrier on a, rank 1 waits in barrier on b"),
        std::string::npos)
        << done.error().message;
}

// Every rank waits in a call, but a stream of one still works and meets the other later.
TEST(ThreadCommunicator, AStreamThatStillWorksIsNoDeadlock) {
    ThreadWorld world(2);
    const auto done = world.run([&](std::int64_t rank) -> Result<void> {
        StreamedRank own(world, rank);
        Communicator &a = own.open("a"), &b = own.open("b");
        constexpr std::chrono::milliseconds kLate{250};
        if (rank == 0) {
            SHARDSCOPE_TRY(own.barrier(0, a));
            SHARDSCOPE_TRY(own.barrier(1, b, kLate));
        } else {
            SHARDSCOPE_TRY(own.barrier(0, b));
            SHARDSCOPE_TRY(own.barrier(0, a));
        }
        return own.device.synchronize();
    });
    EXPECT_TRUE(done) << (done ? "" : core::describe(done.error()));
}

TEST(ThreadCommunicator, ARankThatAbandonsWakesItsOwnStreamsAndTheOthers) {
    ThreadWorld world(2);
    const auto done = world.run([&](std::int64_t rank) -> Result<void> {
        StreamedRank own(world, rank);
        Communicator &a = own.open("a"), &b = own.open("b");
        SHARDSCOPE_TRY(own.barrier(0, rank == 0 ? a : b));
        if (rank == 0) {
            b.abandon({core::ErrorCode::Input, "the disk is on fire", {}, {}});
            const auto left = own.device.synchronize();
            return left ? core::fail(core::ErrorCode::Input, "nothing was woken") : left;
        }
        const auto left = own.device.synchronize();
        EXPECT_EQ(left ? "" : left.error().message, "rank 0 failed: the disk is on fire");
        return left;
    });
    ASSERT_FALSE(done);
    EXPECT_EQ(done.error().message, "the disk is on fire");
    EXPECT_EQ(done.error().where, "rank 0");
}

}  // namespace
}  // namespace shardscope::runtime
