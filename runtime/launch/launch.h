#pragma once

// The ranks of a training as processes of this machine: starts one a rank, hears what they tell, and ends all when one
// ends before its time.

#include <functional>
#include <string>
#include <vector>

#include "core/base/result.h"
#include "runtime/gloo/gloo_world.h"
#include "runtime/rendezvous/socket.h"
#include "runtime/train/train.h"

namespace shardscope::runtime {

struct LaunchOptions {
    /// The program that runs one rank and its arguments (the first is its own name). It is told which rank it is by
    /// launchedRank's variables, and must build the same configuration.
    std::string program = "/proc/self/exe";
    std::vector<std::string> arguments;
    Endpoint store{"127.0.0.1", 0};
    /// A line that a rank wrote to one of its outputs, without its end. From the calling thread.
    std::function<void(std::int64_t rank, const std::string& line)> said;
};

/// Checks the configuration before anything is started. Errors: as trainSteps; a port that is taken; a rank that died,
/// by name and reason; Cancelled when this process was told to end (SIGINT, SIGTERM, SIGHUP, SIGQUIT). However it ends,
/// no process is left. Only one thread may launch at a time; `config.progress` is called from the threads
/// that hear the ranks.
[[nodiscard]] core::Result<TrainReport> launchRanks(const TrainConfig& config, const LaunchOptions& options);

}  // namespace shardscope::runtime
