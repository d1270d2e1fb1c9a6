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

/// Whether a log, which is written line by line from the beginning of a run on, has a file of its own: neither
/// standard output, nor one of `outputs`, nor one of `inputs` (texts that name no file, too). An empty `log` is none.
[[nodiscard]] core::Result<void> checkLog(const std::string& log, std::span<const std::string> outputs,
                                          std::span<const std::string> inputs);

/// Writes one file, whole or not at all, of the format that its ending names. `language` of pictures: "en" or "ko".
/// Errors: an unknown ending (Usage), Io.
[[nodiscard]] core::Result<void> writeOutput(const Report& report, const std::string& path,
                                             const std::string& language);

/// A picture that is there as SVG, as .svg, .png or .pdf, whole or not at all.
[[nodiscard]] core::Result<void> writePicture(const std::string& path, OutputKind kind, const std::string& svg);

/// The picture of all plans as SVG.
[[nodiscard]] std::string pictureOf(const Report& report, const std::string& language);

}  // namespace shardscope::cli
