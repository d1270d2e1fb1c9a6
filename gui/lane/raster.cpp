#include "gui/lane/raster.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace shardscope::gui {

using formats::Look;
using formats::RowPiece;

namespace {

// Of a lane's height: what does not work stands lower, so that work is what one sees first.
constexpr double kGapHeight = 0.72;

/// What a pixel column holds: rows from `split` on are work, those above a gap.
struct Column {
    Look work = Look::None, gap = Look::None;
    int split = 0, gapTop = 0;  // rows from the top of the lane
    // A line at the left, where a piece begins; not over what else the column holds.
    bool workEdge = false, gapEdge = false;
};

class ColumnPainter {
public:
    ColumnPainter(QImage& image, const QRect& rect, const Theme& theme)
        : m_image(image), m_rect(rect), m_theme(theme), m_columns(static_cast<std::size_t>(std::max(0, rect.width()))) {
        for (std::size_t l = 0; l < formats::kLooks; ++l) m_outlined[l] = theme.looks[l].outline.isValid();
    }

    [[nodiscard]] std::vector<Column>& columns() { return m_columns; }

    void set(std::size_t x, double work, Look workLook, Look gapLook) {
        Column& column = m_columns[x];
        const int height = m_rect.height();
        int busy = static_cast<int>(std::lround(work * height));
        if (work > 0) busy = std::max(busy, std::max(1, height / 8));  // some work is never invisible
        column.work = workLook;
        column.gap = gapLook;
        column.split = height - std::min(busy, height);
        column.gapTop = static_cast<int>(std::lround(height * (1 - kGapHeight)));
    }

    void flush() {
        const int left = std::max(0, -m_rect.left());
        const int right = std::min(m_rect.width(), m_image.width() - m_rect.left());
        std::array<QRgb, formats::kLooks> outline{};
        for (std::size_t l = 0; l < formats::kLooks; ++l)
            outline[l] = (m_theme.looks[l].outline.isValid() ? m_theme.looks[l].outline : m_theme.canvas).rgb();
        for (int y = 0; y < m_rect.height(); ++y) {
            const int row = m_rect.top() + y;
            if (row < 0 || row >= m_image.height()) continue;
            auto* line = reinterpret_cast<QRgb*>(m_image.scanLine(row)) + m_rect.left();
            const auto tileRow = static_cast<std::size_t>(row % Fill::kTile);
            std::array<const QRgb*, formats::kLooks> tiles{};
            for (std::size_t l = 0; l < formats::kLooks; ++l) tiles[l] = m_theme.looks[l].tile[tileRow].data();
            int tile = (m_rect.left() + left) % Fill::kTile;
            for (int i = left; i < right; ++i, tile = tile + 1 == Fill::kTile ? 0 : tile + 1) {
                const Column& column = m_columns[static_cast<std::size_t>(i)];
                const bool isWork = y >= column.split && column.work != Look::None;
                const Look look = isWork ? column.work : column.gap;
                if (look == Look::None || (!isWork && y < column.gapTop)) continue;
                const auto l = static_cast<std::size_t>(look);
                const bool border =
                    (isWork ? column.workEdge : column.gapEdge) ||
                    (m_outlined[l] && (y == (isWork ? column.split : column.gapTop) || y + 1 == m_rect.height()));
                line[i] = border ? outline[l] : tiles[l][tile];
            }
        }
    }

private:
    QImage& m_image;
    QRect m_rect;
    const Theme& m_theme;
    std::vector<Column> m_columns;
    std::array<bool, formats::kLooks> m_outlined{};
};

}  // namespace

void paintLane(QImage& image, const QRect& rect, const Lane& lane, const TimeRange& range, const Theme& theme,
               std::vector<DrawnPiece>* wide, int wideFrom) {
    if (rect.width() <= 0 || rect.height() <= 0 || lane.pieces.empty()) return;
    ColumnPainter painter(image, rect, theme);
    const double perPixel = range.length() / rect.width();
    const auto columns = static_cast<std::size_t>(rect.width());
    const auto first = std::upper_bound(lane.pieces.begin(), lane.pieces.end(), range.begin,
                                        [](double t, const RowPiece& p) { return t < static_cast<double>(p.end); });
    const auto last = std::lower_bound(first, lane.pieces.end(), range.end,
                                       [](const RowPiece& p, double t) { return static_cast<double>(p.begin) < t; });
    const auto visible = static_cast<std::size_t>(last - first);
    if (visible > 2 * columns) {
        const std::size_t level = lane.pyramid.levelFor(perPixel);
        for (std::size_t x = 0; x < columns; ++x) {
            const double at = range.begin + (static_cast<double>(x) + 0.5) * perPixel;
            const Bucket bucket = lane.pyramid.at(level, static_cast<std::int64_t>(std::floor(at)));
            painter.set(x, bucket.work / 255.0, bucket.workLook, bucket.gapLook);
        }
        painter.flush();
        return;
    }
    // Exact: shares of every column from the pieces in it.
    std::vector<double> work(columns, 0), most(columns, 0), mostGap(columns, 0);
    std::vector<Look> workLook(columns, Look::None), gapLook(columns, Look::None);
    for (auto piece = first; piece != last; ++piece) {
        const double from = (static_cast<double>(piece->begin) - range.begin) / perPixel;
        const double to = (static_cast<double>(piece->end) - range.begin) / perPixel;
        const auto begin = static_cast<std::size_t>(std::max(0.0, std::floor(from)));
        const auto end = static_cast<std::size_t>(std::clamp(std::ceil(to), 0.0, static_cast<double>(columns)));
        const bool gap = isGap(piece->look);
        for (std::size_t x = begin; x < end; ++x) {
            const double share = std::min(to, static_cast<double>(x + 1)) - std::max(from, static_cast<double>(x));
            if (share <= 0) continue;
            double& best = gap ? mostGap[x] : most[x];
            if (!gap) work[x] += share;
            if (share > best) {
                best = share;
                (gap ? gapLook : workLook)[x] = piece->look;
            }
        }
        if (to - from >= 3 && from >= 0 && begin < columns)
            (gap ? painter.columns()[begin].gapEdge : painter.columns()[begin].workEdge) = true;
        if (wide != nullptr && to - from >= wideFrom) {
            const int left = rect.left() + static_cast<int>(std::max(0.0, from));
            const int right = rect.left() + static_cast<int>(std::min(to, static_cast<double>(columns)));
            if (right - left >= wideFrom)
                wide->push_back({&*piece, QRect(left, rect.top(), right - left, rect.height())});
        }
    }
    for (std::size_t x = 0; x < columns; ++x) painter.set(x, std::min(1.0, work[x]), workLook[x], gapLook[x]);
    painter.flush();
}

void paintMemory(QImage& image, const QRect& rect, const MemoryCurve& curve, std::int64_t most, const TimeRange& range,
                 const Theme& theme) {
    if (rect.width() <= 0 || rect.height() <= 0 || most <= 0) return;
    const double perPixel = range.length() / rect.width();
    for (int i = 0; i < rect.width(); ++i) {
        const int x = rect.left() + i;
        if (x < 0 || x >= image.width()) continue;
        const auto begin = static_cast<std::int64_t>(std::floor(range.begin + i * perPixel));
        const auto end = std::max(begin + 1, static_cast<std::int64_t>(std::ceil(range.begin + (i + 1) * perPixel)));
        if (begin < 0) continue;
        const auto instant = curve.largestIn(begin, end);
        if (!instant) continue;
        double below = 0;
        for (std::size_t c = 0; c < core::kMemoryCategories; ++c) {
            const auto bytes = static_cast<double>(curve.bytes[*instant][c]);
            if (bytes <= 0) continue;
            const auto yOf = [&](double b) {
                return rect.bottom() + 1 -
                       static_cast<int>(std::lround(std::min(1.0, b / static_cast<double>(most)) * rect.height()));
            };
            const int top = yOf(below + bytes), bottom = yOf(below);
            below += bytes;
            const Fill& fill = theme.memory[c];
            for (int y = std::max(top, 0); y < std::min(bottom, image.height()); ++y)
                reinterpret_cast<QRgb*>(image.scanLine(y))[x] =
                    fill.tile[static_cast<std::size_t>(y % Fill::kTile)][static_cast<std::size_t>(x % Fill::kTile)];
        }
    }
}

}  // namespace shardscope::gui
