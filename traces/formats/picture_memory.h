#pragma once

// The memory curve of one rank: its counters stacked by category, a column a pixel.

#include <cstdint>
#include <optional>
#include <vector>

#include "core/graph/step_graph.h"
#include "traces/formats/picture.h"
#include "traces/formats/picture_axes.h"
#include "traces/formats/svg_canvas.h"

namespace shardscope::formats {

struct MemoryCurve {
    /// Bottom to top; nullopt: a counter whose name is none of core::MemoryCategory's.
    std::vector<std::optional<core::MemoryCategory>> categories;
    struct Column {
        std::int64_t begin = 0;           ///< ns; it holds to the next one's
        std::vector<std::int64_t> bytes;  ///< by category, at the instant of the largest sum within the column
    };
    std::vector<Column> columns;
    std::int64_t peak = 0, peakTime = 0;  ///< of the sum, exact
};

/// Columns of at least `resolution` ns. Sums are taken instant by instant, so the peak stays the true one however
/// coarse.
[[nodiscard]] MemoryCurve memoryCurve(const timeline::Timeline& timeline, std::uint32_t rankIndex,
                                      std::int64_t resolution);

/// Draws into [top, top + height); `limit` bytes are at the top edge.
void drawMemory(SvgCanvas& canvas, const MemoryCurve& curve, const timeline::Timeline& timeline,
                const PanelMemory& memory, const PictureText& text, const TimeScale& scale, double top, double height,
                std::int64_t limit);

}  // namespace shardscope::formats
