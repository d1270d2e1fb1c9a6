#include "gui/view/text_cache.h"

#include <QFontMetrics>
#include <QPainter>
#include <cmath>

namespace shardscope::gui {

namespace {
constexpr qsizetype kMost = 8192;  // texts; some 30 MiB
}

int TextCache::widthOf(const QFont& font, const QString& text) {
    const auto known = m_widths.constFind(text);
    if (known != m_widths.constEnd()) return *known;
    if (m_widths.size() >= kMost) m_widths.clear();
    return *m_widths.insert(text, QFontMetrics(font).horizontalAdvance(text));
}

void TextCache::draw(QPainter& painter, const QRect& rect, Qt::Alignment alignment, const QString& text,
                     const QColor& colour) {
    const Key key(text, colour.rgba());
    auto picture = m_pictures.constFind(key);
    const QSize size(widthOf(painter.font(), text) + 2, painter.fontMetrics().height());
    if (picture == m_pictures.constEnd()) {
        if (m_pictures.size() >= kMost) m_pictures.clear();
        const double ratio = painter.device()->devicePixelRatioF();
        QImage made(QSize(static_cast<int>(std::ceil(size.width() * ratio)),
                          static_cast<int>(std::ceil(size.height() * ratio))),
                    QImage::Format_ARGB32_Premultiplied);
        made.setDevicePixelRatio(ratio);
        made.fill(Qt::transparent);
        QPainter writer(&made);
        writer.setFont(painter.font());
        writer.setPen(colour);
        writer.drawText(QPoint(1, painter.fontMetrics().ascent()), text);
        writer.end();
        picture = m_pictures.insert(key, made);
    }
    int x = rect.left() - 1, y = rect.top();
    if (alignment & Qt::AlignRight)
        x = rect.right() + 2 - size.width();
    else if (alignment & Qt::AlignHCenter)
        x = rect.left() + (rect.width() - size.width()) / 2;
    if (alignment & Qt::AlignVCenter) y = rect.top() + (rect.height() - size.height()) / 2;
    painter.drawImage(QPoint(x, y), *picture);
}

void TextCache::forget() {
    m_pictures.clear();
    m_widths.clear();
}

}  // namespace shardscope::gui
