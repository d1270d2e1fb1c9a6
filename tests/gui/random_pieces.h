#pragma once

// Lanes by chance: pieces in order of time that do not overlap, some touching, some with empty time between them.

#include <random>
#include <vector>

#include "gui/lane/lane_set.h"
#include "gui/lane/pyramid.h"

namespace shardscope::gui {

inline std::vector<formats::RowPiece> randomPieces(std::uint32_t seed, std::size_t count, int longest) {
    std::mt19937 random(seed);
    std::uniform_int_distribution<int> length(1, longest), look(0, static_cast<int>(formats::kLooks) - 2), gap(0, 3);
    std::vector<formats::RowPiece> pieces;
    std::int64_t time = 0;
    for (std::size_t i = 0; i < count; ++i) {
        if (gap(random) == 0) time += length(random);
        const std::int64_t end = time + length(random);
        pieces.push_back({time, end, static_cast<formats::Look>(look(random))});
        time = end;
    }
    return pieces;
}

inline Lane laneOf(const std::vector<formats::RowPiece>& pieces) {
    Lane lane;
    lane.pieces = Pieces(pieces);
    lane.pyramid = Pyramid(lane.pieces);
    return lane;
}

/// Time of [begin, end) in which the pieces look so, by counting.
template <class Wanted>
std::int64_t timeIn(const std::vector<formats::RowPiece>& pieces, std::int64_t begin, std::int64_t end, Wanted wanted) {
    std::int64_t sum = 0;
    for (const formats::RowPiece& piece : pieces)
        if (wanted(piece.look))
            sum += std::max<std::int64_t>(0, std::min(piece.end, end) - std::max(piece.begin, begin));
    return sum;
}

}  // namespace shardscope::gui
