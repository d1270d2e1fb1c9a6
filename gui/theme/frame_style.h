#pragma once

// Fusion with frames that are seen: around whatever scrolls while it has the focus, and in high contrast around every
// field and button, since Fusion's own are darker than the window. A style sheet would do the same, but it takes the
// arrows of fields for numbers away, and keeps fonts from reaching the widgets below it.

#include <QColor>
#include <QProxyStyle>

#include "gui/theme/theme.h"

namespace shardscope::gui {

class FrameStyle : public QProxyStyle {
    Q_OBJECT
public:
    explicit FrameStyle(const Theme& theme);

    [[nodiscard]] ThemeKind kind() const { return m_kind; }

    void drawPrimitive(PrimitiveElement element, const QStyleOption* option, QPainter* painter,
                       const QWidget* widget) const override;
    void drawComplexControl(ComplexControl control, const QStyleOptionComplex* option, QPainter* painter,
                            const QWidget* widget) const override;

    void drawControl(ControlElement element, const QStyleOption* option, QPainter* painter,
                     const QWidget* widget) const override;
    void polish(QWidget* widget) override;
    void unpolish(QWidget* widget) override;
    using QProxyStyle::polish;
    using QProxyStyle::unpolish;

protected:
    bool eventFilter(QObject* watched, QEvent* event) override;

private:
    void frame(const QStyleOption& option, QPainter& painter) const;

    ThemeKind m_kind;
    QColor m_line, m_focus;
};

}  // namespace shardscope::gui
