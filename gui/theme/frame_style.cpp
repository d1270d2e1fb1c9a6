#include "gui/theme/frame_style.h"

#include <QAbstractScrollArea>
#include <QAbstractSpinBox>
#include <QComboBox>
#include <QEvent>
#include <QPainter>
#include <QPushButton>
#include <QStyleOption>

namespace shardscope::gui {

FrameStyle::FrameStyle(const Theme& theme)
    : QProxyStyle(QStringLiteral("Fusion")),
      m_kind(theme.kind),
      m_line(theme.kind == ThemeKind::Dark ? theme.mutedText : theme.text),
      m_focus(theme.palette.color(QPalette::Highlight)) {}

void FrameStyle::frame(const QStyleOption& option, QPainter& painter) const {
    const bool focused = option.state.testFlag(State_HasFocus);
    const int width = focused ? 2 : 1;
    painter.save();
    painter.setRenderHint(QPainter::Antialiasing, false);
    for (int i = 0; i < width; ++i) {
        painter.setPen(focused ? m_focus : m_line);
        painter.setBrush(Qt::NoBrush);
        painter.drawRect(option.rect.adjusted(i, i, -1 - i, -1 - i));
    }
    painter.restore();
}

void FrameStyle::drawPrimitive(PrimitiveElement element, const QStyleOption* option, QPainter* painter,
                               const QWidget* widget) const {
    QProxyStyle::drawPrimitive(element, option, painter, widget);
    // An empty box is not seen on dark either.
    if (m_kind == ThemeKind::Dark && element == PE_IndicatorCheckBox) frame(*option, *painter);
    if (m_kind != ThemeKind::HighContrast) return;
    switch (element) {
        case PE_PanelLineEdit: {
            // Within another field it has that one's frame.
            const QWidget* parent = widget != nullptr ? widget->parentWidget() : nullptr;
            if (qobject_cast<const QAbstractSpinBox*>(parent) == nullptr &&
                qobject_cast<const QComboBox*>(parent) == nullptr)
                frame(*option, *painter);
            break;
        }
        case PE_IndicatorCheckBox:
            if (option->state.testFlag(State_On)) painter->fillRect(option->rect.adjusted(3, 3, -3, -3), m_line);
            frame(*option, *painter);
            break;
        case PE_PanelButtonCommand:
        case PE_PanelButtonTool:
        case PE_IndicatorRadioButton: frame(*option, *painter); break;
        case PE_FrameFocusRect:
            if (qobject_cast<const QPushButton*>(widget) == nullptr) frame(*option, *painter);
            break;
        default: break;
    }
}

void FrameStyle::drawComplexControl(ComplexControl control, const QStyleOptionComplex* option, QPainter* painter,
                                    const QWidget* widget) const {
    QProxyStyle::drawComplexControl(control, option, painter, widget);
    if (m_kind != ThemeKind::HighContrast) return;
    if (control == CC_SpinBox || control == CC_ComboBox) frame(*option, *painter);
}

void FrameStyle::drawControl(ControlElement element, const QStyleOption* option, QPainter* painter,
                             const QWidget* widget) const {
    QProxyStyle::drawControl(element, option, painter, widget);
    if (element == CE_ShapedFrame && option->state.testFlag(State_HasFocus) &&
        qobject_cast<const QAbstractScrollArea*>(widget) != nullptr)
        frame(*option, *painter);
}

void FrameStyle::polish(QWidget* widget) {
    QProxyStyle::polish(widget);
    if (qobject_cast<QAbstractScrollArea*>(widget) != nullptr) widget->installEventFilter(this);
}

void FrameStyle::unpolish(QWidget* widget) {
    widget->removeEventFilter(this);
    QProxyStyle::unpolish(widget);
}

bool FrameStyle::eventFilter(QObject* watched, QEvent* event) {
    // What scrolls draws its contents anew when the focus comes or goes, not its frame.
    if (event->type() == QEvent::FocusIn || event->type() == QEvent::FocusOut) static_cast<QWidget*>(watched)->update();
    return QProxyStyle::eventFilter(watched, event);
}

}  // namespace shardscope::gui
