#pragma once

// calibrate, and what `run --compare` takes from it.

#include <string>

#include "cli/command/command.h"
#include "cli/face/run_machine.h"
#include "core/base/result.h"
#include "core/graph/step_graph.h"
#include "core/machine/machine_times.h"
#include "runtime/train/train.h"

namespace shardscope::cli {

/// Measures this machine for the graph of `config`: its kernels, and transfers among as many ranks as its groups have.
/// `processes`: over Gloo. Errors: what calibrating refuses.
[[nodiscard]] core::Result<core::MachineTimes> calibrateFor(const runtime::TrainConfig& config,
                                                            const core::StepGraph& graph, bool processes,
                                                            const std::string& program);

/// What such a run has on this machine.
[[nodiscard]] RunMachine machineOfRun(const runtime::TrainConfig& config, bool processes, const std::string& program);

/// Reads what `calibrate -o` wrote for runs like this one. Errors: times of another machine, device, transport or link.
[[nodiscard]] core::Result<core::MachineTimes> loadMachineTimes(const std::string& path,
                                                                const runtime::TrainConfig& config, bool processes,
                                                                const std::string& program);

}  // namespace shardscope::cli
