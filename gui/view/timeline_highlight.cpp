// What is highlighted, as what is left bright: the rest of its lanes is veiled.

#include <QPainter>
#include <QScrollBar>
#include <algorithm>
#include <cmath>

#include "gui/view/timeline_view.h"

namespace shardscope::gui {

void TimelineView::paintHighlight(QPainter& painter) const {
    if (m_state.highlight().empty()) return;
    const QRect area = plot();
    QColor veil = m_theme.canvas;
    veil.setAlpha(190);
    painter.setBrush(Qt::NoBrush);
    painter.setPen(QPen(m_theme.selection, 1));
    for (const Strip& strip : m_strips) {
        const int y = strip.top - verticalScrollBar()->value();
        if (strip.kind != Strip::Kind::Lane || y + strip.height < 0 || y > area.height()) continue;
        const Pieces& pieces = m_state.lanes(strip.plan).lanes[strip.lane].pieces;
        const auto bright = m_state.highlightOf(strip.plan, strip.lane);
        int veiledTo = area.left();
        const auto from = pieces.firstEndingAfter(planRange(strip.plan).begin);
        for (auto at = std::ranges::lower_bound(bright, from); at != bright.end();) {
            const double begin = xOf(m_state.toAxis(strip.plan, static_cast<double>(pieces.beginOf(*at))));
            const double end = xOf(m_state.toAxis(strip.plan, static_cast<double>(pieces.endOf(*at))));
            if (begin > area.right()) break;
            const int left = std::max(area.left(), static_cast<int>(std::floor(begin)));
            const int right = std::min(area.right() + 1, std::max(left + 1, static_cast<int>(std::ceil(end))));
            if (left > veiledTo) painter.fillRect(veiledTo, y, left - veiledTo, strip.height, veil);
            if (right - left < 4)
                painter.fillRect(QRectF(left, y, 2, strip.height), m_theme.selection);  // seen however short it is
            else
                painter.drawRect(QRectF(left + 0.5, y + 0.5, right - left - 1, strip.height - 1));
            veiledTo = std::max(veiledTo, right);
            // Whatever else lies in this pixel is bright already.
            const std::size_t next = pieces.firstEndingAfter(m_state.toPlan(strip.plan, timeAt(right)));
            at = std::ranges::lower_bound(at + 1, bright.end(), next);
        }
        if (veiledTo <= area.right()) painter.fillRect(veiledTo, y, area.right() + 1 - veiledTo, strip.height, veil);
    }
}

}  // namespace shardscope::gui
