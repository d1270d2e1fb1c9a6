#include "gui/view/timeline_access.h"

#include <QAccessible>
#include <QAccessibleWidget>
#include <QScrollBar>
#include <QTimer>
#include <cmath>

#include "cli/face/text_picture.h"
#include "gui/view/timeline_view.h"
#include "gui/view/words.h"

namespace shardscope::gui {

namespace {

class TimelineFace;

/// The current piece of a row.
std::optional<PieceId> currentOf(const PageState& page, const ShownRow& row) {
    const auto selected = page.selection();
    if (selected && selected->plan == row.plan && selected->lane == row.lane && selected->rank == row.rank)
        return selected;
    const Pieces& pieces = page.lanes(row.plan).lanes[row.lane].pieces;
    const auto piece = pieces.at(static_cast<std::int64_t>(std::floor(page.toPlan(row.plan, page.playHead()))));
    if (!piece) return std::nullopt;
    return PieceId{row.plan, row.lane, *piece, row.rank};
}

/// What rows and cells have in common: they are parts of the view, found by their row's number.
class PartFace : public QAccessibleInterface {
public:
    PartFace(TimelineView& view, int row) : m_view(&view), m_row(row) {}

    [[nodiscard]] bool isValid() const override { return row() != nullptr; }
    [[nodiscard]] QObject* object() const override { return nullptr; }
    [[nodiscard]] QWindow* window() const override { return m_view->window()->windowHandle(); }
    void setText(QAccessible::Text, const QString&) override {}
    [[nodiscard]] QAccessibleInterface* childAt(int x, int y) const override {
        for (int i = 0; i < childCount(); ++i)
            if (QAccessibleInterface* one = child(i); one != nullptr && one->rect().contains(x, y)) return one;
        return nullptr;
    }

protected:
    [[nodiscard]] const ShownRow* row() const {
        const auto& rows = m_view->page().rows();
        const auto at = static_cast<std::size_t>(m_row);
        return at < rows.size() ? &rows[at] : nullptr;
    }
    [[nodiscard]] QRect onScreen(const QRect& rect) const {
        return rect.isEmpty() ? rect : QRect(m_view->viewport()->mapToGlobal(rect.topLeft()), rect.size());
    }

    TimelineView* m_view;
    int m_row;
};

class CellFace : public PartFace {
public:
    using PartFace::PartFace;

    [[nodiscard]] QAccessible::Role role() const override { return QAccessible::Cell; }
    [[nodiscard]] bool isValid() const override { return current().has_value(); }
    [[nodiscard]] QAccessibleInterface* parent() const override;
    [[nodiscard]] QAccessibleInterface* child(int) const override { return nullptr; }
    [[nodiscard]] int childCount() const override { return 0; }
    [[nodiscard]] int indexOfChild(const QAccessibleInterface*) const override { return -1; }
    [[nodiscard]] QRect rect() const override {
        const auto piece = current();
        return onScreen(piece ? m_view->rectOf(*piece).value_or(QRect()) : QRect());
    }
    [[nodiscard]] QAccessible::State state() const override {
        QAccessible::State state;
        state.focusable = state.selectable = true;
        const auto selected = m_view->page().selection();
        state.selected = selected && selected == current();
        state.focused = state.selected && m_view->hasFocus();
        return state;
    }
    [[nodiscard]] QString text(QAccessible::Text which) const override {
        const auto id = current();
        if (!id) return {};
        const LaneSet& set = m_view->page().lanes(id->plan);
        const Lane& lane = set.lanes[id->lane];
        const formats::RowPiece piece = lane.pieces[id->piece];
        switch (which) {
            case QAccessible::Name: return describePiece(set, lane, piece);
            case QAccessible::Value: return toQString(cli::durationText(piece.end - piece.begin));
            case QAccessible::Description:
                return TimelineView::tr("from %1 to %2").arg(instantText(piece.begin), instantText(piece.end));
            default: return {};
        }
    }

private:
    [[nodiscard]] std::optional<PieceId> current() const {
        return row() != nullptr ? currentOf(m_view->page(), *row()) : std::nullopt;
    }
};

class RowFace : public PartFace {
public:
    RowFace(TimelineView& view, int row) : PartFace(view, row), m_cell(new CellFace(view, row)) {
        m_cellId = QAccessible::registerAccessibleInterface(m_cell);
    }
    ~RowFace() override { QAccessible::deleteAccessibleInterface(m_cellId); }

    [[nodiscard]] QAccessible::Role role() const override { return QAccessible::Row; }
    [[nodiscard]] QAccessible::State state() const override { return {}; }
    [[nodiscard]] QAccessibleInterface* parent() const override {
        return QAccessible::queryAccessibleInterface(m_view);
    }
    [[nodiscard]] QAccessibleInterface* child(int index) const override {
        return index == 0 && m_cell->isValid() ? m_cell : nullptr;
    }
    [[nodiscard]] int childCount() const override { return m_cell->isValid() ? 1 : 0; }
    [[nodiscard]] int indexOfChild(const QAccessibleInterface* child) const override {
        return child == m_cell ? 0 : -1;
    }
    [[nodiscard]] QRect rect() const override {
        const ShownRow* shown = row();
        if (shown == nullptr) return {};
        for (const Strip& strip : m_view->strips())
            if (strip.kind == Strip::Kind::Lane && strip.plan == shown->plan && strip.lane == shown->lane &&
                strip.rank == shown->rank)
                return onScreen(QRect(0, strip.top - m_view->verticalScrollBar()->value(), m_view->viewport()->width(),
                                      strip.height));
        return {};
    }
    [[nodiscard]] QString text(QAccessible::Text which) const override {
        const ShownRow* shown = row();
        if (shown == nullptr) return {};
        const LaneSet& set = m_view->page().lanes(shown->plan);
        const Lane& lane = set.lanes[shown->lane];
        if (which == QAccessible::Value && lane.kind == Lane::Kind::State)
            return QStringLiteral("%1 %").arg(std::lround(100 * lane.work));
        if (which != QAccessible::Name) return {};
        QStringList parts{m_view->page().titleOf(shown->plan),
                          rankName(set, lane.rankIndex, shown->rank, shown->ranks)};
        if (lane.kind == Lane::Kind::Stream) parts << toQString(lane.stream);
        return parts.join(QStringLiteral(", "));
    }

private:
    CellFace* m_cell;  // of QAccessible's cache
    QAccessible::Id m_cellId;
};

class TimelineFace : public QAccessibleWidget {
public:
    explicit TimelineFace(TimelineView& view) : QAccessibleWidget(&view, QAccessible::Table), m_view(&view) {}
    ~TimelineFace() override { forget(); }

    [[nodiscard]] int childCount() const override { return static_cast<int>(m_view->page().rows().size()); }
    [[nodiscard]] QAccessibleInterface* child(int index) const override {
        if (index < 0 || index >= childCount()) return nullptr;
        while (std::ssize(m_rows) <= index) {
            auto* row = new RowFace(*m_view, static_cast<int>(m_rows.size()));
            m_rows.emplace_back(row, QAccessible::registerAccessibleInterface(row));
        }
        return m_rows[static_cast<std::size_t>(index)].first;
    }
    [[nodiscard]] int indexOfChild(const QAccessibleInterface* child) const override {
        for (std::size_t i = 0; i < m_rows.size(); ++i)
            if (m_rows[i].first == child) return static_cast<int>(i);
        return -1;
    }
    [[nodiscard]] QAccessibleInterface* childAt(int x, int y) const override {
        for (int i = 0; i < childCount(); ++i)
            if (QAccessibleInterface* row = child(i); row->rect().contains(x, y)) return row;
        return nullptr;
    }
    [[nodiscard]] QAccessibleInterface* focusChild() const override {
        const auto selected = m_view->page().selection();
        if (!selected) return nullptr;
        const auto& rows = m_view->page().rows();
        for (std::size_t i = 0; i < rows.size(); ++i)
            if (rows[i].plan == selected->plan && rows[i].lane == selected->lane && rows[i].rank == selected->rank)
                return child(static_cast<int>(i))->child(0);
        return nullptr;
    }
    [[nodiscard]] QString text(QAccessible::Text which) const override {
        if (which == QAccessible::Value) return valueOf(*m_view);
        return QAccessibleWidget::text(which);
    }
    /// The play head, as the value of the whole.
    static QString valueOf(const TimelineView& view) { return instantText(std::llround(view.page().playHead())); }

private:
    void forget() {
        for (const auto& [row, id] : m_rows) QAccessible::deleteAccessibleInterface(id);
        m_rows.clear();
    }

    TimelineView* m_view;
    mutable std::vector<std::pair<RowFace*, QAccessible::Id>> m_rows;  // made when asked for; of QAccessible's cache
};

QAccessibleInterface* CellFace::parent() const {
    QAccessibleInterface* table = QAccessible::queryAccessibleInterface(m_view);
    return table != nullptr ? table->child(m_row) : nullptr;
}

QAccessibleInterface* faceOf(const QString& className, QObject* object) {
    if (className != QLatin1String(TimelineView::staticMetaObject.className())) return nullptr;
    auto* view = qobject_cast<TimelineView*>(object);
    return view != nullptr ? new TimelineFace(*view) : nullptr;
}

}  // namespace

TimelineVoice::TimelineVoice(TimelineView& view) : QObject(&view), m_view(view) {
    static const bool installed = (QAccessible::installFactory(faceOf), true);
    static_cast<void>(installed);
    // The play head moves with every frame; twice a second is as much as can be listened to.
    m_pause = new QTimer(this);
    m_pause->setSingleShot(true);
    m_pause->setInterval(500);
    connect(m_pause, &QTimer::timeout, this, &TimelineVoice::tellPlayHead);
    connect(&view.page(), &PageState::cursorChanged, this, [this] {
        if (m_view.page().playHead() != m_toldPlayHead && !m_pause->isActive()) m_pause->start();
    });
    connect(&view.page(), &PageState::selectionChanged, this, &TimelineVoice::tellSelection);
}

void TimelineVoice::tellPlayHead() {
    m_toldPlayHead = m_view.page().playHead();
    const QString text = TimelineFace::valueOf(m_view);
    QAccessibleValueChangeEvent event(&m_view, text);
    QAccessible::updateAccessibility(&event);
    emit told(event.type(), text);
}

void TimelineVoice::tellSelection() {
    QAccessibleInterface* face = QAccessible::queryAccessibleInterface(&m_view);
    QAccessibleInterface* cell = face != nullptr ? face->focusChild() : nullptr;
    if (cell == nullptr) return;
    QAccessibleEvent event(cell, QAccessible::Focus);
    QAccessible::updateAccessibility(&event);
    emit told(event.type(), cell->text(QAccessible::Name));
}

}  // namespace shardscope::gui
