#pragma once

// Classes of identical ranks, rank by rank: what pictures and traces of few ranks show.

#include <cstdint>
#include <vector>

#include "traces/timeline/timeline.h"

namespace shardscope::cli {

/// Up to this many ranks a picture shows each of them, identical or not.
inline constexpr std::int64_t kRanksShownSingly = 8;

/// One timeline with a row for each rank; empty `of` says that nothing had to be changed.
struct SingleRanks {
    timeline::Timeline timeline;
    std::vector<std::uint32_t> of;  ///< by row: the row of the original
};
[[nodiscard]] SingleRanks rankByRank(const timeline::Timeline& timeline, std::int64_t singly = kRanksShownSingly);

}  // namespace shardscope::cli
