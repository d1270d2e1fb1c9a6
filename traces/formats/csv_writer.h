#pragma once

// A timeline as a table (RFC 4180: a header, CRLF): one row a span, times in nanoseconds from the step's start.
// Columns: plan, rank, ranks (how many the row stands for), stage, stream, kind, activity, phase, micro_batch, unit,
// name, op, start_ns, transfer_start_ns, end_ns, duration_ns, waiting_ns, bytes, issued_ns. A cell is empty where
// nothing is known.

#include <span>

#include "traces/formats/named_timeline.h"
#include "traces/formats/sink.h"

namespace shardscope::formats {

void writeCsv(std::span<const NamedTimeline> plans, Sink& sink);
/// The plan's name is the timeline's title.
void writeCsv(const timeline::Timeline& timeline, Sink& sink);

}  // namespace shardscope::formats
