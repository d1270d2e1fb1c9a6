#pragma once

// The timeline for those who do not see it: a table whose rows are the lanes; the cell of a row is its current bar, the
// selected one or the one at the play head. Moving either is told as it happens.

#include <QAccessible>
#include <QObject>

class QTimer;

namespace shardscope::gui {

class TimelineView;

/// Makes the view answer assistive technology and tell it of changes, for as long as it lives.
class TimelineVoice : public QObject {
    Q_OBJECT
public:
    explicit TimelineVoice(TimelineView& view);

signals:
    /// An event was sent to whoever listens: Focus with the name of the bar, ValueChanged with the play head's instant.
    void told(QAccessible::Event event, const QString& text);

private:
    void tellSelection();
    void tellPlayHead();

    TimelineView& m_view;
    QTimer* m_pause = nullptr;
    double m_toldPlayHead = 0;
};

}  // namespace shardscope::gui
