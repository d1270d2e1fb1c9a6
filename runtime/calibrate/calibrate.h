#pragma once

// Measures this machine for one model: its kernels inside training steps of single ranks, one at work and as many as
// will be; copies and transfers at a few sizes. What comes out prices every plan of that model and batch
// (sim/price/machine_price.h).

#include <cstdint>
#include <functional>
#include <string>

#include "core/base/result.h"
#include "core/machine/machine_times.h"
#include "core/model/model.h"
#include "core/plan/plan.h"
#include "runtime/calibrate/measure_transfers.h"
#include "runtime/device/device_kind.h"
#include "runtime/train/train.h"

namespace shardscope::runtime {

struct CalibrateConfig {
    DeviceKind device = DeviceKind::Cpu;
    core::ModelSpec model;
    /// Whose optimizer and precision are measured.
    core::Plan plan;
    std::int64_t ranks = 1;            ///< that will be at work at once
    std::vector<std::int64_t> groups;  ///< sizes of groups whose transfers are measured, ascending, each above 1
    Transport transport = Transport::Threads;
    core::Workload workload = {};
    /// Makes the data of a micro-batch, for its time; empty: that takes none.
    std::function<core::Result<Batch>()> data = {};
    std::int64_t steps = 12;  ///< with every call timed, after two that are not; as many without
    std::string processor;    ///< what the result is named after
    std::int64_t cores = 1;
};

/// Errors: what training refuses.
[[nodiscard]] core::Result<core::MachineTimes> calibrate(const CalibrateConfig& config);

}  // namespace shardscope::runtime
