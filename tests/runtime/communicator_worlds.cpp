#include "tests/runtime/communicator_worlds.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <thread>

#include "runtime/communicator/thread_communicator.h"
#include "runtime/gloo/gloo_world.h"
#include "runtime/rendezvous/store_client.h"
#include "runtime/rendezvous/store_server.h"

namespace shardscope::runtime::testing {

std::vector<core::Result<void>> runOnThreadWorld(std::int64_t ranks, std::chrono::milliseconds patience,
                                                 const RankBody& body) {
    ThreadWorld world(ranks, patience);
    std::vector<core::Result<void>> results(static_cast<std::size_t>(ranks));
    const auto all = world.run([&](std::int64_t rank) -> core::Result<void> {
        const auto open = [&](const std::string& name, const std::vector<std::int64_t>& members) {
            return world.communicator(name, members, rank);
        };
        return results[static_cast<std::size_t>(rank)] = body(rank, open);
    });
    EXPECT_EQ(all.has_value(), std::all_of(results.begin(), results.end(), [](const auto& r) { return !!r; }));
    return results;
}

std::vector<core::Result<void>> runOnGloo(std::int64_t ranks, std::chrono::milliseconds patience,
                                          const RankBody& body) {
    std::vector<core::Result<void>> results(static_cast<std::size_t>(ranks));
    StoreServer::Settings settings;
    settings.ranks = ranks;
    const auto server = StoreServer::start(std::move(settings));
    EXPECT_TRUE(server);
    if (!server) return results;
    std::vector<std::unique_ptr<GlooWorld>> worlds(static_cast<std::size_t>(ranks));
    const auto runRank = [&](std::int64_t rank) -> core::Result<void> {
        const RankAddress address{(*server)->endpoint(), rank, ranks, 0};
        SHARDSCOPE_ASSIGN(auto client, StoreClient::join(address, ConnectionPurpose::Rank, std::chrono::seconds(20)));
        auto& world = worlds[static_cast<std::size_t>(rank)];
        SHARDSCOPE_ASSIGN(world, GlooWorld::create(address, client.ownAddress(), {patience, std::chrono::seconds(20)}));
        const auto open = [&](const std::string& name, const std::vector<std::int64_t>& members) {
            return world->communicator(name, members);
        };
        return body(rank, open);
    };
    std::vector<std::thread> threads;
    for (std::int64_t rank = 0; rank < ranks; ++rank)
        threads.emplace_back([&, rank] {
            auto& result = results[static_cast<std::size_t>(rank)];
            result = runRank(rank);
            // As a process that ends: its peers must not wait for it.
            if (!result) worlds[static_cast<std::size_t>(rank)].reset();
        });
    for (std::thread& thread : threads) thread.join();
    return results;
}

}  // namespace shardscope::runtime::testing
