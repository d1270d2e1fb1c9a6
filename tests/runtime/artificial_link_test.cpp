// A slow link stretches a transfer to latency + wire bytes / bandwidth, and no shorter; what moves is the same.

#include "runtime/communicator/artificial_link.h"

#include <gtest/gtest.h>

#include <future>
#include <thread>

#include "runtime/communicator/thread_communicator.h"
#include "runtime/device/clock.h"

namespace shardscope::runtime {
namespace {

using core::Result;

std::span<std::byte> bytesOf(std::vector<float>& values) {
    return std::as_writable_bytes(std::span(values));
}

TEST(ArtificialLink, StatesItsFormula) {
    EXPECT_EQ((ArtificialLink{1e9, 0}.nanoseconds(1000)), 1000);
    EXPECT_EQ((ArtificialLink{1e9, 5e-6}.nanoseconds(1000)), 6000);
    EXPECT_EQ((ArtificialLink{0, 5e-6}.nanoseconds(1000)), 5000) << "no bandwidth: latency alone";
    EXPECT_EQ(ArtificialLink::ringBytes(4000, 4), 3000);
    EXPECT_EQ(ArtificialLink::ringBytes(4000, 1), 0);
    EXPECT_FALSE(ArtificialLink{}.given());
}

TEST(ArtificialLink, NoTransferIsShorter) {
    constexpr double kBandwidth = 1e6, kLatency = 200e-6;
    ThreadWorld world(2);
    const auto done = world.run([&](std::int64_t rank) -> Result<void> {
        const auto comm = slowedDown(world.communicator("dp_shard", {0, 1}, rank), {kBandwidth, kLatency});
        EXPECT_EQ(comm->rank(), rank);
        EXPECT_EQ(comm->size(), 2);
        std::vector<float> all(500, static_cast<float>(rank)), share(250), sum(500, 1);
        const auto expectAtLeast = [&](const Transfer& transfer, double bytes) {
            EXPECT_GE(transfer.end - transfer.transferStart,
                      static_cast<std::int64_t>((kLatency + bytes / kBandwidth) * 1e9) - 1);
            EXPECT_GE(transfer.transferStart, transfer.arrival);
        };
        SHARDSCOPE_ASSIGN(Transfer transfer, comm->allGather({"all-gather", "a", 0, 2000}, bytesOf(all)));
        expectAtLeast(transfer, 1000);
        EXPECT_EQ(all.front(), 0);
        EXPECT_EQ(all.back(), 1);
        SHARDSCOPE_ASSIGN(transfer,
                          comm->reduceScatter({"reduce-scatter", "a", 0, 2000}, bytesOf(all), bytesOf(share), false));
        expectAtLeast(transfer, 1000);
        SHARDSCOPE_ASSIGN(transfer, comm->allReduce({"all-reduce", "a", 0, 2000}, bytesOf(sum), false));
        expectAtLeast(transfer, 2000);
        EXPECT_EQ(sum, std::vector<float>(500, 2));
        SHARDSCOPE_ASSIGN(transfer, rank == 0 ? comm->send({"message", "a", 0, 1000}, bytesOf(share), 1)
                                              : comm->receive({"message", "a", 0, 1000}, bytesOf(share), 0));
        expectAtLeast(transfer, 1000);
        SHARDSCOPE_ASSIGN(transfer, comm->barrier({"barrier", "", 0, 0}));
        expectAtLeast(transfer, 0);
        return comm->agree("a number", 7);
    });
    EXPECT_TRUE(done) << (done ? "" : core::describe(done.error()));
}

/// Every call is done at once, and `abandon` means nothing to it: what ends early ends on the link.
class Instant final : public Communicator {
public:
    explicit Instant(std::promise<void>& moved) : m_moved(moved) {}
    [[nodiscard]] std::int64_t rank() const override { return 0; }
    [[nodiscard]] std::int64_t size() const override { return 1; }
    Result<Transfer> allGather(const CallLabel&, std::span<std::byte>) override { return now(); }
    Result<Transfer> reduceScatter(const CallLabel&, std::span<const std::byte>, std::span<std::byte>, bool) override {
        return now();
    }
    Result<Transfer> allReduce(const CallLabel&, std::span<std::byte>, bool) override { return now(); }
    Result<Transfer> send(const CallLabel&, std::span<const std::byte>, std::int64_t) override { return now(); }
    Result<Transfer> receive(const CallLabel&, std::span<std::byte>, std::int64_t) override { return now(); }
    Result<Transfer> barrier(const CallLabel&) override { return now(); }
    Result<void> agree(const std::string&, std::uint64_t) override { return {}; }
    void abandon(const core::Error&) override {}

private:
    Transfer now() {
        m_moved.set_value();
        const std::int64_t time = clockNow();
        return {time, time, time};
    }
    std::promise<void>& m_moved;
};

// The link would take eleven days.
TEST(ArtificialLink, AbandoningWakesATransferThatItHolds) {
    std::promise<void> moved;
    const auto comm = slowedDown(std::make_unique<Instant>(moved), {0, 1e6});
    std::thread other([&] {
        moved.get_future().wait();
        comm->abandon({core::ErrorCode::Input, "out of paper", {}, {}});
        comm->abandon({core::ErrorCode::Input, "out of ink", {}, {}});
    });
    const auto done = comm->barrier({"barrier", "", 0, 0});
    other.join();
    ASSERT_FALSE(done);
    EXPECT_EQ(done.error().message, "out of paper");
}

TEST(ArtificialLink, LetsErrorsThrough) {
    ThreadWorld world(2);
    const auto done = world.run([&](std::int64_t rank) -> Result<void> {
        const auto comm = slowedDown(world.communicator("dp_shard", {0, 1}, rank), {1e6, 0});
        if (rank == 0) {
            comm->abandon({core::ErrorCode::Input, "out of paper", {}, {}});
            return core::fail(core::ErrorCode::Input, "out of paper");
        }
        SHARDSCOPE_TRY(comm->barrier({"barrier", "", 0, 0}));
        return {};
    });
    ASSERT_FALSE(done);
    EXPECT_EQ(done.error().message, "out of paper");
    EXPECT_EQ(done.error().where, "rank 0");
}

}  // namespace
}  // namespace shardscope::runtime
