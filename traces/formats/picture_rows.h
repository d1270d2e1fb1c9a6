#pragma once

// From a timeline's spans to what one rank's two lanes show: the compute lane (work by phase, gaps by state and cause)
// and the communication lane (what transfers; else what copies; else what waits). Both tile the rank's step without
// overlap, and can be folded to a resolution, so that a picture of a million spans stays a picture.

#include <cstdint>
#include <vector>

#include "traces/formats/picture_style.h"
#include "traces/timeline/breakdown.h"
#include "traces/timeline/causes.h"
#include "traces/timeline/timeline.h"

namespace shardscope::formats {

struct RowPiece {
    std::int64_t begin = 0, end = 0;  ///< ns
    Look look = Look::None;
    std::uint32_t span = timeline::kNoIndex;
    timeline::Cause cause = timeline::Cause::Unknown;  ///< gaps of the compute lane
    timeline::StringId causeUnit = 0;
};

/// What a span looks like while it works or transfers.
[[nodiscard]] Look lookOfSpan(const timeline::Timeline& timeline, std::uint32_t span, bool computeStream);

[[nodiscard]] std::vector<RowPiece> computeRow(const timeline::Timeline& timeline, const timeline::CauseFinder& causes,
                                               const std::vector<timeline::SpanRange>& lanes, std::uint32_t rankIndex);
[[nodiscard]] std::vector<RowPiece> communicationRow(const timeline::Timeline& timeline,
                                                     const std::vector<timeline::SpanRange>& lanes,
                                                     std::uint32_t rankIndex);

/// Merges pieces shorter than `resolution` ns with their neighbours until every piece is at least that long (but for
/// the last); what most of the merged time looks like decides. Pieces tile the same stretch as before.
[[nodiscard]] std::vector<RowPiece> fold(const std::vector<RowPiece>& pieces, std::int64_t resolution);

}  // namespace shardscope::formats
