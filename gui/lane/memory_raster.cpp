// The memory curve into image rows.

#include <algorithm>
#include <array>
#include <cmath>

#include "gui/lane/raster.h"

namespace shardscope::gui {

namespace {

struct MemoryColumn {
    std::array<int, core::kMemoryCategories + 1> top{};  // image rows: category c fills [top[c + 1], top[c])
    int least = -1;                                      // row of the least total, where that is lower
    std::size_t category = core::kMemoryCategories;      // the uppermost that reaches the row being drawn, plus one
};

}  // namespace

void paintMemory(QImage& image, const QRect& rect, const MemoryCurve& curve, std::int64_t most, const TimeRange& range,
                 const Theme& theme) {
    if (rect.width() <= 0 || rect.height() <= 0 || most <= 0) return;
    const double perPixel = range.length() / rect.width(), perByte = rect.height() / static_cast<double>(most);
    const int bottom = rect.bottom() + 1;
    const auto rowOf = [&](std::int64_t bytes) {
        return bottom - std::min(rect.height(), static_cast<int>(static_cast<double>(bytes) * perByte + 0.5));
    };
    const int left = std::max(0, -rect.left()), right = std::min(rect.width(), image.width() - rect.left());
    std::vector<MemoryColumn> columns(static_cast<std::size_t>(std::max(0, right)));
    for (int i = left; i < right; ++i) {
        MemoryColumn& column = columns[static_cast<std::size_t>(i)];
        column.top.fill(bottom);
        const auto begin = static_cast<std::int64_t>(std::floor(range.begin + i * perPixel));
        const auto end = std::max(begin + 1, static_cast<std::int64_t>(std::ceil(range.begin + (i + 1) * perPixel)));
        const auto extremes = begin < 0 ? std::nullopt : curve.extremesIn(begin, end);
        if (!extremes) continue;
        std::int64_t below = 0;
        for (std::size_t c = 0; c < core::kMemoryCategories; ++c) {
            below += std::max<std::int64_t>(0, curve.bytes[extremes->largest][c]);
            column.top[c + 1] = rowOf(below);
        }
        if (const int least = rowOf(curve.total[extremes->least]); least > column.top.back() + 1) column.least = least;
    }
    const QRgb line = theme.text.rgb();
    constexpr int kThick = 4;  // rows from which on a band has room for its upper edge
    std::array<std::optional<QRgb>, core::kMemoryCategories> edge{};
    for (std::size_t c = 0; c < core::kMemoryCategories; ++c)
        if (theme.memory[c].outline.isValid()) edge[c] = theme.memory[c].outline.rgb();
    for (int y = std::max(0, rect.top()); y < std::min(bottom, image.height()); ++y) {
        auto* row = reinterpret_cast<QRgb*>(image.scanLine(y)) + rect.left();
        for (int i = left; i < right; ++i) {
            MemoryColumn& column = columns[static_cast<std::size_t>(i)];
            if (y < column.top.back()) continue;
            while (column.category > 1 && y >= column.top[column.category - 1]) --column.category;
            const std::size_t c = column.category - 1;
            if (edge[c] && y == column.top[c + 1] && column.top[c] - y >= kThick && y != column.least) {
                row[i] = *edge[c];
                continue;
            }
            const auto tileX = static_cast<std::size_t>((rect.left() + i) % Fill::kTile);
            row[i] = y == column.least ? line : theme.memory[c].tile[static_cast<std::size_t>(y % Fill::kTile)][tileX];
        }
    }
}

}  // namespace shardscope::gui
