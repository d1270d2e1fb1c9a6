#pragma once

// What a run ran on and through, so that only times of the same are held against it.

#include <cstdint>
#include <string>

#include "core/base/document.h"
#include "core/base/result.h"
#include "core/machine/artificial_link.h"
#include "core/machine/machine_times.h"

namespace shardscope::cli {

struct RunMachine {
    std::string processor, device;      ///< "AMD EPYC 9654", "cpu"
    std::string transport;              ///< "threads", "gloo"
    std::int64_t cores = 1, ranks = 1;  ///< `ranks` of the run
    core::ArtificialLink link;
    friend bool operator==(const RunMachine&, const RunMachine&) = default;
};

[[nodiscard]] core::Document documentOf(const RunMachine& machine);
/// Errors: members that are missing or of another kind.
[[nodiscard]] core::Result<RunMachine> runMachineFrom(const core::Document& document, const std::string& where);

/// Reads what `calibrate -o` wrote. Errors: times of another machine, device, transport or link than the run's; `run`
/// is what the run is called.
[[nodiscard]] core::Result<core::MachineTimes> readTimesFor(const RunMachine& machine, const std::string& path,
                                                            const std::string& run);

}  // namespace shardscope::cli
