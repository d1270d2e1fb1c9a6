#pragma once

// Several plans' timelines as one, for traces; and classes of identical ranks drawn rank by rank, for pictures.

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "traces/timeline/timeline.h"

namespace shardscope::cli {

/// Up to this many ranks a picture shows each of them, identical or not.
inline constexpr std::int64_t kRanksShownSingly = 8;

struct JoinedPart {
    const timeline::Timeline* timeline = nullptr;
    std::string prefix;  ///< before the names of its ranks
};

/// The parts in one arranged timeline: the ranks of later parts get the numbers after those of earlier ones. A part of
/// at most `singly` ranks gets a row for each of them ("rank 2"), with the same spans and counters.
[[nodiscard]] timeline::Timeline joinTimelines(std::span<const JoinedPart> parts, std::int64_t singly);

/// One timeline with a row for each rank; empty `of` says that nothing had to be changed.
struct SingleRanks {
    timeline::Timeline timeline;
    std::vector<std::uint32_t> of;  ///< by row: the row of the original
};
[[nodiscard]] SingleRanks rankByRank(const timeline::Timeline& timeline, std::int64_t singly = kRanksShownSingly);

}  // namespace shardscope::cli
