// What every implementation of Communicator must do, on one to four ranks: the same bits, the same order, and an error
// that names both sides where calls do not meet.

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <future>
#include <latch>
#include <thread>

#include "runtime/device/elements.h"
#include "tests/runtime/communicator_worlds.h"

namespace shardscope::runtime {
namespace {

using core::DType;
using core::Result;
using testing::Open;
using testing::WorldKind;

constexpr std::chrono::milliseconds kPatience{20000};

std::vector<std::int64_t> ranksBelow(std::int64_t n) {
    std::vector<std::int64_t> ranks;
    for (std::int64_t r = 0; r < n; ++r) ranks.push_back(r);
    return ranks;
}

template <class T>
std::span<std::byte> bytesOf(std::vector<T>& values) {
    return std::as_writable_bytes(std::span(values));
}

CallLabel label(const char* operation, const char* unit, std::size_t bytes, DType dtype = DType::F32) {
    return {operation, unit, 0, static_cast<std::int64_t>(bytes), dtype};
}

/// Values without a pattern, of both signs and many magnitudes, so that another order of summation gives other bits.
float valueOf(std::int64_t rank, std::size_t i) {
    std::uint32_t h = static_cast<std::uint32_t>(i) * 2654435761u + static_cast<std::uint32_t>(rank + 1) * 2246822519u;
    h ^= h >> 15;
    h *= 3266489917u;
    h ^= h >> 13;
    return std::ldexp(static_cast<float>(h >> 8) / 8388608.0f - 1.0f, static_cast<int>(h % 17) - 8);
}

/// The sum that the contract asks for, written out: float32, rank order, divided at the end.
float sumOf(std::int64_t ranks, std::size_t i, bool average) {
    float sum = valueOf(0, i);
    for (std::int64_t r = 1; r < ranks; ++r) sum += valueOf(r, i);
    return average ? sum / static_cast<float>(ranks) : sum;
}

class CommunicatorConformance : public ::testing::TestWithParam<std::tuple<WorldKind, std::int64_t>> {
protected:
    [[nodiscard]] std::int64_t ranks() const { return std::get<1>(GetParam()); }
    std::vector<Result<void>> run(const testing::RankBody& body, std::chrono::milliseconds patience = kPatience) const {
        return std::get<0>(GetParam()).run(ranks(), patience, body);
    }
    void mustRun(const testing::RankBody& body) const {
        const auto results = run(body);
        for (std::size_t r = 0; r < results.size(); ++r)
            EXPECT_TRUE(results[r]) << "rank " << r << ": " << (results[r] ? "" : core::describe(results[r].error()));
    }
    /// Every rank's error; some rank's must contain `text`.
    static void expectSomeError(const std::vector<Result<void>>& results, const std::string& text) {
        std::string all;
        for (const auto& result : results) all += result ? "no error\n" : core::describe(result.error()) + "\n";
        EXPECT_NE(all.find(text), std::string::npos) << "'" << text << "' is not in:\n" << all;
    }
};

TEST_P(CommunicatorConformance, AllGatherPutsEverySharesInRankOrder) {
    for (const std::size_t share : {std::size_t{1}, std::size_t{7}, std::size_t{70001}})
        mustRun([&, n = ranks()](std::int64_t rank, const Open& open) -> Result<void> {
            const auto comm = open("dp_shard", ranksBelow(n));
            EXPECT_EQ(comm->rank(), rank);
            EXPECT_EQ(comm->size(), n);
            std::vector<std::uint8_t> all(share * static_cast<std::size_t>(n), 0xee);
            for (std::size_t i = 0; i < share; ++i)
                all[static_cast<std::size_t>(rank) * share + i] = static_cast<std::uint8_t>(rank * 31 + i % 29);
            SHARDSCOPE_ASSIGN(const Transfer times,
                              comm->allGather(label("all-gather", "a", all.size(), DType::U8), bytesOf(all)));
            EXPECT_LE(times.arrival, times.transferStart);
            EXPECT_LE(times.transferStart, times.end);
            for (std::size_t r = 0; r < static_cast<std::size_t>(n); ++r)
                for (std::size_t i = 0; i < share; ++i)
                    if (all[r * share + i] != static_cast<std::uint8_t>(r * 31 + i % 29))
                        return core::fail(core::ErrorCode::Input, "a byte of a share is wrong");
            return {};
        });
}

TEST_P(CommunicatorConformance, ReduceScatterSumsInRankOrderInFloat32) {
    for (const std::size_t share : {std::size_t{1}, std::size_t{13}, std::size_t{50000}})
        for (const bool average : {false, true})
            mustRun([&, n = ranks()](std::int64_t rank, const Open& open) -> Result<void> {
                const auto comm = open("dp_shard", ranksBelow(n));
                std::vector<float> input(share * static_cast<std::size_t>(n)), own(share, -1.0f);
                for (std::size_t i = 0; i < input.size(); ++i) input[i] = valueOf(rank, i);
                const std::vector<float> before = input;
                SHARDSCOPE_TRY(comm->reduceScatter(label("reduce-scatter", "a", input.size() * 4), bytesOf(input),
                                                   bytesOf(own), average));
                EXPECT_EQ(input, before) << "the input is only read";
                for (std::size_t i = 0; i < share; ++i)
                    if (own[i] != sumOf(n, static_cast<std::size_t>(rank) * share + i, average))
                        return core::fail(core::ErrorCode::Input, "a sum has other bits");
                return {};
            });
}

// 256 + 1 is no bfloat16, but 256 + 1 + 1 is: rounded after each addition every 1 would be lost.
TEST_P(CommunicatorConformance, HalfPrecisionIsSummedInFloat32AndRoundedOnce) {
    mustRun([n = ranks()](std::int64_t rank, const Open& open) -> Result<void> {
        const auto comm = open("dp_shard", ranksBelow(n));
        const std::uint16_t value = toBfloat16(rank == 0 ? 256.0f : 1.0f);
        std::vector<std::uint16_t> input(static_cast<std::size_t>(n) * 3, value), own(3);
        const CallLabel reduce = label("reduce-scatter", "a", input.size() * 2, DType::BF16);
        SHARDSCOPE_TRY(comm->reduceScatter(reduce, bytesOf(input), bytesOf(own), false));
        const float sum = 256.0f + static_cast<float>(n - 1);
        EXPECT_EQ(own, std::vector<std::uint16_t>(3, toBfloat16(sum)));
        if (n >= 3) {
            EXPECT_GT(fromBfloat16(own[0]), 256.0f);
        }
        SHARDSCOPE_TRY(comm->reduceScatter(reduce, bytesOf(input), bytesOf(own), true));
        EXPECT_EQ(own, std::vector<std::uint16_t>(3, toBfloat16(sum / static_cast<float>(n))));
        std::vector<std::uint16_t> whole(5, value);
        SHARDSCOPE_TRY(comm->allReduce(label("all-reduce", "a", 10, DType::BF16), bytesOf(whole), false));
        EXPECT_EQ(whole, std::vector<std::uint16_t>(5, toBfloat16(sum)));
        std::vector<std::uint16_t> halves(3, toHalf(rank == 0 ? 2048.0f : 1.0f));
        SHARDSCOPE_TRY(comm->allReduce(label("all-reduce", "a", 6, DType::F16), bytesOf(halves), false));
        EXPECT_EQ(halves, std::vector<std::uint16_t>(3, toHalf(2048.0f + static_cast<float>(n - 1))));
        return {};
    });
}

// Sizes that the ranks do not divide, and fewer elements than ranks.
TEST_P(CommunicatorConformance, AllReduceGivesEveryMemberTheSameBits) {
    for (const std::size_t count : {std::size_t{1}, std::size_t{2}, std::size_t{101}, std::size_t{65537}})
        for (const bool average : {false, true})
            mustRun([&, n = ranks()](std::int64_t rank, const Open& open) -> Result<void> {
                const auto comm = open("dp_replicate", ranksBelow(n));
                std::vector<float> values(count);
                for (std::size_t i = 0; i < count; ++i) values[i] = valueOf(rank, i);
                SHARDSCOPE_TRY(comm->allReduce(label("all-reduce", "a", count * 4), bytesOf(values), average));
                for (std::size_t i = 0; i < count; ++i)
                    if (values[i] != sumOf(n, i, average))
                        return core::fail(core::ErrorCode::Input, "a sum has other bits");
                return {};
            });
}

TEST_P(CommunicatorConformance, EmptyBuffersAreNoError) {
    mustRun([n = ranks()](std::int64_t rank, const Open& open) -> Result<void> {
        const auto comm = open("dp_shard", ranksBelow(n));
        std::vector<float> none;
        SHARDSCOPE_TRY(comm->allGather(label("all-gather", "a", 0), bytesOf(none)));
        SHARDSCOPE_TRY(comm->reduceScatter(label("reduce-scatter", "a", 0), bytesOf(none), bytesOf(none), true));
        SHARDSCOPE_TRY(comm->allReduce(label("all-reduce", "a", 0), bytesOf(none), true));
        if (rank == 0 && n > 1) SHARDSCOPE_TRY(comm->send(label("message", "a", 0), bytesOf(none), n - 1));
        if (rank == n - 1 && n > 1) SHARDSCOPE_TRY(comm->receive(label("message", "a", 0), bytesOf(none), 0));
        return {};
    });
}

TEST_P(CommunicatorConformance, MessagesArriveInTheOrderOfSending) {
    if (ranks() < 2) return;
    mustRun([n = ranks()](std::int64_t rank, const Open& open) -> Result<void> {
        const auto comm = open("world", ranksBelow(n));
        SHARDSCOPE_TRY(comm->barrier(label("barrier", "", 0)));  // the first call is one of all members
        // Each to the next one, even ranks first, of growing size.
        for (std::size_t i = 0; i < 20; ++i) {
            std::vector<float> message(1 + i * 1000, static_cast<float>(rank * 100) + static_cast<float>(i));
            const auto call = label("message", "x", message.size() * 4);
            if (rank % 2 == 0 && rank + 1 < n) SHARDSCOPE_TRY(comm->send(call, bytesOf(message), rank + 1));
            if (rank % 2 == 0) continue;
            SHARDSCOPE_TRY(comm->receive(call, bytesOf(message), rank - 1));
            if (message !=
                std::vector<float>(message.size(), static_cast<float>((rank - 1) * 100) + static_cast<float>(i)))
                return core::fail(core::ErrorCode::Input, "another message came");
        }
        return {};
    });
}

TEST_P(CommunicatorConformance, CallsRunInTheOrderOfIssue) {
    mustRun([n = ranks()](std::int64_t rank, const Open& open) -> Result<void> {
        const auto comm = open("dp_shard", ranksBelow(n));
        std::int64_t before = 0;
        for (int i = 0; i < 30; ++i) {
            std::vector<float> all(static_cast<std::size_t>(n), 0.0f), sum(3, static_cast<float>(i));
            all[static_cast<std::size_t>(rank)] = static_cast<float>(i);
            const std::string unit = "blocks." + std::to_string(i);
            SHARDSCOPE_ASSIGN(const Transfer gather,
                              comm->allGather(label("all-gather", unit.c_str(), all.size() * 4), bytesOf(all)));
            EXPECT_EQ(all, std::vector<float>(static_cast<std::size_t>(n), static_cast<float>(i)));
            EXPECT_GE(gather.arrival, before);
            before = gather.end;
            SHARDSCOPE_TRY(comm->allReduce(label("all-reduce", unit.c_str(), 12), bytesOf(sum), true));
            EXPECT_EQ(sum, std::vector<float>(3, static_cast<float>(i)));
        }
        return {};
    });
}

TEST_P(CommunicatorConformance, ABarrierHoldsUntilTheLastMemberIsThere) {
    std::atomic<std::int64_t> arrived{0};
    mustRun([&, n = ranks()](std::int64_t rank, const Open& open) -> Result<void> {
        const auto comm = open("world", ranksBelow(n));
        if (rank == 0) std::this_thread::sleep_for(std::chrono::milliseconds(50));
        ++arrived;
        SHARDSCOPE_ASSIGN(const Transfer times, comm->barrier(label("barrier", "", 0)));
        EXPECT_EQ(arrived.load(), n);
        EXPECT_LE(times.arrival, times.transferStart);
        EXPECT_LE(times.transferStart, times.end);
        return {};
    });
}

// What the fastest waits for is not transfer: the last member's arrival is when it starts, on every rank's clock.
TEST_P(CommunicatorConformance, TheTransferStartsWhenTheLastMemberArrives) {
    if (ranks() < 2) return;
    std::vector<Transfer> times(static_cast<std::size_t>(ranks()));
    mustRun([&, n = ranks()](std::int64_t rank, const Open& open) -> Result<void> {
        const auto comm = open("dp_shard", ranksBelow(n));
        SHARDSCOPE_TRY(comm->barrier(label("barrier", "", 0)));
        std::vector<float> all(static_cast<std::size_t>(n));
        SHARDSCOPE_ASSIGN(times[static_cast<std::size_t>(rank)],
                          comm->allGather(label("all-gather", "a", all.size() * 4), bytesOf(all)));
        return {};
    });
    const std::int64_t last = std::ranges::max(times, {}, &Transfer::arrival).arrival;
    for (const Transfer& own : times) EXPECT_GE(own.transferStart, last);
}

// As a mesh has them: rows and columns of the world, at the same time.
TEST_P(CommunicatorConformance, GroupsOfTheWorldAreIndependent) {
    if (ranks() != 4) return;
    mustRun([](std::int64_t rank, const Open& open) -> Result<void> {
        const std::int64_t row = rank / 2, column = rank % 2;
        const auto rows = open("dp_shard", {2 * row, 2 * row + 1});
        const auto columns = open("dp_replicate", {column, column + 2});
        EXPECT_EQ(rows->rank(), column);
        EXPECT_EQ(columns->rank(), row);
        for (int i = 0; i < 10; ++i) {
            std::vector<float> sum{static_cast<float>(rank)};
            SHARDSCOPE_TRY(rows->allReduce(label("all-reduce", "row", 4), bytesOf(sum), false));
            EXPECT_EQ(sum[0], static_cast<float>(4 * row + 1));
            SHARDSCOPE_TRY(columns->allReduce(label("all-reduce", "column", 4), bytesOf(sum), false));
            EXPECT_EQ(sum[0], 6.0f);
        }
        return {};
    });
}

// A rank's streams are threads: one communicator's calls come from one of them, another's from another.
TEST_P(CommunicatorConformance, TwoCommunicatorsOfARankWorkFromTwoThreads) {
    mustRun([n = ranks()](std::int64_t rank, const Open& open) -> Result<void> {
        const auto first = open("dp_shard", ranksBelow(n)), second = open("dp_replicate", ranksBelow(n));
        for (const auto* comm : {&first, &second}) (*comm)->watch([](std::size_t calls) { return calls == 2; });
        Result<void> ofOther;
        std::thread other([&] {
            for (int i = 0; i < 50 && ofOther; ++i) {
                std::vector<float> sum(1000, 1.0f);
                const auto done = second->allReduce(label("all-reduce", "b", 4000), bytesOf(sum), false);
                if (!done) ofOther = tl::unexpected(done.error());
                EXPECT_EQ(sum, std::vector<float>(1000, static_cast<float>(n)));
            }
        });
        Result<void> own;
        for (int i = 0; i < 50 && own; ++i) {
            std::vector<float> all(static_cast<std::size_t>(n) * 1000, -1.0f);
            std::fill_n(all.begin() + rank * 1000, 1000, static_cast<float>(i));
            const auto done = first->allGather(label("all-gather", "a", all.size() * 4), bytesOf(all));
            if (!done) own = tl::unexpected(done.error());
            EXPECT_EQ(all, std::vector<float>(all.size(), static_cast<float>(i)));
        }
        other.join();
        return own ? ofOther : own;
    });
}

TEST_P(CommunicatorConformance, DifferentCallsAreAnErrorThatNamesBothSides) {
    if (ranks() < 2) return;
    const auto results = run([n = ranks()](std::int64_t rank, const Open& open) -> Result<void> {
        const auto comm = open("dp_shard", ranksBelow(n));
        std::vector<float> all(static_cast<std::size_t>(n));
        const auto call = label("all-gather", rank == 1 ? "blocks.1" : "blocks.0", all.size() * 4);
        SHARDSCOPE_TRY(comm->allGather(call, bytesOf(all)));
        return {};
    });
    for (const auto& result : results) EXPECT_FALSE(result);
    expectSomeError(results, "rank 0 is at all-gather of blocks.0");
    expectSomeError(results, "rank 1 at all-gather of blocks.1");
    expectSomeError(results, "communicator dp_shard");
}

TEST_P(CommunicatorConformance, DifferentSizesAreAnErrorThatNamesBothSides) {
    if (ranks() < 2) return;
    const auto results = run([n = ranks()](std::int64_t rank, const Open& open) -> Result<void> {
        const auto comm = open("dp_shard", ranksBelow(n));
        std::vector<float> sum(rank == 0 ? 5 : 6);
        SHARDSCOPE_TRY(comm->allReduce(label("all-reduce", "a", sum.size() * 4), bytesOf(sum), false));
        return {};
    });
    for (const auto& result : results) EXPECT_FALSE(result);
    expectSomeError(results, "rank 0 is at all-reduce of a (20 bytes, float32)");
    expectSomeError(results, "rank 1 at all-reduce of a (24 bytes, float32)");
}

TEST_P(CommunicatorConformance, ASendThatMeetsASendIsAnError) {
    if (ranks() != 2) return;
    const auto results = run([](std::int64_t rank, const Open& open) -> Result<void> {
        const auto comm = open("pp 0-1", ranksBelow(2));
        std::vector<float> message(1);
        SHARDSCOPE_TRY(comm->send(label("message", "x", 4), bytesOf(message), 1 - rank));
        return {};
    });
    for (const auto& result : results) EXPECT_FALSE(result);
}

TEST_P(CommunicatorConformance, RanksThatDisagreeAreNamed) {
    const auto agreeing = [&](std::uint64_t ofLast) {
        return run([ofLast, n = ranks()](std::int64_t rank, const Open& open) {
            return open("world", ranksBelow(n))->agree("the graph's hash", rank == n - 1 ? ofLast : 7);
        });
    };
    for (const auto& result : agreeing(7)) EXPECT_TRUE(result);
    if (ranks() < 2) return;
    const auto results = agreeing(8);
    for (const auto& result : results) EXPECT_FALSE(result);
    expectSomeError(results, "rank " + std::to_string(ranks() - 1) + " has the graph's hash 0000000000000008");
}

TEST_P(CommunicatorConformance, APeerThatDoesNotComeIsAnErrorAndNoHang) {
    if (ranks() < 2) return;
    // A world has one patience. Where the machine needs more of it to get all others to the call, there is more.
    for (std::chrono::milliseconds patience{400};; patience *= 2) {
        std::atomic<bool> opened{true};
        std::latch gaveUp(ranks() - 1);
        const auto results = run(
            [&, n = ranks()](std::int64_t rank, const Open& open) -> Result<void> {
                const auto comm = open("dp_shard", ranksBelow(n));
                auto done = comm->barrier(label("barrier", "", 0));
                if (!done) opened = false;
                std::vector<float> all(static_cast<std::size_t>(n));
                if (done && rank == 0) gaveUp.wait();
                if (done) done = comm->allGather(label("all-gather", "root", all.size() * 4), bytesOf(all));
                if (rank != 0) gaveUp.count_down();
                if (!done) return tl::unexpected(std::move(done).error());
                return {};
            },
            patience);
        const std::string waited = " waited " + std::to_string(patience.count()) + " ms for ";
        // Those that did come are not blamed: over Gloo each of them names the missing one, and no other.
        const auto blamesRank0 = [&](std::size_t r) {
            return !results[r] &&
                   results[r].error().message.starts_with("rank " + std::to_string(r) + waited + "rank 0 in ");
        };
        bool allBlame = opened;
        for (std::size_t r = 1; r < results.size() && std::get<0>(GetParam()).name == "gloo"; ++r)
            allBlame = allBlame && blamesRank0(r);
        if (!allBlame && patience < kPatience) continue;
        EXPECT_TRUE(allBlame);
        for (std::size_t r = 1; r < results.size(); ++r) EXPECT_FALSE(results[r]);
        expectSomeError(results, waited);
        expectSomeError(results, "all-gather of root");
        return;
    }
}

// As a rank does when one of its streams has failed: what waits on another stream must not wait on.
TEST_P(CommunicatorConformance, AbandoningWakesWhoWaits) {
    if (ranks() < 2) return;
    std::promise<void> abandoned, atIt;
    const auto results = run(
        [&, n = ranks(), late = abandoned.get_future().share()](std::int64_t rank, const Open& open) -> Result<void> {
            const auto comm = open("dp_shard", ranksBelow(n));
            SHARDSCOPE_TRY(comm->barrier(label("barrier", "", 0)));
            if (rank != 0) late.wait_for(kPatience);
            std::thread other([&] {
                if (rank != 0) return;
                // Not every implementation tells that it waits; abandoned before, the call fails just as well.
                atIt.get_future().wait();
                std::this_thread::sleep_for(std::chrono::milliseconds(50));
                comm->abandon({core::ErrorCode::Input, "another stream has failed", {}, {}});
                abandoned.set_value();
            });
            if (rank == 0) atIt.set_value();
            std::vector<float> sum(3000);
            const auto done = comm->allReduce(label("all-reduce", "a", sum.size() * 4), bytesOf(sum), false);
            other.join();
            if (!done) return tl::unexpected(done.error());
            return {};
        });
    for (const auto& result : results) EXPECT_FALSE(result);
}

TEST_P(CommunicatorConformance, ARankThatFailsStopsTheOthers) {
    if (ranks() < 2) return;
    const auto results = run([n = ranks()](std::int64_t rank, const Open& open) -> Result<void> {
        const auto comm = open("dp_shard", ranksBelow(n));
        for (int i = 0; i < 100; ++i) {
            if (rank == 1 && i == 3) return core::fail(core::ErrorCode::Input, "the disk is on fire");
            std::vector<float> sum(3000);
            SHARDSCOPE_TRY(comm->allReduce(label("all-reduce", "a", sum.size() * 4), bytesOf(sum), false));
        }
        return {};
    });
    for (const auto& result : results) EXPECT_FALSE(result);
    expectSomeError(results, "the disk is on fire");
}

std::string caseName(const ::testing::TestParamInfo<std::tuple<WorldKind, std::int64_t>>& info) {
    return std::get<0>(info.param).name + std::to_string(std::get<1>(info.param));
}

INSTANTIATE_TEST_SUITE_P(Threads, CommunicatorConformance,
                         ::testing::Combine(::testing::Values(WorldKind{"threads", testing::runOnThreadWorld}),
                                            ::testing::Values(1, 2, 3, 4)),
                         caseName);
INSTANTIATE_TEST_SUITE_P(Gloo, CommunicatorConformance,
                         ::testing::Combine(::testing::Values(WorldKind{"gloo", testing::runOnGloo}),
                                            ::testing::Values(1, 2, 3, 4)),
                         caseName);

}  // namespace
}  // namespace shardscope::runtime
