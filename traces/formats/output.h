#pragma once

// What `-o FILE` writes: the format is told by the file's ending.

#include <span>
#include <string>
#include <string_view>

#include "core/base/result.h"
#include "traces/formats/kineto_writer.h"
#include "traces/formats/picture.h"

namespace shardscope::formats {

enum class OutputFormat : std::uint8_t { Kineto, KinetoGzip, Csv, Svg, Png, Pdf };

/// .json, .json.gz, .csv, .svg, .png, .pdf, in any case. Error (Usage): another ending, with the list of these.
[[nodiscard]] core::Result<OutputFormat> outputFormatOf(std::string_view path);

/// Writes the file whole or not at all. Traces and tables hold the plans' timelines, pictures the picture.
/// Errors: outputFormatOf's and Io.
[[nodiscard]] core::Result<void> writeOutput(const std::string& path, std::span<const NamedTimeline> plans,
                                             const Picture& picture, const KinetoOptions& options = {});

}  // namespace shardscope::formats
