#pragma once

// The lanes of one rank in the picture.

#include <array>
#include <cstdint>

#include "traces/formats/picture.h"
#include "traces/formats/picture_axes.h"
#include "traces/formats/picture_rows.h"
#include "traces/formats/svg_canvas.h"

namespace shardscope::formats {

using LooksInUse = std::array<bool, kLooks>;

struct LaneShape {
    double top = 0, height = 20;  ///< px
    bool isCommunication = false;
};

/// Draws folded pieces, their labels where they fit, and a tip on what is wide enough to point at.
void drawLane(SvgCanvas& canvas, const std::vector<RowPiece>& pieces, const timeline::Timeline& timeline,
              const PictureText& text, const TimeScale& scale, const LaneShape& shape, bool withTips, LooksInUse& used);

}  // namespace shardscope::formats
