#pragma once

// Files of a report, by their ending.

#include <span>
#include <string>

#include "cli/face/report.h"

namespace shardscope::cli {

enum class OutputKind { Trace, TraceGzip, Svg, Png, Pdf, Csv };

/// Errors: an ending that no output has (Usage).
[[nodiscard]] core::Result<OutputKind> outputKindOf(const std::string& path);
/// Whether every path has a known ending and a folder that exists, before anything is computed.
[[nodiscard]] core::Result<void> checkOutputs(std::span<const std::string> paths);

/// Writes one file, whole or not at all. A trace holds all plans of the report, one after another in process numbers.
/// `language`: "en" or "ko". Errors: Io.
[[nodiscard]] core::Result<void> writeOutput(const Report& report, const std::string& path,
                                             const std::string& language);

/// The picture of all plans as SVG.
[[nodiscard]] std::string pictureOf(const Report& report, const std::string& language);

}  // namespace shardscope::cli
