#pragma once

// run: whether ranks are threads of this process, processes that it starts, or processes that someone else starts.

#include <string>
#include <vector>

#include "cli/command/command.h"
#include "core/base/result.h"
#include "runtime/launch/rank_process.h"
#include "runtime/train/train.h"

namespace shardscope::cli {

struct RankPlacement {
    enum class Kind {
        Threads,
        Processes,  ///< all of them, started from here
        OneRank,    ///< this process is one that others meet
        Server,     ///< this process is rank 0 of such, and reports
    };
    Kind kind = Kind::Threads;
    runtime::RankProcess process;  ///< which rank this is, and where ranks meet
    bool launched = false;         ///< by this program, which knows the rank's errors
};

/// Errors: options that contradict each other.
[[nodiscard]] core::Result<RankPlacement> placementOf(const Arguments& arguments, runtime::DeviceKind device,
                                                      std::int64_t ranks);
/// For Kind::OneRank. Prints nothing where the launcher prints; else, on the error stream, which of the options are
/// rank 0's business.
[[nodiscard]] core::Result<void> runOneRank(const runtime::TrainConfig& config, const RankPlacement& placement,
                                            const Arguments& arguments);
/// For the other kinds.
[[nodiscard]] core::Result<runtime::TrainReport> trainAs(const runtime::TrainConfig& config,
                                                         const RankPlacement& placement, const Arguments& arguments);
/// How well the processes' clocks agree.
[[nodiscard]] std::string clockText(const std::vector<runtime::RankClock>& clocks);

}  // namespace shardscope::cli
