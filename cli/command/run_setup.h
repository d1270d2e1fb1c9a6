#pragma once

// What `run` and `calibrate` run: the model, the plan and the images that the user's words make.

#include <cstdint>
#include <string>

#include "cli/command/command.h"
#include "cli/face/load.h"
#include "core/base/result.h"
#include "core/model/model.h"
#include "core/scenario/resolve.h"
#include "runtime/train/train.h"

namespace shardscope::cli {

struct RunSetUp {
    Loaded loaded;
    std::string folder;       ///< loaded.folder from the root on, taken while it is there
    core::Resolved resolved;  ///< one case
    core::Model model;
    runtime::TrainConfig config;  ///< its plan is the case's with layer times, where the split asks for them
    std::string batchReason;      ///< why a step has other samples than usual, where nobody asked; empty: it has not
    std::int64_t images = 0;      ///< to train on
    std::int64_t pass = 0;        ///< steps of one pass over them, where that is what is run; else 0
};

/// Errors: what cannot be loaded, resolved or run by a device of this build, or takes too long.
[[nodiscard]] core::Result<RunSetUp> setUpRun(const Arguments& arguments);

}  // namespace shardscope::cli
