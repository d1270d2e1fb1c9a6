#pragma once

// The plans' figures as a table: a column a plan in the order of the page, and beside it how it differs from what it is
// compared with (basesOf).

#include <QTableWidget>

#include "gui/view/page_state.h"
#include "gui/view/text_cache.h"

namespace shardscope::gui {

class DifferencePanel : public QTableWidget {
    Q_OBJECT
public:
    explicit DifferencePanel(PageState& state, QWidget* parent = nullptr);

protected:
    void changeEvent(QEvent* event) override;

private:
    void fill();
    /// Below the heads: what plans differ in, and beside what was measured what was predicted. `columns` by plan.
    void fillPlans(const std::vector<std::optional<std::size_t>>& bases, const std::vector<int>& columns);
    void fillRun(const std::vector<std::optional<std::size_t>>& bases, const std::vector<int>& columns);
    void put(int row, int column, const QString& text, bool isFigure, const QString& formula);
    void name(Qt::Orientation orientation, int section, const QString& text);
    /// Sections as wide and high as what is in them.
    void fit();
    void measure();
    [[nodiscard]] int widthOf(int column);

    PageState& m_state;
    TextCache m_texts, m_heads;
    int m_margin = 0, m_headMargin = 0;  ///< around the words of a cell, of a column's head
    int m_height = 0;                    ///< of a row; 0: to be measured
};

}  // namespace shardscope::gui
