#include "gui/lane/raster.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace shardscope::gui {

using formats::Look;

namespace {

// Of a lane's height: what does not work stands lower, so that work is what one sees first.
constexpr double kGapHeight = 0.72;

/// One row of a look's fill, or of its outline's colour.
using FillRow = std::array<QRgb, Fill::kTile>;

/// What the pixel columns of a lane hold: rows from `split` on are work, those above it a gap.
class ColumnPainter {
public:
    ColumnPainter(QImage& image, const QRect& rect, const Theme& theme)
        : m_image(image),
          m_rect(rect),
          m_theme(theme),
          m_gapTop(static_cast<int>(std::lround(rect.height() * (1 - kGapHeight)))),
          m_split(static_cast<std::size_t>(rect.width()), rect.height()),
          m_work(m_split.size(), kNothing),
          m_gap(m_split.size(), kNothing) {
        for (std::size_t l = 0; l < formats::kLooks; ++l) {
            const Fill& fill = theme.looks[l];
            m_outlined[l] = fill.outline.isValid();
            m_outline[l].fill((fill.outline.isValid() ? fill.outline : theme.canvas).rgb());
        }
    }

    /// Rows of work that a share of the height, 0..1, comes to; some work is never invisible.
    [[nodiscard]] int rowsOf(double share) const {
        const int height = m_rect.height();
        const int rows = static_cast<int>(share * height + 0.5);
        return share > 0 ? std::min(std::max({rows, 1, height / 8}), height) : 0;
    }

    void set(std::size_t x, int workRows, Look work, Look gap) {
        m_split[x] = m_rect.height() - (work == Look::None ? 0 : workRows);
        m_work[x] = static_cast<std::uint8_t>(work);
        m_gap[x] = static_cast<std::uint8_t>(gap);
        m_hasOutlinedWork |= m_outlined[m_work[x]];
    }

    /// A line at the left of a column, where a piece begins; not over what else the column holds.
    void markEdge(std::size_t x, bool isGap) {
        std::uint8_t& look = isGap ? m_gap[x] : m_work[x];
        if (look != kNothing) look = static_cast<std::uint8_t>(look + kEdge);
    }

    void flush() {
        const int left = std::max(0, -m_rect.left());
        const int right = std::min(m_rect.width(), m_image.width() - m_rect.left());
        for (int y = std::max(0, -m_rect.top()); y < m_rect.height() && m_rect.top() + y < m_image.height(); ++y) {
            auto* line = reinterpret_cast<QRgb*>(m_image.scanLine(m_rect.top() + y)) + m_rect.left();
            RowFills fills = fillsOf(y);
            int tile = (m_rect.left() + left) % Fill::kTile;
            for (int from = left; from < right;) {
                const int to = std::min(right, from + Fill::kTile - tile);
                fillRow(line, from, to, tile, y, fills);
                from = to;
                tile = 0;
            }
        }
        // An outlined column of work begins with its outline, wherever that is.
        for (int i = left; m_hasOutlinedWork && i < right; ++i) {
            const auto x = static_cast<std::size_t>(i);
            const int row = m_rect.top() + m_split[x];
            if (!m_outlined[m_work[x] % kEdge] || m_split[x] == m_rect.height() || row < 0 || row >= m_image.height())
                continue;
            reinterpret_cast<QRgb*>(m_image.scanLine(row))[m_rect.left() + i] = m_outline[m_work[x] % kEdge][0];
        }
    }

private:
    static constexpr std::uint8_t kNothing = static_cast<std::uint8_t>(Look::None);
    static constexpr std::size_t kEdge = formats::kLooks;  // added to a look: its outline's colour

    /// By look: its fill in a row of the lane. `empty` are the looks that leave the row as it is.
    struct RowFills {
        std::array<const QRgb*, 2 * kEdge> of{};
        std::array<std::uint8_t, 2 * kEdge> empty{};
        std::size_t empties = 0;
    };
    [[nodiscard]] RowFills fillsOf(int y) const {
        const auto tileRow = static_cast<std::size_t>((m_rect.top() + y) % Fill::kTile);
        RowFills fills;
        for (std::size_t l = 0; l < kEdge; ++l) {
            const bool gap = isGap(static_cast<Look>(l));
            const bool isBorder = m_outlined[l] && (y + 1 == m_rect.height() || (gap && y == m_gapTop));
            fills.of[l] = isBorder ? m_outline[l].data() : m_theme.looks[l].tile[tileRow].data();
            fills.of[kEdge + l] = m_outline[l].data();
            if (l != kNothing && !(gap && y < m_gapTop)) continue;
            for (const std::size_t look : {l, kEdge + l})
                fills.empty[fills.empties++] = static_cast<std::uint8_t>(look);
        }
        return fills;
    }

    /// Columns [from, to), which lie within one tile. Without branches: what to draw changes from pixel to pixel.
    void fillRow(QRgb* line, int from, int to, int tile, int y, RowFills& fills) const {
        for (std::size_t e = 0; e < fills.empties; ++e) fills.of[fills.empty[e]] = line + from - tile;  // itself
        const QRgb* const* const fillOf = fills.of.data();
        const std::int32_t* const split = m_split.data() + from;
        const std::uint8_t *const work = m_work.data() + from, *const gap = m_gap.data() + from;
        QRgb* const out = line + from;
        for (int i = 0; i < to - from; ++i) {
            const auto isWork = static_cast<std::uint8_t>(-static_cast<int>(y >= split[i]));
            const auto look = static_cast<std::uint8_t>((work[i] & isWork) | (gap[i] & ~isWork));
            out[i] = fillOf[look][tile + i];
        }
    }

    QImage& m_image;
    QRect m_rect;
    const Theme& m_theme;
    int m_gapTop;  // rows from the top of the lane
    std::vector<std::int32_t> m_split;
    std::vector<std::uint8_t> m_work, m_gap;  // looks
    std::array<bool, formats::kLooks> m_outlined{};
    bool m_hasOutlinedWork = false;
    std::array<FillRow, formats::kLooks> m_outline{};
};

/// What a pixel column holds, of work [0] and of gaps [1].
struct Shares {
    std::array<float, 2> time{}, most{};  // of the column's width: of all, and of the piece that has most
    std::array<Look, 2> look{Look::None, Look::None};
    std::array<bool, 2> edge{};

    void add(double part, Look piece, bool gap) {
        const auto share = static_cast<float>(part);
        time[gap] += share;
        look[gap] = share > most[gap] ? piece : look[gap];
        most[gap] = std::max(most[gap], share);
    }
};

void paintBuckets(ColumnPainter& painter, const Lane& lane, const TimeRange& range, std::size_t columns,
                  LaneReads& reads) {
    std::array<int, 256> rows{};
    for (std::size_t w = 0; w < rows.size(); ++w) rows[w] = painter.rowsOf(static_cast<double>(w) / 255.0);
    const double perPixel = range.length() / static_cast<double>(columns);
    const std::size_t level = lane.pyramid.levelFor(perPixel);
    const std::span<const Bucket> buckets = lane.pyramid.level(level);
    const double perBucket = 1.0 / static_cast<double>(lane.pyramid.widthOf(level));
    for (std::size_t x = 0; x < columns; ++x) {
        const double at = (range.begin + (static_cast<double>(x) + 0.5) * perPixel) * perBucket;
        if (at < 0) continue;
        if (at >= static_cast<double>(buckets.size())) break;
        const Bucket bucket = buckets[static_cast<std::size_t>(at)];
        painter.set(x, rows[bucket.work], bucket.workLook, bucket.gapLook);
        ++reads.buckets;
    }
}

void paintPieces(ColumnPainter& painter, const QRect& rect, const Lane& lane, std::size_t first, std::size_t last,
                 const TimeRange& range, std::vector<DrawnPiece>* wide, int wideFrom) {
    std::vector<Shares> shares(static_cast<std::size_t>(rect.width()));
    const auto right = static_cast<double>(rect.width());
    const double perNs = right / range.length();
    for (std::size_t i = first; i < last; ++i) {
        const double begin = (static_cast<double>(lane.pieces.beginOf(i)) - range.begin) * perNs;
        const double from = std::max(begin, 0.0);
        const double to = std::min((static_cast<double>(lane.pieces.endOf(i)) - range.begin) * perNs, right);
        if (from >= to) continue;
        const Look look = lane.pieces.lookOf(i);
        const bool gap = isGap(look);
        auto x = static_cast<std::size_t>(from);
        const auto border = static_cast<double>(x + 1);
        if (to <= border) {
            shares[x].add(to - from, look, gap);
            continue;
        }
        if (to - begin >= 3 && begin >= 0) shares[x].edge[gap] = true;
        shares[x].add(border - from, look, gap);
        for (++x; static_cast<double>(x + 1) < to; ++x) shares[x].add(1, look, gap);
        shares[x].add(to - static_cast<double>(x), look, gap);
        if (wide != nullptr && to - from >= wideFrom)
            if (const int l = static_cast<int>(from), r = static_cast<int>(to); r - l >= wideFrom)
                wide->push_back({lane.pieces[i], QRect(rect.left() + l, rect.top(), r - l, rect.height())});
    }
    for (std::size_t x = 0; x < shares.size(); ++x) {
        const Shares& column = shares[x];
        painter.set(x, painter.rowsOf(std::min(1.0F, column.time[0])), column.look[0], column.look[1]);
        for (const bool gap : {false, true})
            if (column.edge[gap]) painter.markEdge(x, gap);
    }
}

}  // namespace

LaneReads paintLane(QImage& image, const QRect& rect, const Lane& lane, const TimeRange& range, const Theme& theme,
                    std::vector<DrawnPiece>* wide, int wideFrom) {
    LaneReads reads;
    if (rect.width() <= 0 || rect.height() <= 0 || lane.pieces.empty()) return reads;
    ColumnPainter painter(image, rect, theme);
    const auto columns = static_cast<std::size_t>(rect.width());
    const std::size_t first = lane.pieces.firstEndingAfter(range.begin);
    const std::size_t last = std::max(first, lane.pieces.firstFrom(range.end));
    // Where pieces crowd in a lane that is sparse elsewhere, its buckets are too wide to tell them apart.
    const bool sharp = static_cast<double>(lane.pyramid.widthOf(0)) <= 2 * range.length() / rect.width();
    if (last - first > (sharp ? 2 : LaneReads::kMostPieces) * columns) {
        paintBuckets(painter, lane, range, columns, reads);
    } else {
        reads.pieces = last - first;
        paintPieces(painter, rect, lane, first, last, range, wide, wideFrom);
    }
    painter.flush();
    return reads;
}

}  // namespace shardscope::gui
