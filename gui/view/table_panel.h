#pragma once

// Any of the pictures as a table: the timeline's pieces in view, memory, the points of a sweep. One table for all.

#include <QWidget>

#include "gui/view/picture_tables.h"

class QComboBox;
class QTableView;
class QToolButton;

namespace shardscope::gui {

class TablePanel : public QWidget {
    Q_OBJECT
public:
    enum class Picture : std::uint8_t { Timeline, Memory, Sweep };

    TablePanel(PageState& state, QAbstractItemModel& sweep, QWidget* parent = nullptr);

    void show(Picture picture);
    [[nodiscard]] Picture picture() const;
    [[nodiscard]] QTableView& table() { return *m_table; }
    /// Whether the panel is on the screen, and not behind others.
    void setSeen(bool seen);

protected:
    void changeEvent(QEvent* event) override;
    void showEvent(QShowEvent* event) override;

private:
    void retranslate();
    /// Where the table is seen; what is not seen is not made.
    void refresh();

    PageState& m_state;
    QAbstractItemModel& m_sweep;
    PieceTable* m_pieces = nullptr;
    MemoryTable* m_memory = nullptr;
    QComboBox* m_picture = nullptr;
    QTableView* m_table = nullptr;
    QToolButton *m_csv = nullptr, *m_markdown = nullptr;
    bool m_seen = true;
};

}  // namespace shardscope::gui
