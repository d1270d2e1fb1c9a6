// The store that ranks meet at: waits, names of those who are missing, and strangers on its port. One clock from
// exchanges.

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <cstring>
#include <mutex>
#include <thread>

#include "runtime/launch/rank_messages.h"
#include "runtime/rendezvous/clock_fit.h"
#include "runtime/rendezvous/store_client.h"
#include "runtime/rendezvous/store_server.h"
#include "runtime/rendezvous/wire.h"

namespace shardscope::runtime {
namespace {

using namespace std::chrono_literals;
using core::Result;

std::span<const std::byte> bytesOf(const std::string& text) {
    return std::as_bytes(std::span(text));
}

std::unique_ptr<StoreServer> storeFor(std::int64_t ranks, StoreServer::Settings settings = {}) {
    settings.ranks = ranks;
    auto store = StoreServer::start(std::move(settings));
    EXPECT_TRUE(store) << (store ? "" : core::describe(store.error()));
    return store ? std::move(*store) : nullptr;
}

Result<StoreClient> join(const StoreServer& store, std::int64_t rank, std::int64_t ranks,
                         std::uint64_t fingerprint = 0) {
    return StoreClient::join({store.endpoint(), rank, ranks, fingerprint}, ConnectionPurpose::Rank, 5s);
}

TEST(Rendezvous, AValueIsWaitedFor) {
    const auto store = storeFor(2);
    auto first = join(*store, 0, 2), second = join(*store, 1, 2);
    ASSERT_TRUE(first && second);
    std::thread later([&] {
        std::this_thread::sleep_for(50ms);
        EXPECT_TRUE(second->set("address", bytesOf("here")));
    });
    const auto value = first->get("address", 10s);
    later.join();
    ASSERT_TRUE(value) << core::describe(value.error());
    EXPECT_EQ(std::string(reinterpret_cast<const char*>(value->data()), value->size()), "here");
    EXPECT_TRUE(first->waitForEveryone(0ms));
    const auto never = first->get("nothing", 30ms);
    ASSERT_FALSE(never);
    EXPECT_EQ(never.error().message, "nothing was not there within 30 ms");
}

TEST(Rendezvous, RanksThatDoNotJoinAreNamed) {
    const auto store = storeFor(4);
    auto own = join(*store, 2, 4);
    ASSERT_TRUE(own);
    EXPECT_EQ(store->missing(), (std::vector<std::int64_t>{0, 1, 3}));
    const auto everyone = own->waitForEveryone(50ms);
    ASSERT_FALSE(everyone);
    EXPECT_EQ(everyone.error().message, "ranks 0, 1, 3 did not join within 50 ms");
}

// More than the store keeps connections for: the silent give way to who says who it is.
TEST(Rendezvous, ConnectionsThatSayNothingKeepNobodyFromJoining) {
    const auto store = storeFor(2);
    std::vector<Socket> silent;
    for (int i = 0; i < 300; ++i) {
        auto socket = connectTo(store->endpoint(), std::chrono::steady_clock::now() + 5s);
        ASSERT_TRUE(socket) << core::describe(socket.error());
        silent.push_back(std::move(*socket));
    }
    auto first = join(*store, 0, 2), second = join(*store, 1, 2);
    ASSERT_TRUE(first) << core::describe(first.error());
    ASSERT_TRUE(second) << core::describe(second.error());
    EXPECT_TRUE(first->waitForEveryone(5s));
}

TEST(Rendezvous, WhoDoesNotFitIsRefused) {
    StoreServer::Settings settings;
    settings.fingerprint = 7;
    const auto store = storeFor(2, std::move(settings));
    const auto refusal = [&](std::int64_t rank, std::int64_t ranks, std::uint64_t fingerprint) {
        const auto client = join(*store, rank, ranks, fingerprint);
        return client ? std::string("joined") : client.error().message;
    };
    EXPECT_EQ(refusal(0, 3, 7), "rank 0 was started for 3 ranks, rank 0 for 2");
    EXPECT_EQ(refusal(0, 2, 8),
              "rank 0 was started with another model, plan, number of steps, data, device or other option than rank 0");
    EXPECT_EQ(refusal(2, 2, 7), "rank 2 of 2 ranks");
    const auto kept = join(*store, 1, 2, 7);
    EXPECT_TRUE(kept);
    EXPECT_EQ(refusal(1, 2, 7), "rank 1 has joined already");
}

TEST(Rendezvous, WhoWaitsForAllToJoinHearsOfOneThatDoesNotFit) {
    const auto store = storeFor(2);
    auto own = join(*store, 0, 2);
    ASSERT_TRUE(own);
    ASSERT_FALSE(join(*store, 1, 3));
    const auto everyone = own->waitForEveryone(60s);
    ASSERT_FALSE(everyone);
    EXPECT_EQ(everyone.error().message, "rank 1 was started for 3 ranks, rank 0 for 2");
    EXPECT_EQ(everyone.error().code, core::ErrorCode::Input);
    EXPECT_FALSE(own->lostRank());
    // It is no hindrance once all are there.
    const auto other = join(*store, 1, 2);
    ASSERT_TRUE(other);
    EXPECT_TRUE(own->waitForEveryone(60s));
}

TEST(Rendezvous, JoiningEndsWhereNobodyAnswers) {
    const auto mute = listenAt({"127.0.0.1", 0});
    ASSERT_TRUE(mute);
    const RankAddress address{{"127.0.0.1", portOf(*mute)}, 1, 2, 0};
    const auto client = StoreClient::join(address, ConnectionPurpose::Rank, 50ms);
    ASSERT_FALSE(client);
    EXPECT_EQ(client.error().message, "rank 0 did not answer within 50 ms");
    EXPECT_EQ(client.error().where, toString(address.store));
}

TEST(Rendezvous, AWaitEndsWhenARankHasGone) {
    std::atomic<std::int64_t> lost{-1};
    StoreServer::Settings settings;
    settings.lost = [&](std::int64_t rank) { lost = rank; };
    const auto store = storeFor(2, std::move(settings));
    auto own = join(*store, 0, 2);
    ASSERT_TRUE(own);
    {
        const auto gone = join(*store, 1, 2);
        ASSERT_TRUE(gone);
    }
    const auto value = own->get("of rank 1", 20s);
    ASSERT_FALSE(value);
    EXPECT_EQ(value.error().message, "rank 1 has gone");
    EXPECT_TRUE(own->lostRank());
    EXPECT_EQ(lost, 1);
}

TEST(Rendezvous, ARankThatLeavesIsNotLost) {
    std::atomic<int> lost{0};
    StoreServer::Settings settings;
    settings.lost = [&](std::int64_t) { ++lost; };
    const auto store = storeFor(2, std::move(settings));
    auto own = join(*store, 0, 2);
    ASSERT_TRUE(own);
    {
        auto done = join(*store, 1, 2);
        ASSERT_TRUE(done && done->leave());
    }
    EXPECT_FALSE(own->get("nothing", 50ms));
    EXPECT_FALSE(own->lostRank());
    EXPECT_EQ(lost, 0);
}

TEST(Rendezvous, LongMessagesArriveWholeAndInOrder) {
    std::mutex mutex;
    std::vector<std::vector<std::byte>> told;
    StoreServer::Settings settings;
    settings.told = [&](std::int64_t, std::vector<std::byte> message) {
        const std::lock_guard lock(mutex);
        told.push_back(std::move(message));
    };
    const auto store = storeFor(1, std::move(settings));
    auto own = join(*store, 0, 1);
    ASSERT_TRUE(own);
    std::vector<std::vector<std::byte>> sent;
    for (const std::size_t size : {std::size_t{0}, std::size_t{5}, kPiece, 5 * kPiece + 3}) {
        sent.emplace_back(size);
        for (std::size_t i = 0; i < size; ++i) sent.back()[i] = static_cast<std::byte>(i * 7 + size);
        ASSERT_TRUE(own->tell(sent.back()));
    }
    ASSERT_TRUE(own->ping());  // answered after what came before it
    const std::lock_guard lock(mutex);
    EXPECT_TRUE(told == sent);
}

TEST(Rendezvous, APortInUseIsOneClearError) {
    const auto store = storeFor(1);
    StoreServer::Settings same;
    same.at = store->endpoint();
    const auto second = StoreServer::start(std::move(same));
    ASSERT_FALSE(second);
    EXPECT_EQ(second.error().message, "port " + std::to_string(store->endpoint().port) + " is in use");
}

TEST(Rendezvous, StrangersDisturbNobody) {
    const auto store = storeFor(1);
    std::vector<std::string> strange{"GET / HTTP/1.1\r\n\r\n", std::string(300, '\0'),
                                     std::string("\xff\xff\xff\xff", 4), std::string("\x01\x00\x00\x00\x02", 5),
                                     std::string("\x05\0\0\0\x01SHS1", 9)};
    std::uint32_t seed = 1;
    for (int i = 0; i < 50; ++i) {
        std::string noise;
        for (int k = 0; k < 1 + i * 5; ++k) noise += static_cast<char>((seed = seed * 1664525u + 1013904223u) >> 24);
        strange.push_back(noise);
    }
    for (const std::string& bytes : strange) {
        const auto socket = connectTo(store->endpoint(), std::chrono::steady_clock::now() + 5s);
        ASSERT_TRUE(socket);
        (void)!send(socket->descriptor(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
    }
    // A joined rank that goes mad is dropped, too.
    auto mad = join(*store, 0, 1);
    ASSERT_TRUE(mad);
    EXPECT_FALSE(mad->set(std::string(kMostKey + 1, 'k'), {}));
    auto extra = StoreClient::join({store->endpoint(), 0, 1, 0}, ConnectionPurpose::Extra, 5s);
    ASSERT_TRUE(extra);
    EXPECT_TRUE(extra->set("key", bytesOf("value")));
}

// Half a message may have gone; what followed would be taken for its rest.
TEST(Rendezvous, AfterAMessageThatDidNotGetThroughNothingIsSent) {
    auto store = storeFor(1);
    auto own = join(*store, 0, 1);
    ASSERT_TRUE(own);
    store.reset();
    const std::vector<std::byte> message(kPiece);
    bool failed = false;
    for (int i = 0; i < 100 && !failed; ++i) failed = !own->tell(message);
    ASSERT_TRUE(failed);
    const auto next = own->ping();
    ASSERT_FALSE(next);
    EXPECT_EQ(next.error().message, "the connection to the rendezvous was given up");
}

TEST(Rendezvous, ANameOfThisMachineThatOthersCannotReachIsTold) {
    for (const char* fine : {"127.0.0.1", "127.0.1.1", "::1", "localhost", "ip6-localhost", "203.0.113.7"})
        EXPECT_EQ(loopbackBehind(fine), "") << fine;
    char name[256] = {};
    ASSERT_EQ(gethostname(name, sizeof name - 1), 0);
    const auto listening = listenAt({name, 0});
    if (!listening || std::string(name).find("localhost") != std::string::npos) return;  // not in this network
    const std::string at = ownAddressOf(*listening);
    EXPECT_EQ(loopbackBehind(name), at.starts_with("127.") || at == "::1" ? at : "");
}

TEST(Rendezvous, EndpointsAreReadOrRefused) {
    EXPECT_EQ(toString(*endpointOf("10.0.0.1:29500")), "10.0.0.1:29500");
    EXPECT_EQ(toString(*endpointOf("[::1]:80")), "[::1]:80");
    for (const char* wrong : {"", ":1", "host", "host:", "host:65536", "host:1x", "::1:80", "host:-1"})
        EXPECT_FALSE(endpointOf(wrong)) << wrong;
}

/// Exchanges of a rank whose clock is `offset` behind and loses `drift` of its time, answered after `trip`.
std::vector<ClockSample> exchangesAt(std::int64_t instant, std::int64_t offset, double drift, std::int64_t trip) {
    std::vector<ClockSample> samples;
    for (std::int64_t i = 0; i < 20; ++i) {
        const std::int64_t local = instant + i * 100'000;
        // The way there takes longer or shorter than the way back: what an exchange cannot tell.
        const std::int64_t skew = (i % 5 - 2) * trip / 8;
        samples.push_back(
            {local, offset + std::llround(drift * static_cast<double>(local)) + skew, trip + i % 3 * trip});
    }
    return samples;
}

TEST(ClockFit, FindsOffsetAndDriftWithinTheRoundTrip) {
    const std::int64_t second = 1'000'000'000, trip = 40'000;
    const std::int64_t offset = 5'000'000;
    const double drift = 20e-6;  // 20 us a second
    const ClockFit fit(exchangesAt(0, offset, drift, trip), exchangesAt(100 * second, offset, drift, trip));
    for (const std::int64_t local : {std::int64_t{0}, 50 * second, 100 * second})
        EXPECT_NEAR(static_cast<double>(fit.toCommon(local) - local),
                    static_cast<double>(offset) + drift * static_cast<double>(local), trip / 2)
            << local;
    EXPECT_NEAR(fit.driftPerSecond(), 20'000, 1000);
    EXPECT_GT(fit.residual(), 0);
    EXPECT_LE(fit.residual(), trip);
}

// What comes over the network may say anything.
TEST(ClockFit, IsNeverFartherOffThanAnyClock) {
    const std::int64_t far = std::int64_t{1} << 60;
    const std::vector<ClockSample> atStart{{0, -far, 0}}, atEnd{{1, far, 0}};
    const ClockFit fit(atStart, atEnd);
    EXPECT_EQ(fit.driftPerSecond(), 1e7);
    EXPECT_LT(fit.toCommon(far), far);
    EXPECT_GT(fit.toCommon(-far), -2 * far - far / 32);
}

TEST(ClockFit, LeavesClocksAloneThatMayBeOne) {
    const ClockFit fit(exchangesAt(0, 0, 0, 40'000), exchangesAt(1'000'000'000, 0, 0, 40'000));
    EXPECT_EQ(fit.offset(), 0);
    EXPECT_EQ(fit.driftPerSecond(), 0);
    EXPECT_EQ(fit.toCommon(123'456'789), 123'456'789);
}

RankResult someResult() {
    RankResult result;
    result.record.report = {1, "stage 1", {}, 12, {}, {}};
    result.record.report.typical.breakdown.waiting = 5;
    result.record.report.typical.activities.back() = 6;
    result.record.report.peak[2] = 77;
    StepOutcome outcome;
    outcome.losses = {2.5, 1.25};
    outcome.begin = -4;
    outcome.end = 9;
    outcome.times.push_back({core::OpId(std::size_t{3}), 1, 2, 3});
    result.record.outcomes = {outcome, {}};
    result.record.parameters = {{1.0f, 2.0f}, {}};
    result.clockAtStart = {{1, 2, 3}};
    return result;
}

TEST(RankMessages, AreReadAsTheyWereWritten) {
    const auto read = decode(encode(someResult()));
    ASSERT_TRUE(read) << core::describe(read.error());
    const auto& result = std::get<RankResult>(*read);
    EXPECT_EQ(result.record.report.rank, 1);
    EXPECT_EQ(result.record.report.rankClass, "stage 1");
    EXPECT_EQ(result.record.report.peak[2], 77);
    EXPECT_EQ(result.record.report.typical, someResult().record.report.typical);
    ASSERT_EQ(result.record.outcomes.size(), 2u);
    EXPECT_EQ(result.record.outcomes[0].losses, (std::vector<double>{2.5, 1.25}));
    EXPECT_EQ(result.record.outcomes[0].begin, -4);
    EXPECT_EQ(result.record.outcomes[0].times[0].transferStart, 2);
    EXPECT_EQ(result.record.parameters, (ParameterValues{{1.0f, 2.0f}, {}}));
    EXPECT_EQ(result.clockAtStart[0].roundTrip, 3);
    const core::Error error{core::ErrorCode::Unsupported, "found", "there", "do"};
    const auto failure = decode(encode(RankFailure{error, true}));
    ASSERT_TRUE(failure);
    EXPECT_EQ(std::get<RankFailure>(*failure).error, error);
    EXPECT_TRUE(std::get<RankFailure>(*failure).lostPeer);
}

// Each takes less of the message than of memory.
TEST(RankMessages, MoreParametersThanAnyModelHasAreRefused) {
    RankResult result = someResult();
    result.record.parameters.resize(std::size_t{1} << 20);
    EXPECT_TRUE(decode(encode(result)));
    result.record.parameters.emplace_back();
    EXPECT_FALSE(decode(encode(result)));
}

// Cut anywhere, or with any byte changed: an error or another value, never a read beyond the end.
TEST(RankMessages, DamagedOnesAreErrors) {
    const std::vector<std::byte> whole = encode(someResult());
    for (std::size_t size = 0; size < whole.size(); ++size) EXPECT_FALSE(decode(std::span(whole).first(size))) << size;
    for (std::size_t at = 0; at < whole.size(); ++at) {
        std::vector<std::byte> damaged = whole;
        damaged[at] ^= std::byte{0xff};
        (void)decode(damaged);
    }
}

}  // namespace
}  // namespace shardscope::runtime
