#include "gui/view/range_model.h"

#include <algorithm>

#include "cli/face/text_picture.h"
#include "cli/face/text_table.h"
#include "gui/view/words.h"

namespace shardscope::gui {

RangeModel::RangeModel(PageState& state, QObject* parent) : QAbstractTableModel(parent), m_state(state) {
    connect(&state, &PageState::answerChanged, this, &RangeModel::fillOnceSeen);
    for (const auto signal : {&PageState::rangeChanged, &PageState::alignmentChanged})
        connect(&state, signal, this, &RangeModel::fill);
}

void RangeModel::setSeen(bool seen) {
    m_seen = seen;
    if (m_seen) refresh();
}

void RangeModel::refresh() {
    if (m_stale) fill();
}

void RangeModel::fillOnceSeen() {
    if (m_seen) {
        fill();
        return;
    }
    // Rows of plans that are not on the page any more must not be asked for.
    m_stale = true;
    if (m_rows.empty()) return;
    beginResetModel();
    m_rows.clear();
    endResetModel();
}

void RangeModel::setGrouping(Grouping grouping) {
    m_grouping = grouping;
    fill();
}

TimeRange RangeModel::range() const {
    return m_state.range().value_or(TimeRange{0, m_state.view().end()});
}

void RangeModel::fill() {
    m_stale = false;
    beginResetModel();
    m_rows = statisticsOf(m_state, range(), m_grouping);
    endResetModel();
}

void RangeModel::retranslate() {
    fill();
    emit headerDataChanged(Qt::Horizontal, 0, kColumns - 1);
}

int RangeModel::rowOf(const PieceId& piece) const {
    const auto key = keyOf(m_state, piece, m_grouping);
    if (!key) return -1;
    const auto row = std::ranges::find(m_rows, *key, &RangeRow::key);
    return row != m_rows.end() ? static_cast<int>(row - m_rows.begin()) : -1;
}

int RangeModel::rowCount(const QModelIndex& parent) const {
    return parent.isValid() ? 0 : static_cast<int>(m_rows.size());
}

int RangeModel::columnCount(const QModelIndex& parent) const {
    return parent.isValid() ? 0 : kColumns;
}

QString RangeModel::nameOf(const RangeKey& key) const {
    const LaneSet& set = m_state.lanes(key.plan);
    const QString look = toQString(pictureText().looks[static_cast<std::size_t>(key.look)]);
    const bool work = key.look == formats::Look::None;
    switch (m_grouping) {
        case Grouping::Kind:
            return key.stream.empty() ? look : QStringLiteral("%1: %2").arg(toQString(key.stream), look);
        case Grouping::Unit:
            if (!work) return look;
            return key.unit != 0 ? toQString(set.timeline->strings[key.unit]) : tr("of no unit");
        case Grouping::Rank: {
            const timeline::RankRow& rank = set.timeline->ranks[key.rankIndex];
            const QString name = rankName(set, key.rankIndex, 0, rank.multiplicity);
            return work ? tr("%1: work").arg(name) : QStringLiteral("%1: %2").arg(name, look);
        }
    }
    return {};
}

QVariant RangeModel::data(const QModelIndex& index, int role) const {
    if (!index.isValid() || index.row() >= rowCount() || index.column() >= kColumns) return {};
    const RangeRow& row = m_rows[static_cast<std::size_t>(index.row())];
    if (role == Qt::TextAlignmentRole && index.column() >= Count) return QVariant(Qt::AlignRight | Qt::AlignVCenter);
    if (role != Qt::DisplayRole && role != kValueRole) return {};
    const bool value = role == kValueRole;
    const auto time = [&](std::int64_t ns) {
        return value ? QVariant(static_cast<qlonglong>(ns)) : QVariant(toQString(cli::durationText(ns)));
    };
    switch (index.column()) {
        case Plan: return m_state.titleOf(row.key.plan);
        case What: return nameOf(row.key);
        case Count:
            return value ? QVariant(static_cast<qlonglong>(row.count))
                         : QVariant(toQString(cli::groupedDigits(row.count)));
        case Sum: return time(row.total);
        case Mean: return time(row.mean());
        case Shortest: return time(row.shortest);
        case Longest: return time(row.longest);
        case Share:
            return value ? QVariant(row.share) : QVariant(QStringLiteral("%1 %").arg(100 * row.share, 0, 'f', 1));
        default: return {};
    }
}

QVariant RangeModel::headerData(int section, Qt::Orientation orientation, int role) const {
    if (orientation != Qt::Horizontal || (role != Qt::DisplayRole && role != kValueRole)) return {};
    const QString unit = role == kValueRole ? QStringLiteral(" (ns)") : QString();
    switch (section) {
        case Plan: return tr("plan");
        case What: return tr("what");
        case Count: return tr("count");
        case Sum: return tr("sum") + unit;
        case Mean: return tr("mean") + unit;
        case Shortest: return tr("smallest") + unit;
        case Longest: return tr("largest") + unit;
        case Share: return tr("share");
        default: return {};
    }
}

}  // namespace shardscope::gui
