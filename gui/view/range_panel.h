#pragma once

// The statistics of the chosen stretch of time. A chosen row's pieces are highlighted in the timeline; the row of what
// is selected there is marked here.

#include <QWidget>

#include "gui/view/range_model.h"

class QAction;
class QComboBox;
class QLabel;
class QSortFilterProxyModel;
class QTableView;

namespace shardscope::gui {

class RangePanel : public QWidget {
    Q_OBJECT
public:
    /// `actions` become buttons.
    RangePanel(PageState& state, const QList<QAction*>& actions, QWidget* parent = nullptr);

    [[nodiscard]] RangeModel& model();
    [[nodiscard]] QTableView& table();
    /// As the table is sorted.
    [[nodiscard]] const QAbstractItemModel& shown();
    /// Whether the panel is on the screen, and not behind others.
    void setSeen(bool seen);
    void setGrouping(Grouping grouping);

protected:
    void changeEvent(QEvent* event) override;

private:
    void retranslate();
    void describeRange();
    void highlightRow();
    void markSelected();

    PageState& m_state;
    RangeModel* m_model = nullptr;
    QSortFilterProxyModel* m_sorted = nullptr;
    QLabel* m_range = nullptr;
    QComboBox* m_grouping = nullptr;
    QTableView* m_table = nullptr;
    bool m_marking = false;  ///< the row follows the selection, not the other way round
};

}  // namespace shardscope::gui
