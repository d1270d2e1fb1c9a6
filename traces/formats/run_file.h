#pragma once

// A run in a file: what was run, in words and figures, and the timeline of one step with every column, so that it reads
// back equal (`shardscope run -o run.json`, or run.json.gz).
//
// The file is the trace that kineto_writer.h writes, for Perfetto and its like, with a member "shardscope" beside the
// events that they pass over: {"schema": "shardscope.timeline", "version": 1, "about": {...}, "timeline": {...}}. A
// column of numbers is one string of decimals with a space between two, which is a fifth of the memory of a list when
// it is read.

#include <cstdint>
#include <string>
#include <string_view>

#include "core/base/document.h"
#include "core/base/result.h"
#include "traces/formats/sink.h"
#include "traces/timeline/timeline.h"

namespace shardscope::formats {

struct RunFile {
    core::Document about;  ///< a table; the writer's own
    timeline::Timeline timeline;
};

/// `backend`: what moved the bytes, for viewers. Leaves `finish` to the caller.
void writeRunFile(const RunFile& run, const std::string& backend, Sink& sink);

/// Plain or packed; at most `limit` bytes unpacked. Errors name the place: no such file, another version, columns of
/// different lengths, numbers that name nothing, times that run backwards.
[[nodiscard]] core::Result<RunFile> readRunFile(std::string_view bytes, const std::string& name,
                                                std::int64_t limit = std::int64_t{1} << 30);

}  // namespace shardscope::formats
