#include "gui/view/range_statistics.h"

#include <algorithm>
#include <cmath>
#include <map>

namespace shardscope::gui {

namespace {

/// `visit(key, id, ns)` for every piece in the stretch, with its part inside.
void forEachPiece(const PageState& state, std::size_t plan, std::size_t lane, const TimeRange& range, Grouping grouping,
                  const auto& visit) {
    const Pieces& pieces = state.lanes(plan).lanes[lane].pieces;
    const auto begin = static_cast<std::int64_t>(std::llround(state.toPlan(plan, range.begin)));
    const auto end = static_cast<std::int64_t>(std::llround(state.toPlan(plan, range.end)));
    for (std::size_t i = pieces.firstEndingAfter(static_cast<double>(begin)); i < pieces.size(); ++i) {
        if (pieces.beginOf(i) >= end) break;
        const std::int64_t time = std::min(pieces.endOf(i), end) - std::max(pieces.beginOf(i), begin);
        const PieceId id{plan, lane, i};
        if (time <= 0) continue;
        if (const auto key = keyOf(state, id, grouping)) visit(*key, id, time);
    }
}

}  // namespace

std::optional<RangeKey> keyOf(const PageState& state, const PieceId& piece, Grouping grouping) {
    const LaneSet& set = state.lanes(piece.plan);
    const Lane& lane = set.lanes[piece.lane];
    RangeKey key;
    key.plan = piece.plan;
    const formats::Look look = lane.pieces.lookOf(piece.piece);
    const bool work = !isGap(look) && look != formats::Look::Copy;
    if (!work) key.look = look;
    if (grouping == Grouping::Kind) {
        key.stream = lane.stream;
        key.look = look;
        return key;
    }
    if (lane.kind != Lane::Kind::State) return std::nullopt;
    if (grouping == Grouping::Rank) key.rankIndex = lane.rankIndex;
    const std::uint32_t span = lane.pieces.spanOf(piece.piece);
    if (grouping == Grouping::Unit && work && span != timeline::kNoIndex) key.unit = set.timeline->spans.unit[span];
    return key;
}

std::vector<RangeRow> statisticsOf(const PageState& state, const TimeRange& range, Grouping grouping) {
    std::vector<RangeRow> rows;
    for (std::size_t p = 0; p < state.plans().size(); ++p) {
        std::map<RangeKey, RangeRow> sums;
        std::int64_t all = 0;
        for (std::size_t l = 0; l < state.lanes(p).lanes.size(); ++l) {
            const std::int64_t ranks = state.ranksOf(p, l);
            const bool tiles = state.lanes(p).lanes[l].kind == Lane::Kind::State;
            forEachPiece(state, p, l, range, grouping, [&](const RangeKey& key, const PieceId&, std::int64_t time) {
                RangeRow& row = sums[key];
                row.shortest = row.count > 0 ? std::min(row.shortest, time) : time;
                row.longest = std::max(row.longest, time);
                row.count += ranks;
                row.total += ranks * time;
                if (tiles) all += ranks * time;
            });
        }
        for (auto& [key, row] : sums) {
            row.key = key;
            row.share = all > 0 ? static_cast<double>(row.total) / static_cast<double>(all) : 0;
            rows.push_back(row);
        }
    }
    return rows;
}

std::vector<PieceId> piecesOf(const PageState& state, const TimeRange& range, Grouping grouping, const RangeKey& key) {
    std::vector<PieceId> found;
    if (key.plan >= state.plans().size()) return found;
    for (std::size_t l = 0; l < state.lanes(key.plan).lanes.size(); ++l)
        forEachPiece(state, key.plan, l, range, grouping, [&](const RangeKey& of, const PieceId& id, std::int64_t) {
            if (of == key) found.push_back(id);
        });
    return found;
}

}  // namespace shardscope::gui
