// What Gloo's communicator says when it cannot go on and for what, and the headers by which members recognise a call.

#include <gtest/gtest.h>

#include <thread>

#include "runtime/gloo/call_header.h"
#include "runtime/gloo/gloo_world.h"
#include "runtime/rendezvous/store_client.h"
#include "runtime/rendezvous/store_server.h"

namespace shardscope::runtime {
namespace {

using namespace std::chrono_literals;

/// What rank 1 of four is told when rank 3 does not open their communicator.
void expectTheAbsentNamed(std::chrono::milliseconds patience, bool& inTime) {
    StoreServer::Settings settings;
    settings.ranks = 4;
    const auto store = StoreServer::start(std::move(settings));
    ASSERT_TRUE(store);
    std::vector<StoreClient> joined;
    for (std::int64_t rank = 0; rank < 4; ++rank) {
        auto client = StoreClient::join({(*store)->endpoint(), rank, 4, 0}, ConnectionPurpose::Rank, 5s);
        ASSERT_TRUE(client);
        joined.push_back(std::move(*client));
    }
    const auto world = GlooWorld::create({(*store)->endpoint(), 1, 4, 0}, "127.0.0.1", {1s, patience});
    ASSERT_TRUE(world) << core::describe(world.error());
    const auto comm = (*world)->communicator("dp_shard", {1, 3});
    const auto done = comm->barrier({"barrier", {}, 0, 0, core::DType::U8});
    ASSERT_FALSE(done);
    inTime = done.error().message ==
             "rank 3 did not open communicator dp_shard within " + std::to_string(patience.count()) + " ms";
    if (!inTime) return;
    // The rank has failed: nothing waits any more.
    const auto next = (*world)->communicator("dp_replicate", {0, 1})->barrier({"barrier", {}, 0, 0, core::DType::U8});
    ASSERT_FALSE(next);
    EXPECT_EQ(next.error().code, core::ErrorCode::Cancelled);
}

// The same patience is for joining the store, for which a busy machine may need more.
TEST(GlooWorld, AMemberThatDoesNotOpenTheCommunicatorIsNamed) {
    bool inTime = false;
    for (auto patience = 100ms; !inTime && patience < 10s && !HasFatalFailure(); patience *= 2)
        expectTheAbsentNamed(patience, inTime);
    EXPECT_TRUE(inTime);
}

// Before its streams have come to an end, which Gloo may hold up.
TEST(GlooWorld, WhyItIsAbandonedIsToldAtOnceAndOnce) {
    const auto world = GlooWorld::create({{"127.0.0.1", 1}, 0, 2, 0}, "127.0.0.1");
    ASSERT_TRUE(world) << core::describe(world.error());
    std::vector<std::string> told;
    (*world)->onAbandon([&](const core::Error& why) { told.push_back(why.message); });
    const auto one = (*world)->communicator("world", {0, 1}), other = (*world)->communicator("dp_shard", {0, 1});
    EXPECT_TRUE(told.empty());
    one->abandon({core::ErrorCode::Input, "a label is 10", {}, {}});
    other->abandon({core::ErrorCode::Cancelled, "another communicator", {}, {}});
    EXPECT_EQ(told, std::vector<std::string>{"a label is 10"});
}

/// Two ranks of this process and their ends of one communicator.
class TwoRanks : public ::testing::Test {
protected:
    void SetUp() override {
        StoreServer::Settings settings;
        settings.ranks = 2;
        auto store = StoreServer::start(std::move(settings));
        ASSERT_TRUE(store);
        m_store = std::move(*store);
        for (std::int64_t rank = 0; rank < 2; ++rank) {
            auto client = StoreClient::join({m_store->endpoint(), rank, 2, 0}, ConnectionPurpose::Rank, 60s);
            ASSERT_TRUE(client);
            m_joined.push_back(std::move(*client));
            auto world = GlooWorld::create({m_store->endpoint(), rank, 2, 0}, "127.0.0.1", {60s, 60s});
            ASSERT_TRUE(world) << core::describe(world.error());
            m_worlds.push_back(std::move(*world));
            m_ends.push_back(m_worlds.back()->communicator("pp", {0, 1}));
        }
    }

    std::unique_ptr<StoreServer> m_store;
    std::vector<StoreClient> m_joined;
    std::vector<std::unique_ptr<GlooWorld>> m_worlds;  ///< by rank, as the ends
    std::vector<std::unique_ptr<Communicator>> m_ends;
    const core::Error m_why{core::ErrorCode::Input, "a label is 10", {}, {}};
};

// Who looks for the cause would pass over a rank that has only lost a peer.
TEST_F(TwoRanks, APeerThatGoesAfterThisRankHasFailedIsNotWhy) {
    // Rank 1 announces bytes that never come, so that rank 0 waits for them until the connection breaks.
    const CallLabel label{"message", "blocks.3", 0, 64, core::DType::U8};
    core::Result<Transfer> received;
    std::thread waiting([&] {
        std::vector<std::byte> message(64);
        received = m_ends[0]->receive(label, message, 1);
    });
    const auto sent = m_ends[1]->send(label, {}, 0);
    EXPECT_TRUE(sent) << (sent ? "" : core::describe(sent.error()));
    m_worlds[0]->onAbandon([&](const core::Error&) {
        m_worlds[1].reset();
        waiting.join();
    });
    m_ends[0]->abandon(m_why);
    EXPECT_FALSE(received);
    EXPECT_FALSE(m_worlds[0]->lostPeer());
}

TEST_F(TwoRanks, APeerThatHasGoneBeforeIsWhy) {
    const CallLabel label{"message", "blocks.3", 0, 64, core::DType::U8};
    std::thread waiting([&] {
        std::vector<std::byte> message(64);
        EXPECT_FALSE(m_ends[0]->receive(label, message, 1));
    });
    EXPECT_TRUE(m_ends[1]->send(label, {}, 0));
    m_worlds[1].reset();
    waiting.join();
    m_ends[0]->abandon(m_why);
    EXPECT_TRUE(m_worlds[0]->lostPeer());
}

TEST(GlooWorld, AnAddressThatIsNoneIsAnError) {
    const auto world = GlooWorld::create({{"127.0.0.1", 1}, 0, 1, 0}, "203.0.113.7");
    ASSERT_FALSE(world);
    EXPECT_NE(world.error().message.find("203.0.113.7"), std::string::npos) << world.error().message;
}

TEST(CallHeader, MeetsItsCounterpartAlone) {
    const CallLabel label{"message", "blocks.3", 2, 64, core::DType::BF16};
    const auto send = headerOf(label, CallRole::Send, 0), receive = headerOf(label, CallRole::Receive, 9);
    EXPECT_TRUE(meets(send, receive));
    EXPECT_TRUE(meets(receive, send));
    EXPECT_FALSE(meets(send, send));
    EXPECT_FALSE(meets(send, headerOf(label, CallRole::Collective, 0)));
    for (const CallLabel& other : {CallLabel{"message", "blocks.4", 2, 64, core::DType::BF16},
                                   {"message", "blocks.3", 1, 64, core::DType::BF16},
                                   {"message", "blocks.3", 2, 32, core::DType::BF16},
                                   {"message", "blocks.3", 2, 64, core::DType::F32},
                                   {"messageblocks", ".3", 2, 64, core::DType::BF16}})
        EXPECT_FALSE(meets(send, headerOf(other, CallRole::Receive, 0))) << describe(other);
    EXPECT_EQ(describe(receive), "message of blocks.3 (64 bytes, bfloat16), which it receives, of micro-batch 2");
}

TEST(CallHeader, LongNamesAreCutAndStillDiffer) {
    CallLabel label{"all-gather", std::string(1000, 'x'), 0, 4, core::DType::F32};
    const auto one = headerOf(label, CallRole::Collective, 0);
    label.unit += 'y';
    EXPECT_FALSE(meets(one, headerOf(label, CallRole::Collective, 0)));
    EXPECT_LT(describe(one).size(), 300u);
}

}  // namespace
}  // namespace shardscope::runtime
