#pragma once

// Lanes into image rows. A column shows as much work, from the bottom, as its stretch of time has; where pieces are
// wider than a pixel they are drawn themselves.

#include <QImage>
#include <QRect>

#include "gui/lane/lane_set.h"
#include "gui/lane/view_range.h"
#include "gui/theme/theme.h"

namespace shardscope::gui {

/// Where a piece that is wide enough for words lies; device pixels.
struct DrawnPiece {
    formats::RowPiece piece;
    QRect rect;
};

/// What painting a lane read: never more than one bucket a pixel column, nor more than kMostPieces pieces.
struct LaneReads {
    static constexpr std::size_t kMostPieces = 16;  ///< a pixel column
    std::size_t buckets = 0, pieces = 0;
};

/// Paints the lane's stretch `range` (ns) into `rect` of the image (device pixels, format RGB32). Appends to `wide`, if
/// given, the pieces at least `wideFrom` pixels wide.
LaneReads paintLane(QImage& image, const QRect& rect, const Lane& lane, const TimeRange& range, const Theme& theme,
                    std::vector<DrawnPiece>* wide = nullptr, int wideFrom = 40);

/// The memory curve, stacked by category, `most` bytes at the top of `rect`. A column shows its largest total, and by a
/// line its least where that is lower.
void paintMemory(QImage& image, const QRect& rect, const MemoryCurve& curve, std::int64_t most, const TimeRange& range,
                 const Theme& theme);

}  // namespace shardscope::gui
