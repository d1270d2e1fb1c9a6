#pragma once

// Short texts as pictures, so that a frame with a thousand of them shapes none anew.

#include <QHash>
#include <QImage>
#include <QString>
#include <utility>

class QColor;
class QFont;
class QPainter;
class QRect;

namespace shardscope::gui {

class TextCache {
public:
    /// Draws one line of text, in the painter's font, within a rectangle. Every call between two of `forget` has to use
    /// the same font and device pixel ratio.
    void draw(QPainter& painter, const QRect& rect, Qt::Alignment alignment, const QString& text, const QColor& colour);
    [[nodiscard]] int widthOf(const QFont& font, const QString& text);
    void forget();

private:
    using Key = std::pair<QString, QRgb>;
    QHash<Key, QImage> m_pictures;
    QHash<QString, int> m_widths;  // logical pixels
};

}  // namespace shardscope::gui
