#pragma once

// A run in a file: what was run, in words and figures, its scenario, the machine's times where it was predicted, and
// the timeline of one step with every column, so that it reads back equal (`shardscope run -o run.json`, or
// run.json.gz).
//
// The file is the trace that kineto_writer.h writes, for Perfetto and its like, with a member "shardscope" beside the
// events that they pass over: {"schema": "shardscope.timeline", "version": 2, "about": {...}, "scenario": "TOML",
// "folder": "...", "machine": {...} or null, "timeline": {...}}. A column of numbers is one string of decimals with a
// space between two, which is a fifth of the memory of a list when it is read.

#include <cstdint>
#include <string>
#include <string_view>

#include "core/base/document.h"
#include "core/base/result.h"
#include "traces/formats/sink.h"
#include "traces/timeline/timeline.h"

namespace shardscope::formats {

/// What to do with a file that cannot be read.
inline constexpr const char* kWriteRunAnew = "write the file anew (`shardscope run -o FILE.json.gz`)";

struct RunFile {
    core::Document about;    ///< a table; the writer's own
    std::string scenario;    ///< of what ran, as core::writeScenario writes it
    std::string folder;      ///< against which the scenario's paths are read
    core::Document machine;  ///< core::MachineTimes as a document, of which the run was predicted; Null: it was not
    timeline::Timeline timeline;
};

/// Whether a file that begins with these bytes (a few thousand, or all) is a trace or a run, packed or not: neither a
/// scenario nor a model.
[[nodiscard]] bool looksLikeTrace(std::string_view begin);

/// `backend`: what moved the bytes, for viewers. Leaves `finish` to the caller.
void writeRunFile(const RunFile& run, const std::string& backend, Sink& sink);

/// Plain or packed; at most `limit` bytes unpacked. Errors name the place: no such file, another version, columns of
/// different lengths, numbers that name nothing, times that run backwards, times and bytes that nobody adds up in 64
/// bits; a trace of another tool is called that.
[[nodiscard]] core::Result<RunFile> readRunFile(std::string_view bytes, const std::string& name,
                                                std::int64_t limit = std::int64_t{1} << 30);

}  // namespace shardscope::formats
