#include "gui/view/timeline_view.h"

#include <QHelpEvent>
#include <QKeyEvent>
#include <QPaintEvent>
#include <QPainter>
#include <QScrollBar>
#include <QToolTip>
#include <QWheelEvent>
#include <algorithm>
#include <cmath>

#include "cli/face/text_picture.h"
#include "cli/face/text_table.h"
#include "cli/face/words.h"
#include "gui/view/figure_words.h"
#include "gui/view/timeline_access.h"
#include "gui/view/words.h"

namespace shardscope::gui {

using formats::Look;

namespace {

// Keys by their place, so that they work while Hangul is typed (evdev codes plus 8).
enum PhysicalKey : quint32 { KeyW = 25, KeyA = 38, KeyS = 39, KeyD = 40 };
constexpr std::size_t kMostAiry = 40;  // lanes; more stand closer, so that sixty-four of them fit a screen
constexpr double kZoomStep = 1.25, kPanStep = 0.1;

bool isKey(const QKeyEvent& event, PhysicalKey place, Qt::Key letter) {
    return event.nativeScanCode() == place || event.key() == letter;
}

}  // namespace

TimelineView::TimelineView(PageState& state, QWidget* parent)
    : QAbstractScrollArea(parent), m_state(state), m_theme(themeOf(ThemeKind::Light)) {
    new TimelineVoice(*this);  // before anything asks for its interface, which is kept
    setFocusPolicy(Qt::StrongFocus);
    setFrameShape(QFrame::NoFrame);
    setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    viewport()->setMouseTracking(true);
    viewport()->setAttribute(Qt::WA_OpaquePaintEvent);
    setAccessibleName(tr("Timeline"));
    measureLabels();
    connect(&state, &PageState::rowsChanged, this, &TimelineView::measureLabels);
    connect(&state, &PageState::answerChanged, this, [this] {
        layOut();
        forget();
    });
    connect(&state, &PageState::viewChanged, this, [this] {
        layOut();
        forget();
    });
    connect(&state, &PageState::cursorChanged, this, &TimelineView::moveLines);
    connect(&state, &PageState::rangeChanged, viewport(), qOverload<>(&QWidget::update));
    connect(&state, &PageState::highlightChanged, viewport(), qOverload<>(&QWidget::update));
    connect(&state, &PageState::selectionChanged, this, [this] {
        if (const auto piece = m_state.selection()) ensureVisible(*piece);
        viewport()->update();
    });
}

void TimelineView::setTheme(const Theme& theme) {
    m_theme = theme;
    forget();
}

void TimelineView::forget() {
    m_baseValid = false;
    viewport()->update();
}

/// Draws anew only where the cursor and the play head were and are.
void TimelineView::moveLines() {
    const auto update = [&](double time) {
        const double x = std::clamp(xOf(time), -10.0, viewport()->width() + 10.0);
        viewport()->update(static_cast<int>(x) - 2, 0, 5, viewport()->height());
    };
    if (m_shownCursor) update(*m_shownCursor);
    if (m_state.cursor()) update(*m_state.cursor());
    if (m_shownPlayHead != m_state.playHead()) {
        update(m_shownPlayHead);
        update(m_state.playHead());
    }
    m_shownCursor = m_state.cursor();
    m_shownPlayHead = m_state.playHead();
}

void TimelineView::measureLabels() {
    m_labels = fontMetrics().horizontalAdvance(QStringLiteral("0000.0 GiB "));
    m_percent = fontMetrics().horizontalAdvance(QStringLiteral("100 %")) + 16;
    for (const ShownRow& row : m_state.rows())
        m_labels = std::max(
            m_labels,
            m_texts.widthOf(font(), labelOf({Strip::Kind::Lane, row.plan, row.lane, 0, 0, row.rank, row.ranks})));
}

int TimelineView::axisHeight() const {
    return fontMetrics().height() + 10;
}

QRect TimelineView::plot() const {
    const int left = std::min(m_labels, viewport()->width() / 3) + 20;
    return {left, 0, std::max(1, viewport()->width() - left - m_percent),
            std::max(1, viewport()->height() - axisHeight())};
}

void TimelineView::layOut() {
    // As roomy as still shows all of the page; where not even the closest does, that one.
    const int line = fontMetrics().height();
    const Spacing spacings[] = {{2 * line + 10, line / 2, line + 8, line, line, 6 * line, line},
                                {2 * line + 8, line / 4, line + 6, line, line / 2, 4 * line, line / 2},
                                {2 * line + 6, 2, line + 4, line - 2, 4, 3 * line, 6}};
    for (const Spacing& spacing : spacings) {
        layOut(spacing);
        if (m_height <= plot().height()) break;
    }
    verticalScrollBar()->setPageStep(plot().height());
    verticalScrollBar()->setSingleStep(line);
    verticalScrollBar()->setRange(0, std::max(0, m_height - plot().height()));
}

void TimelineView::layOut(const Spacing& spacing) {
    m_strips.clear();
    const bool dense = m_state.rows().size() > kMostAiry;
    int top = 4;
    auto row = m_state.rows().begin();
    for (std::size_t p = 0; p < m_state.plans().size(); ++p) {
        const LaneSet& set = m_state.lanes(p);
        m_strips.push_back({Strip::Kind::Header, p, 0, top, spacing.header});
        top += spacing.header;
        for (; row != m_state.rows().end() && row->plan == p; ++row) {
            const bool state = set.lanes[row->lane].kind == Lane::Kind::State;
            top += state && !dense ? spacing.aboveState : 1;
            const int height = dense ? fontMetrics().height() - 1 : state ? spacing.state : spacing.stream;
            m_strips.push_back({Strip::Kind::Lane, p, row->lane, top, height, row->rank, row->ranks});
            top += height;
        }
        top += spacing.aboveMemory;
        if (!set.memory.time.empty()) {
            m_strips.push_back({Strip::Kind::Memory, p, 0, top, spacing.memory});
            top += spacing.memory;
        }
        top += spacing.below;
    }
    m_height = top;
}

TimeRange TimelineView::planRange(std::size_t plan) const {
    const TimeRange& range = m_state.view().range();
    return {m_state.toPlan(plan, range.begin), m_state.toPlan(plan, range.end)};
}

double TimelineView::timeAt(double x) const {
    const QRect area = plot();
    const TimeRange& range = m_state.view().range();
    return range.begin + (x - area.left()) / area.width() * range.length();
}

double TimelineView::xOf(double axisTime) const {
    const QRect area = plot();
    const TimeRange& range = m_state.view().range();
    return area.left() + (axisTime - range.begin) / range.length() * area.width();
}

std::int64_t TimelineView::memoryTop() const {
    // One scale for all plans; the capacity is in the picture where it is not far above what is used.
    std::int64_t peak = 1, capacity = 0;
    for (const ShownPlan& plan : m_state.plans()) {
        const LaneSet& set = plan.lanes();
        if (!set.memory.total.empty()) peak = std::max(peak, set.memory.total[static_cast<std::size_t>(set.peak)]);
        capacity = std::max(capacity, set.capacity);
    }
    const std::int64_t most = capacity > 0 && capacity < 4 * peak ? std::max(capacity, peak) : peak;
    return most + most / 8;
}

const Strip* TimelineView::stripAt(int y) const {
    const int at = y + verticalScrollBar()->value();
    for (const Strip& strip : m_strips)
        if (at >= strip.top && at < strip.top + strip.height) return &strip;
    return nullptr;
}

std::optional<PieceId> TimelineView::pieceAt(QPoint position) const {
    const Strip* strip = stripAt(position.y());
    if (strip == nullptr || strip->kind != Strip::Kind::Lane || !plot().contains(position)) return std::nullopt;
    const Lane& lane = m_state.lanes(strip->plan).lanes[strip->lane];
    const double time = m_state.toPlan(strip->plan, timeAt(position.x() + 0.5));
    const auto piece = lane.pieces.at(static_cast<std::int64_t>(std::floor(time)));
    if (!piece) return std::nullopt;
    return PieceId{strip->plan, strip->lane, *piece, strip->rank};
}

QString TimelineView::labelOf(const Strip& strip) const {
    const LaneSet& set = m_state.lanes(strip.plan);
    const Lane& lane = set.lanes[strip.lane];
    if (lane.kind == Lane::Kind::Stream) return toQString(lane.stream);
    const QString name = rankName(set, lane.rankIndex, strip.rank, strip.ranks);
    if (m_state.ranksOf(strip.plan, strip.lane) == 1) return name;
    const bool folded = m_state.unfoldingOf(strip.plan, strip.lane).kind == Unfolding::Kind::Folded;
    return (folded ? QStringLiteral("\u25b8 ") : QStringLiteral("\u25be ")) + name;
}

const Strip* TimelineView::foldAt(QPoint position) const {
    const Strip* strip = stripAt(position.y());
    if (strip == nullptr || strip->kind != Strip::Kind::Lane || position.x() >= plot().left()) return nullptr;
    const bool state = m_state.lanes(strip->plan).lanes[strip->lane].kind == Lane::Kind::State;
    return state && m_state.ranksOf(strip->plan, strip->lane) > 1 ? strip : nullptr;
}

QString TimelineView::wordsAt(QPoint position) const {
    if (const Strip* fold = foldAt(position)) {
        const QString ranks = toQString(cli::groupedDigits(m_state.ranksOf(fold->plan, fold->lane)));
        if (m_state.unfoldingOf(fold->plan, fold->lane).kind == Unfolding::Kind::Folded)
            return tr("%1 ranks that do the same at the same time, drawn once. Click to see them one by one.")
                .arg(ranks);
        return tr("One of %1 ranks that do the same at the same time. Click to draw them once.").arg(ranks);
    }
    if (const auto id = pieceAt(position)) {
        const LaneSet& set = m_state.lanes(id->plan);
        const Lane& lane = set.lanes[id->lane];
        return rankName(set, lane.rankIndex, id->rank, m_state.ranksAt(*id)) + QStringLiteral(": ") +
               describePiece(set, lane, lane.pieces[id->piece]);
    }
    const Strip* strip = stripAt(position.y());
    if (strip == nullptr || position.y() >= plot().bottom()) return {};
    if (strip->kind == Strip::Kind::Header)
        return sharesFormula(m_state.plan(strip->plan), m_state.plans()[strip->plan].ofRun());
    if (strip->kind == Strip::Kind::Lane && position.x() > plot().right()) {
        const LaneSet& lanes = m_state.lanes(strip->plan);
        const Lane& lane = lanes.lanes[strip->lane];
        if (lane.kind != Lane::Kind::State) return {};
        const timeline::RankRow& rank = lanes.timeline->ranks[lane.rankIndex];
        const std::int64_t step = rank.stepEnd - rank.stepBegin;
        return tr("%1: compute / step = %2 / %3 = %4 %")
            .arg(rankName(lanes, lane.rankIndex, strip->rank, strip->ranks),
                 toQString(cli::durationText(std::llround(lane.work * static_cast<double>(step)))),
                 toQString(cli::durationText(step)))
            .arg(100 * lane.work, 0, 'f', 1);
    }
    if (strip->kind != Strip::Kind::Memory || !plot().contains(position)) return {};
    const LaneSet& set = m_state.lanes(strip->plan);
    const auto time = static_cast<std::int64_t>(m_state.toPlan(strip->plan, timeAt(position.x() + 0.5)));
    const auto found = set.memory.extremesIn(time, time + 1);
    if (!found || time < 0 || time >= m_state.plan(strip->plan).stepNs) return {};
    const std::size_t instant = found->largest;
    QString text = tr("%1 in use at %2")
                       .arg(toQString(cli::bytesText(set.memory.total[instant])), toQString(cli::durationText(time)));
    for (std::size_t c = 0; c < core::kMemoryCategories; ++c)
        if (const std::int64_t bytes = set.memory.bytes[instant][c]; bytes > 0)
            text += QStringLiteral("\n%1: %2")
                        .arg(toQString(pictureText().memoryCategories[c]), toQString(cli::bytesText(bytes)));
    if (set.capacity > 0)
        text += u'\n' + tr("%1 of %2 that a GPU can use")
                            .arg(QStringLiteral("%1 %").arg(100.0 * static_cast<double>(set.memory.total[instant]) /
                                                                static_cast<double>(set.capacity),
                                                            0, 'f', 1),
                                 toQString(cli::bytesText(set.capacity)));
    return text;
}

std::optional<QRect> TimelineView::rectOf(const PieceId& id) const {
    const auto piece = m_state.pieceOf(id);
    if (!piece) return std::nullopt;
    for (const Strip& strip : m_strips) {
        if (strip.kind != Strip::Kind::Lane || strip.plan != id.plan || strip.lane != id.lane || strip.rank != id.rank)
            continue;
        const double left = xOf(m_state.toAxis(id.plan, static_cast<double>(piece->begin)));
        const double right = xOf(m_state.toAxis(id.plan, static_cast<double>(piece->end)));
        const double bound = 2.0 * viewport()->width();
        const int x = static_cast<int>(std::clamp(left, -bound, bound));
        const int end = static_cast<int>(std::ceil(std::clamp(right, -bound, bound)));
        return QRect(x, strip.top - verticalScrollBar()->value(), std::max(2, end - x), strip.height);
    }
    return std::nullopt;
}

void TimelineView::ensureVisible(const PieceId& id) {
    const auto strip = std::ranges::find_if(m_strips, [&](const Strip& one) {
        return one.kind == Strip::Kind::Lane && one.plan == id.plan && one.lane == id.lane && one.rank == id.rank;
    });
    if (strip == m_strips.end()) return;
    const int height = plot().height(), bottom = strip->top + strip->height;
    int to = m_clicked ? verticalScrollBar()->value() : m_chosenScroll;
    if (strip->top < to || bottom > to + height) {
        if (m_clicked) {
            to = strip->top < to ? strip->top - 8 : bottom - height + 8;
        } else {
            // A page beside what was chosen, as ViewRange::reveal does: the way there does not count.
            const int page = std::max(1, height * 3 / 4);
            to += static_cast<int>(std::floor(static_cast<double>(strip->top - to) / page)) * page;
            if (bottom > to + height) to = std::min(strip->top, bottom - height / 2);
        }
    }
    m_revealing = !m_clicked;
    verticalScrollBar()->setValue(to);
    m_revealing = false;
}

void TimelineView::paintEvent(QPaintEvent* event) {
    if (!m_baseValid) renderBase();
    QPainter painter(viewport());
    const double ratio = m_base.devicePixelRatio();
    for (const QRect& part : event->region()) {
        const QRectF source(part.x() * ratio, part.y() * ratio, part.width() * ratio, part.height() * ratio);
        painter.drawImage(QRectF(part), m_base, source);
    }
    painter.setRenderHint(QPainter::Antialiasing);
    painter.setFont(font());
    if (m_state.answer()) {
        paintOverlay(painter);
        paintAxis(painter);
    }
}

void TimelineView::resizeEvent(QResizeEvent*) {
    layOut();
    forget();
}

void TimelineView::scrollContentsBy(int, int) {
    if (!m_revealing) m_chosenScroll = verticalScrollBar()->value();
    forget();
}

void TimelineView::changeEvent(QEvent* event) {
    if (event->type() == QEvent::FontChange || event->type() == QEvent::LanguageChange) {
        setAccessibleName(tr("Timeline"));
        m_texts.forget();
        measureLabels();
        layOut();
        forget();
    }
    QAbstractScrollArea::changeEvent(event);
}

void TimelineView::wheelEvent(QWheelEvent* event) {
    // Some desktops turn a wheel with Shift or Alt on its side.
    const bool sideways = event->angleDelta().y() == 0;
    const int notches = sideways ? event->angleDelta().x() : event->angleDelta().y();
    if (event->modifiers() & Qt::ControlModifier) {
        m_state.zoom(std::pow(kZoomStep, notches / 120.0), timeAt(event->position().x()));
    } else if ((event->modifiers() & Qt::ShiftModifier) || sideways) {
        m_state.pan(-kPanStep * notches / 120.0);
    } else {
        verticalScrollBar()->setValue(verticalScrollBar()->value() - notches / 2);
    }
    event->accept();
}

void TimelineView::keyPressEvent(QKeyEvent* event) {
    const TimeRange& range = m_state.view().range();
    const double middle = m_state.cursor().value_or((range.begin + range.end) / 2);
    const bool plain = (event->modifiers() & ~(Qt::ShiftModifier | Qt::KeypadModifier)) == Qt::NoModifier;
    if (!plain) {
        QAbstractScrollArea::keyPressEvent(event);
        return;
    }
    if (isKey(*event, KeyW, Qt::Key_W))
        m_state.zoom(kZoomStep, middle);
    else if (isKey(*event, KeyS, Qt::Key_S))
        m_state.zoom(1 / kZoomStep, middle);
    else if (isKey(*event, KeyA, Qt::Key_A))
        m_state.pan(-kPanStep);
    else if (isKey(*event, KeyD, Qt::Key_D))
        m_state.pan(kPanStep);
    else if (event->key() == Qt::Key_Right)
        m_state.step(1);
    else if (event->key() == Qt::Key_Left)
        m_state.step(-1);
    else if (event->key() == Qt::Key_Down)
        m_state.stepLane(1);
    else if (event->key() == Qt::Key_Up)
        m_state.stepLane(-1);
    else if (event->key() == Qt::Key_Escape) {
        m_state.setRange(std::nullopt);
        m_state.select(std::nullopt);
    } else {
        QAbstractScrollArea::keyPressEvent(event);
    }
}

void TimelineView::mousePressEvent(QMouseEvent* event) {
    if (event->button() != Qt::LeftButton || !m_state.answer()) return;
    setFocus(Qt::MouseFocusReason);
    m_dragFrom = event->pos();
    m_moved = false;
    m_drag = event->modifiers() & Qt::ShiftModifier ? Drag::Range : Drag::Pan;
    m_rangeFrom = timeAt(event->pos().x());
    if (m_drag == Drag::Pan) m_state.remember();
}

void TimelineView::mouseMoveEvent(QMouseEvent* event) {
    if (!m_state.answer()) return;
    if (plot().contains(event->pos())) m_state.setCursor(timeAt(event->pos().x()));
    viewport()->setCursor(foldAt(event->pos()) != nullptr ? Qt::PointingHandCursor : Qt::ArrowCursor);
    if (m_drag == Drag::None) return;
    const QPoint by = event->pos() - m_dragFrom;
    if (!m_moved && by.manhattanLength() < 4) return;
    m_moved = true;
    if (m_drag == Drag::Range) {
        const double to = timeAt(event->pos().x());
        m_state.setRange(TimeRange{std::min(m_rangeFrom, to), std::max(m_rangeFrom, to)});
        return;
    }
    m_state.pan(-static_cast<double>(by.x()) / plot().width());
    verticalScrollBar()->setValue(verticalScrollBar()->value() - by.y());
    m_dragFrom = event->pos();
}

void TimelineView::mouseReleaseEvent(QMouseEvent* event) {
    if (event->button() != Qt::LeftButton || m_drag == Drag::None) return;
    m_drag = Drag::None;
    if (m_moved) return;
    if (const Strip* fold = foldAt(event->pos())) {
        m_state.toggleFold(fold->plan, fold->lane);
        return;
    }
    m_clicked = true;
    m_state.select(pieceAt(event->pos()));
    m_clicked = false;
    m_chosenScroll = verticalScrollBar()->value();
}

void TimelineView::mouseDoubleClickEvent(QMouseEvent* event) {
    if (const auto piece = pieceAt(event->pos())) {
        m_state.select(piece);
        m_state.focusSelection();
    }
}

void TimelineView::leaveEvent(QEvent*) {
    m_state.setCursor(std::nullopt);
}

bool TimelineView::viewportEvent(QEvent* event) {
    if (event->type() == QEvent::ToolTip) {
        const auto* help = static_cast<QHelpEvent*>(event);
        const QString words = wordsAt(help->pos());
        if (words.isEmpty())
            QToolTip::hideText();
        else
            QToolTip::showText(help->globalPos(), words, viewport());
        return true;
    }
    return QAbstractScrollArea::viewportEvent(event);
}

}  // namespace shardscope::gui
