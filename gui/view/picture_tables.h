#pragma once

// What the pictures show, as tables: the pieces in view, lane by lane, and memory over time.

#include <QAbstractTableModel>
#include <vector>

#include "gui/view/page_state.h"

namespace shardscope::gui {

/// Every piece of every row that lies in the stretch in view. A row is looked up when it is asked for.
class PieceTable : public QAbstractTableModel {
    Q_OBJECT
public:
    enum Column { Plan, Rank, Stream, What, From, To, Duration, Payload, kColumns };
    static constexpr int kValueRole = Qt::UserRole;  ///< ns and bytes

    explicit PieceTable(const PageState& state, QObject* parent = nullptr);
    void fill();
    [[nodiscard]] PieceId pieceAt(int row) const;

    [[nodiscard]] int rowCount(const QModelIndex& parent = {}) const override;
    [[nodiscard]] int columnCount(const QModelIndex& parent = {}) const override;
    [[nodiscard]] QVariant data(const QModelIndex& index, int role = Qt::DisplayRole) const override;
    [[nodiscard]] QVariant headerData(int section, Qt::Orientation orientation, int role) const override;

private:
    struct Part {
        ShownRow row;
        std::size_t first = 0;  ///< piece
        int begin = 0;          ///< row of the table
    };
    const PageState& m_state;
    std::vector<Part> m_parts;
    int m_rows = 0;
};

/// Memory of every plan's fullest rank at each instant in view at which it changes.
class MemoryTable : public QAbstractTableModel {
    Q_OBJECT
public:
    static constexpr int kValueRole = Qt::UserRole;  ///< ns and bytes

    explicit MemoryTable(const PageState& state, QObject* parent = nullptr);
    void fill();

    [[nodiscard]] int rowCount(const QModelIndex& parent = {}) const override;
    [[nodiscard]] int columnCount(const QModelIndex& parent = {}) const override;
    [[nodiscard]] QVariant data(const QModelIndex& index, int role = Qt::DisplayRole) const override;
    [[nodiscard]] QVariant headerData(int section, Qt::Orientation orientation, int role) const override;

private:
    struct Part {
        std::size_t plan = 0, first = 0;  ///< instant of its curve
        int begin = 0;                    ///< row of the table
    };
    const PageState& m_state;
    std::vector<Part> m_parts;
    std::vector<std::size_t> m_categories;  ///< that any plan has
    int m_rows = 0;
};

}  // namespace shardscope::gui
