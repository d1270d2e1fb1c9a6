#pragma once

// The plans' figures as a table: a column a plan, and for the later ones how they differ from the first.

#include <QHeaderView>
#include <QTableWidget>

#include "gui/view/page_state.h"

namespace shardscope::gui {

class DifferencePanel : public QTableWidget {
    Q_OBJECT
public:
    explicit DifferencePanel(PageState& state, QWidget* parent = nullptr);

protected:
    void changeEvent(QEvent* event) override;

private:
    void fill();
    void resizeSections(QHeaderView::ResizeMode mode);
    PageState& m_state;
};

}  // namespace shardscope::gui
