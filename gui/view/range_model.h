#pragma once

// The statistics of the chosen stretch of time, or of the whole step, as a table.

#include <QAbstractTableModel>
#include <vector>

#include "gui/view/range_statistics.h"

namespace shardscope::gui {

class RangeModel : public QAbstractTableModel {
    Q_OBJECT
public:
    enum Column { Plan, What, Count, Sum, Mean, Shortest, Longest, Share, kColumns };
    /// What a cell sorts by and a CSV holds: ns, counts and shares as numbers; headers with their unit.
    static constexpr int kValueRole = Qt::UserRole;

    explicit RangeModel(PageState& state, QObject* parent = nullptr);

    void setGrouping(Grouping grouping);
    [[nodiscard]] Grouping grouping() const { return m_grouping; }
    /// The stretch that is summed up.
    [[nodiscard]] TimeRange range() const;
    [[nodiscard]] const std::vector<RangeRow>& rows() const { return m_rows; }
    /// The row that a piece belongs to, or -1.
    [[nodiscard]] int rowOf(const PieceId& piece) const;
    void retranslate();
    /// Whether anyone sees the rows. Where nobody does, another answer is summed up once somebody asks: a change of a
    /// knob need not wait for it.
    void setSeen(bool seen);
    /// Sums up what has not been yet.
    void refresh();

    [[nodiscard]] int rowCount(const QModelIndex& parent = {}) const override;
    [[nodiscard]] int columnCount(const QModelIndex& parent = {}) const override;
    [[nodiscard]] QVariant data(const QModelIndex& index, int role = Qt::DisplayRole) const override;
    [[nodiscard]] QVariant headerData(int section, Qt::Orientation orientation, int role) const override;

private:
    void fill();
    void fillOnceSeen();
    [[nodiscard]] QString nameOf(const RangeKey& key) const;

    PageState& m_state;
    Grouping m_grouping = Grouping::Kind;
    std::vector<RangeRow> m_rows;
    bool m_seen = true, m_stale = false;
};

}  // namespace shardscope::gui
