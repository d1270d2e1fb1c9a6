#pragma once

// Files of a run, by their ending: .json and .json.gz (a trace that viewers take and that reads back equal), .csv,
// .svg, .png, .pdf.

#include <string>

#include "core/base/result.h"
#include "runtime/train/train.h"
#include "traces/formats/run_file.h"

namespace shardscope::cli {

/// The last step, whole or not at all. `run`: what goes into the trace with it. Errors: an unknown ending (Usage), Io.
[[nodiscard]] core::Result<void> writeRun(const runtime::TrainReport& report, const std::string& planName,
                                          formats::RunFile run, const std::string& path);

}  // namespace shardscope::cli
