#include "runtime/calibrate/measure_transfers.h"

#include <chrono>
#include <memory>
#include <numeric>
#include <thread>
#include <utility>
#include <vector>

#include "core/base/median.h"
#include "runtime/communicator/thread_communicator.h"
#include "runtime/gloo/gloo_world.h"
#include "runtime/rendezvous/store_client.h"
#include "runtime/rendezvous/store_server.h"

namespace shardscope::runtime {

using core::medianOf;
using core::Result;

namespace {

constexpr std::int64_t kRepeats = 11;
constexpr std::chrono::seconds kPatience{60};

using Call = std::function<Result<Transfer>(Communicator&, const CallLabel&, std::span<std::byte>)>;

/// Median time of a call at a few sizes, as the first rank sees it.
Result<core::TimeOfBytes> timeOfCall(Communicator& communicator, const char* operation, const Call& call) {
    std::vector<core::BytesSample> samples;
    for (std::int64_t perRank = 256; perRank <= (std::int64_t{1} << 17); perRank *= 8) {
        const std::int64_t bytes = perRank * communicator.size() * core::sizeOf(core::DType::F32);
        std::vector<std::byte> buffer(static_cast<std::size_t>(bytes));
        std::vector<double> seconds;
        for (std::int64_t i = 0; i < kRepeats; ++i) {
            SHARDSCOPE_TRY(communicator.barrier({"barrier", "calibration", 0, 0, core::DType::F32}));
            const CallLabel label{operation, "calibration", 0, bytes, core::DType::F32};
            SHARDSCOPE_ASSIGN(const Transfer transfer, call(communicator, label, buffer));
            if (i > 0) seconds.push_back(static_cast<double>(transfer.end - transfer.transferStart) * 1e-9);
        }
        samples.push_back({static_cast<double>(bytes), medianOf(std::move(seconds))});
    }
    return core::fitTime(samples);
}

Result<core::TransferTimes> transferTimes(Communicator& communicator) {
    core::TransferTimes times;
    times.ranks = communicator.size();
    SHARDSCOPE_ASSIGN(times.allGather,
                      timeOfCall(communicator, "all-gather", [](Communicator& c, const CallLabel& label, auto bytes) {
                          return c.allGather(label, bytes);
                      }));
    std::vector<std::byte> share;
    SHARDSCOPE_ASSIGN(
        times.reduceScatter,
        timeOfCall(communicator, "reduce-scatter", [&](Communicator& c, const CallLabel& label, auto bytes) {
            share.resize(bytes.size() / static_cast<std::size_t>(c.size()));
            return c.reduceScatter(label, bytes, share, true);
        }));
    SHARDSCOPE_ASSIGN(times.allReduce,
                      timeOfCall(communicator, "all-reduce", [](Communicator& c, const CallLabel& label, auto bytes) {
                          return c.allReduce(label, bytes, true);
                      }));
    SHARDSCOPE_ASSIGN(times.message,
                      timeOfCall(communicator, "message",
                                 [](Communicator& c, const CallLabel& label, auto bytes) -> Result<Transfer> {
                                     if (c.rank() == 0) return c.send(label, bytes, 1);
                                     if (c.rank() == 1) return c.receive(label, bytes, 0);
                                     return Transfer{};
                                 }));
    return times;
}

Result<core::TransferTimes> overThreads(const std::vector<std::int64_t>& members, const Wrap& wrap) {
    ThreadWorld world(static_cast<std::int64_t>(members.size()), kPatience);
    core::TransferTimes times;
    SHARDSCOPE_TRY(world.run([&](std::int64_t rank) -> Result<void> {
        const auto communicator = wrap(world.communicator("calibration", members, rank));
        SHARDSCOPE_ASSIGN(const core::TransferTimes seen, transferTimes(*communicator));
        if (rank == 0) times = seen;
        return {};
    }));
    return times;
}

/// Each rank with connections of its own, as in processes.
Result<core::TransferTimes> overGloo(const std::vector<std::int64_t>& members, const Wrap& wrap) {
    const auto ranks = static_cast<std::int64_t>(members.size());
    StoreServer::Settings settings;
    settings.ranks = ranks;
    SHARDSCOPE_ASSIGN(const std::unique_ptr<StoreServer> server, StoreServer::start(std::move(settings)));
    std::vector<Result<core::TransferTimes>> times(members.size(), core::TransferTimes{});
    std::vector<std::unique_ptr<GlooWorld>> worlds(members.size());
    const auto runRank = [&](std::int64_t rank) -> Result<core::TransferTimes> {
        const RankAddress address{server->endpoint(), rank, ranks, 0};
        SHARDSCOPE_ASSIGN(const auto client, StoreClient::join(address, ConnectionPurpose::Rank, kPatience));
        std::unique_ptr<GlooWorld>& world = worlds[static_cast<std::size_t>(rank)];
        SHARDSCOPE_ASSIGN(world, GlooWorld::create(address, client.ownAddress(), {kPatience, kPatience}));
        const auto communicator = wrap(world->communicator("calibration", members));
        return transferTimes(*communicator);
    };
    std::vector<std::thread> threads;
    for (const std::int64_t rank : members)
        threads.emplace_back([&, rank] {
            auto& own = times[static_cast<std::size_t>(rank)];
            own = runRank(rank);
            // Its peers must not wait for it.
            if (!own) worlds[static_cast<std::size_t>(rank)].reset();
        });
    for (std::thread& thread : threads) thread.join();
    for (const auto& own : times)
        if (!own) return tl::unexpected(own.error());
    return times.front();
}

}  // namespace

Result<core::TransferTimes> measureTransfers(std::int64_t ranks, Transport transport, const Wrap& wrap) {
    std::vector<std::int64_t> members(static_cast<std::size_t>(ranks));
    std::iota(members.begin(), members.end(), std::int64_t{0});
    const Wrap as = wrap ? wrap : [](std::unique_ptr<Communicator> communicator) { return communicator; };
    return transport == Transport::Threads ? overThreads(members, as) : overGloo(members, as);
}

}  // namespace shardscope::runtime
