#pragma once

// A stretch of time summed up: what lies in it, by kind, by unit or by rank. Times are those of all ranks that a lane
// stands for; a piece that reaches beyond the stretch counts with the part inside.

#include <compare>
#include <string>
#include <vector>

#include "gui/view/page_state.h"

namespace shardscope::gui {

enum class Grouping : std::uint8_t {
    Kind,  ///< forward, waiting, ...; streams apart, which run beside the rest
    Unit,  ///< work by unit; what is no work by kind
    Rank,  ///< of each rank or class its work, and what is no work by kind
};

/// What the pieces of a row have in common.
struct RangeKey {
    std::size_t plan = 0;
    std::string stream;                        ///< Grouping::Kind: empty for what ranks do and wait for
    formats::Look look = formats::Look::None;  ///< Grouping::Kind; elsewhere of what is no work
    timeline::StringId unit = 0;               ///< Grouping::Unit
    std::uint32_t rankIndex = 0;               ///< Grouping::Rank
    friend auto operator<=>(const RangeKey&, const RangeKey&) = default;
};

struct RangeRow {
    RangeKey key;
    std::int64_t count = 0;                             ///< pieces, of all ranks
    std::int64_t total = 0, shortest = 0, longest = 0;  ///< ns
    double share = 0;                                   ///< of the ranks' time in the stretch, 0..1

    [[nodiscard]] std::int64_t mean() const { return count > 0 ? total / count : 0; }
};

/// Plan by plan; empty without plans. `range` is of the axis.
[[nodiscard]] std::vector<RangeRow> statisticsOf(const PageState& state, const TimeRange& range, Grouping grouping);
/// The row that a piece belongs to; no value where the grouping leaves its lane out.
[[nodiscard]] std::optional<RangeKey> keyOf(const PageState& state, const PieceId& piece, Grouping grouping);
/// The pieces of a row, lane by lane.
[[nodiscard]] std::vector<PieceId> piecesOf(const PageState& state, const TimeRange& range, Grouping grouping,
                                            const RangeKey& key);

}  // namespace shardscope::gui
