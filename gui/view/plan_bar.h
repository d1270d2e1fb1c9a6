#pragma once

// Which plans are on the page: the strategies as boxes, and the kept plans, each with a button that drops it.

#include <QWidget>
#include <utility>
#include <vector>

#include "gui/view/page_state.h"

class QAction;
class QCheckBox;
class QHBoxLayout;

namespace shardscope::gui {

class PlanBar : public QWidget {
    Q_OBJECT
public:
    /// `actions` stand at the left, those that are on or off as boxes.
    PlanBar(PageState& state, const QList<QAction*>& actions, QWidget* parent = nullptr);

signals:
    void dropWanted(std::size_t kept);

protected:
    void changeEvent(QEvent* event) override;

private:
    void fill();
    void retranslate();
    void measure();
    PageState& m_state;
    QHBoxLayout* m_row = nullptr;
    std::vector<std::pair<QCheckBox*, QAction*>> m_boxes;
    QList<QWidget*> m_chips;
};

}  // namespace shardscope::gui
