#pragma once

// One rank of a training in a process of its own: it joins the store, trains over Gloo, and tells what came of it.

#include <optional>

#include "core/base/result.h"
#include "runtime/gloo/gloo_world.h"
#include "runtime/rendezvous/socket.h"
#include "runtime/train/train.h"

namespace shardscope::runtime {

struct RankProcess {
    std::int64_t rank = 0;
    Endpoint store;
    GlooPatience patience;
};

struct RankEnd {
    core::Result<void> result;
    bool told = false;  ///< whoever serves the store knows the error
};
/// Trains as one rank of config.plan's, with the others that join the store there. Errors: ranks that do not join in
/// time, by name; whatever training refuses. TrainConfig's callbacks are left out: progress goes to the store.
[[nodiscard]] RankEnd runRank(const TrainConfig& config, const RankProcess& process);

/// The same as rank 0, which serves the store at `process.store` and puts the results together.
[[nodiscard]] core::Result<TrainReport> runRankAndServe(const TrainConfig& config, const RankProcess& process);

/// Set by the launcher for the ranks that it starts: who this process is. None without it.
[[nodiscard]] std::optional<RankProcess> launchedRank();
/// Ends this process with the launcher, whatever ends that one. Interruptions from the terminal are the launcher's.
void followLauncher();

/// Names of the launcher's environment variables.
inline constexpr const char* kRankVariable = "SHARDSCOPE_RANK";
inline constexpr const char* kStoreVariable = "SHARDSCOPE_RENDEZVOUS";
inline constexpr const char* kLauncherVariable = "SHARDSCOPE_LAUNCHER";  ///< process id

}  // namespace shardscope::runtime
