#include "gui/view/picture_tables.h"

#include <algorithm>
#include <cmath>

#include "cli/face/text_picture.h"
#include "gui/view/words.h"

namespace shardscope::gui {

namespace {

/// The part that a row of the table lies in; parts are in order of `begin`.
const auto& partOf(const auto& parts, int row) {
    const auto after = std::ranges::upper_bound(parts, row, {}, [](const auto& part) { return part.begin; });
    return *(after - 1);
}

QVariant alignment(bool figure) {
    return figure ? QVariant(Qt::AlignRight | Qt::AlignVCenter) : QVariant();
}

QString unitOf(int role, const char* unit) {
    return role == Qt::UserRole ? QLatin1String(unit) : QString();
}

}  // namespace

PieceTable::PieceTable(const PageState& state, QObject* parent) : QAbstractTableModel(parent), m_state(state) {}

void PieceTable::fill() {
    beginResetModel();
    m_parts.clear();
    m_rows = 0;
    const TimeRange& range = m_state.view().range();
    for (const ShownRow& row : m_state.rows()) {
        const Pieces& pieces = m_state.lanes(row.plan).lanes[row.lane].pieces;
        const std::size_t first = pieces.firstEndingAfter(m_state.toPlan(row.plan, range.begin));
        const std::size_t end = pieces.firstFrom(m_state.toPlan(row.plan, range.end));
        if (first >= end) continue;
        m_parts.push_back({row, first, m_rows});
        m_rows += static_cast<int>(end - first);
    }
    endResetModel();
}

PieceId PieceTable::pieceAt(int row) const {
    const Part& part = partOf(m_parts, row);
    return {part.row.plan, part.row.lane, part.first + static_cast<std::size_t>(row - part.begin), part.row.rank};
}

int PieceTable::rowCount(const QModelIndex& parent) const {
    return parent.isValid() ? 0 : m_rows;
}

int PieceTable::columnCount(const QModelIndex& parent) const {
    return parent.isValid() ? 0 : kColumns;
}

QVariant PieceTable::data(const QModelIndex& index, int role) const {
    if (!index.isValid() || index.row() >= m_rows || index.column() >= kColumns) return {};
    if (role == Qt::TextAlignmentRole) return alignment(index.column() >= From);
    if (role != Qt::DisplayRole && role != kValueRole) return {};
    const PieceId id = pieceAt(index.row());
    const Part& part = partOf(m_parts, index.row());
    const LaneSet& set = m_state.lanes(id.plan);
    const Lane& lane = set.lanes[id.lane];
    const formats::RowPiece piece = lane.pieces[id.piece];
    const auto figure = [&](std::int64_t value, const QString& words) {
        return role == kValueRole ? QVariant(static_cast<qlonglong>(value)) : QVariant(words);
    };
    switch (index.column()) {
        case Plan: return m_state.titleOf(id.plan);
        case Rank: return rankName(set, lane.rankIndex, part.row.rank, part.row.ranks);
        case Stream: return toQString(lane.stream);
        case What: return describePiece(set, lane, piece);
        case From: return figure(piece.begin, instantText(piece.begin));
        case To: return figure(piece.end, instantText(piece.end));
        case Duration: return figure(piece.end - piece.begin, toQString(cli::durationText(piece.end - piece.begin)));
        case Payload: {
            if (piece.span == timeline::kNoIndex || isGap(piece.look)) return {};
            const std::int64_t bytes = set.timeline->spans.bytes[piece.span];
            return bytes > 0 ? figure(bytes, toQString(cli::bytesText(bytes))) : QVariant();
        }
        default: return {};
    }
}

QVariant PieceTable::headerData(int section, Qt::Orientation orientation, int role) const {
    if (orientation != Qt::Horizontal || (role != Qt::DisplayRole && role != kValueRole)) return {};
    switch (section) {
        case Plan: return tr("plan");
        case Rank: return tr("rank");
        case Stream: return tr("stream");
        case What: return tr("what");
        case From: return tr("from") + unitOf(role, " (ns)");
        case To: return tr("to") + unitOf(role, " (ns)");
        case Duration: return tr("takes") + unitOf(role, " (ns)");
        case Payload: return tr("payload") + unitOf(role, " (bytes)");
        default: return {};
    }
}

MemoryTable::MemoryTable(const PageState& state, QObject* parent) : QAbstractTableModel(parent), m_state(state) {}

void MemoryTable::fill() {
    beginResetModel();
    m_parts.clear();
    m_categories.clear();
    m_rows = 0;
    const TimeRange& range = m_state.view().range();
    for (std::size_t p = 0; p < m_state.plans().size(); ++p) {
        const MemoryCurve& curve = m_state.lanes(p).memory;
        const auto indexAt = [&](double instant) {
            return std::ranges::lower_bound(curve.time, std::llround(m_state.toPlan(p, instant))) - curve.time.begin();
        };
        const std::ptrdiff_t first = indexAt(range.begin), end = indexAt(range.end);
        if (first >= end) continue;
        m_parts.push_back({p, static_cast<std::size_t>(first), m_rows});
        m_rows += static_cast<int>(end - first);
    }
    for (std::size_t c = 0; c < core::kMemoryCategories; ++c)
        if (std::ranges::any_of(m_parts, [&](const Part& part) {
                return std::ranges::any_of(m_state.lanes(part.plan).memory.bytes,
                                           [&](const MemoryCurve::Bytes& bytes) { return bytes[c] > 0; });
            }))
            m_categories.push_back(c);
    endResetModel();
}

int MemoryTable::rowCount(const QModelIndex& parent) const {
    return parent.isValid() ? 0 : m_rows;
}

int MemoryTable::columnCount(const QModelIndex& parent) const {
    return parent.isValid() ? 0 : 3 + static_cast<int>(m_categories.size());
}

QVariant MemoryTable::data(const QModelIndex& index, int role) const {
    if (!index.isValid() || index.row() >= m_rows || index.column() >= columnCount()) return {};
    if (role == Qt::TextAlignmentRole) return alignment(index.column() >= 1);
    if (role != Qt::DisplayRole && role != kValueRole) return {};
    const Part& part = partOf(m_parts, index.row());
    const MemoryCurve& curve = m_state.lanes(part.plan).memory;
    const std::size_t at = part.first + static_cast<std::size_t>(index.row() - part.begin);
    const auto figure = [&](std::int64_t value, const QString& words) {
        return role == kValueRole ? QVariant(static_cast<qlonglong>(value)) : QVariant(words);
    };
    const auto bytes = [&](std::int64_t value) { return figure(value, toQString(cli::bytesText(value))); };
    if (index.column() == 0) return m_state.titleOf(part.plan);
    if (index.column() == 1) return figure(curve.time[at], instantText(curve.time[at]));
    if (index.column() == 2) return bytes(curve.total[at]);
    return bytes(curve.bytes[at][m_categories[static_cast<std::size_t>(index.column()) - 3]]);
}

QVariant MemoryTable::headerData(int section, Qt::Orientation orientation, int role) const {
    if (orientation != Qt::Horizontal || (role != Qt::DisplayRole && role != kValueRole)) return {};
    if (section == 0) return tr("plan");
    if (section == 1) return tr("from") + unitOf(role, " (ns)");
    if (section == 2) return tr("in use") + unitOf(role, " (bytes)");
    const auto category = static_cast<std::size_t>(section) - 3;
    if (category >= m_categories.size()) return {};
    return toQString(pictureText().memoryCategories[m_categories[category]]) + unitOf(role, " (bytes)");
}

}  // namespace shardscope::gui
