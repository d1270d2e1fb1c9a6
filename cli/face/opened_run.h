#pragma once

// A run that `run -o FILE.json.gz` wrote, and beside its measured timeline the one predicted for the very graph that
// ran: as a report, like that of a scenario.

#include <optional>
#include <string>
#include <vector>

#include "cli/face/load.h"
#include "cli/face/prediction.h"
#include "cli/face/report.h"
#include "cli/face/run_machine.h"
#include "core/base/work.h"
#include "core/machine/machine_times.h"
#include "traces/formats/run_file.h"

namespace shardscope::cli {

/// Names of its plans.
inline constexpr const char* kMeasured = "measured";
inline constexpr const char* kPredicted = "predicted";
inline constexpr const char* kWhatIf = "what if";

struct OpenedRun {
    formats::RunFile file;
    Loaded loaded;                    ///< what ran; its source is the file's path
    RunMachine machine;               ///< what it ran on
    std::vector<RunFigure> measured;  ///< as the run told them
    std::optional<core::MachineTimes> times;
    std::string timesFrom;               ///< the file of `times`; empty: the run's own, or there are none
    std::optional<core::Error> noGraph;  ///< files of its scenario that cannot be read
    std::optional<core::Error> noTimes;  ///< its own times, which this version does not take
};

/// Whether a file is a trace or a run; of what cannot be read it is not known.
[[nodiscard]] bool isTraceFile(const std::string& path);

/// `timesFrom`: a file of `calibrate` to predict it with, in place of its own times; empty: none.
/// Errors: what readRunFile refuses, a scenario that this version does not take, times that are not this run's;
/// Cancelled.
[[nodiscard]] core::Result<OpenedRun> openRun(const std::string& path, const std::string& timesFrom = {},
                                              const core::Work& work = {});

struct RunReport {
    Report report;                                ///< kMeasured; kPredicted where there are times; kWhatIf
    std::vector<std::vector<RunFigure>> figures;  ///< by plan; the measured ones are the run's own
    std::optional<core::Error> unpredicted;       ///< why there is no prediction although there are times
};
/// With another `scenario` than the run's, a third plan: what that would have taken on the same machine. Errors: those
/// of that third plan; Cancelled.
[[nodiscard]] core::Result<RunReport> evaluateRun(const OpenedRun& run, const core::Scenario& scenario,
                                                  const core::Work& work = {});

}  // namespace shardscope::cli
