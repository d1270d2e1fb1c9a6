#include "runtime/launch/rank_process.h"

#include <fmt/format.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <charconv>
#include <csignal>
#include <cstdlib>
#include <string_view>

#include "runtime/communicator/rank_error.h"
#include "runtime/launch/rank_collector.h"
#include "runtime/launch/rank_messages.h"

namespace shardscope::runtime {

using core::ErrorCode;
using core::Result;

namespace {

std::optional<std::int64_t> numberIn(const char* variable) {
    const char* text = std::getenv(variable);
    if (text == nullptr) return std::nullopt;
    const std::string_view digits(text);
    std::int64_t number = 0;
    const auto read = std::from_chars(digits.data(), digits.data() + digits.size(), number);
    if (read.ec != std::errc() || read.ptr != digits.data() + digits.size()) return std::nullopt;
    return number;
}

constexpr std::chrono::milliseconds kTellAtOnce{1000};

/// What a rank does between joining and leaving.
Result<void> trainAndTell(Training& training, StoreClient& store, const RankAddress& address, GlooPatience patience,
                          std::unique_ptr<GlooWorld>& world) {
    SHARDSCOPE_TRY(training.loadValues());
    SHARDSCOPE_TRY(store.waitForEveryone(patience.rendezvous));
    RankResult result;
    SHARDSCOPE_ASSIGN(result.clockAtStart, exchangeClocks(store));
    const ClockFit clock(result.clockAtStart, {});
    SHARDSCOPE_ASSIGN(world, GlooWorld::create(address, store.ownAddress(), patience, clock.offset()));
    // The rank's own connection is busy with what its thread tells, and its end may be long in coming.
    world->onAbandon([&address, &world](const core::Error& why) {
        auto other = StoreClient::join(address, ConnectionPurpose::Extra, kTellAtOnce);
        if (other) (void)other->tell(encode(RankFailure{why, world->lostPeer()}));
    });
    const auto communicators = [&](const std::string& name, const std::vector<std::int64_t>& members) {
        return world->communicator(name, members);
    };
    SHARDSCOPE_ASSIGN(result.record, trainRank(training, address.rank, communicators));
    SHARDSCOPE_ASSIGN(result.clockAtEnd, exchangeClocks(store));
    SHARDSCOPE_TRY(store.tell(encode(std::move(result))));
    // A connection that ends throws away what its peer has not taken yet, so nobody ends before all have finished.
    SHARDSCOPE_TRY(store.set(fmt::format("finished/{}", address.rank), {}));
    for (std::int64_t rank = 0; rank < address.ranks; ++rank)
        SHARDSCOPE_TRY(store.get(fmt::format("finished/{}", rank), patience.call));
    return {};
}

RankEnd joinAndTrain(Training& training, StoreClient& store, const RankAddress& address, GlooPatience patience) {
    std::unique_ptr<GlooWorld> world;
    auto done = trainAndTell(training, store, address, patience, world);
    if (done) return {store.leave(), false};
    // That the connection ends without a farewell tells the others. The store may be what has gone.
    const bool lostPeer = store.lostRank() || (world != nullptr && world->lostPeer());
    const auto told = store.tell(encode(RankFailure{done.error(), lostPeer}));
    return {std::move(done), told.has_value()};
}

RankEnd joinAs(const TrainConfig& config, const RankProcess& process) {
    StoreClient* connected = nullptr;
    TrainConfig own = config;
    own.launched = nullptr;
    own.progress = [&](const RankStep& step) {
        // A store that has gone shows in the next call that needs an answer.
        (void)connected->tell(encode(step));
    };
    auto training = Training::create(own);
    if (!training) return {tl::unexpected(std::move(training).error()), false};
    const RankAddress address{process.store, process.rank, (*training)->ranks(), fingerprintOf(**training)};
    auto store = StoreClient::join(address, ConnectionPurpose::Rank, process.patience.rendezvous);
    if (!store) return {tl::unexpected(std::move(store).error()), false};
    connected = &*store;
    return joinAndTrain(**training, *store, address, process.patience);
}

}  // namespace

RankEnd runRank(const TrainConfig& config, const RankProcess& process) {
    return joinAs(config, process);
}

Result<TrainReport> runRankAndServe(const TrainConfig& config, const RankProcess& process) {
    SHARDSCOPE_ASSIGN(const std::unique_ptr<Training> training, Training::create(config));
    RankCollector collector(*training);
    SHARDSCOPE_ASSIGN(const std::unique_ptr<StoreServer> server, collector.serve(process.store));
    RankProcess joined = process;
    joined.store = server->endpoint();
    const Result<void> done = joinAs(config, joined).result;
    // What failed elsewhere may be the cause of what failed here, and is told at about the same time.
    constexpr auto kRemarks = std::chrono::milliseconds(500);
    const Deadline until = std::chrono::steady_clock::now() + kRemarks;
    while (!done || !collector.complete()) {
        const auto failure = collector.failure();
        if (failure && (!failure->failure.lostPeer || std::chrono::steady_clock::now() >= until))
            return tl::unexpected(ofRank(failure->rank, failure->failure.error));
        if (std::chrono::steady_clock::now() >= until) break;
        (void)collector.wait(std::chrono::milliseconds(20));
    }
    if (!done) return tl::unexpected(done.error());
    if (!collector.complete())
        return core::fail(ErrorCode::Io, "not every rank has told what came of its training", {},
                          "what the other ranks print says why");
    server->waitUntilAllLeft(std::chrono::seconds(5));
    return collector.report();
}

std::optional<RankProcess> launchedRank() {
    const auto rank = numberIn(kRankVariable), launcher = numberIn(kLauncherVariable);
    const char* store = std::getenv(kStoreVariable);
    if (!rank || !launcher || store == nullptr) return std::nullopt;
    const auto endpoint = endpointOf(store);
    if (!endpoint) return std::nullopt;
    return RankProcess{*rank, *endpoint, {}};
}

void followLauncher() {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    std::signal(SIGINT, SIG_IGN);
    // A rank writes no file that must not stay half-written, and the launcher tells which signal has ended it. What the
    // launcher's parent ignores stays ignored.
    for (const int number : {SIGTERM, SIGHUP, SIGQUIT})
        if (std::signal(number, SIG_DFL) == SIG_IGN) std::signal(number, SIG_IGN);
    // It may have ended before the wish was known.
    const auto launcher = numberIn(kLauncherVariable);
    if (!launcher || *launcher != static_cast<std::int64_t>(getppid())) _exit(1);
}

}  // namespace shardscope::runtime
