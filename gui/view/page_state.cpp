#include "gui/view/page_state.h"

#include <algorithm>
#include <cmath>

namespace shardscope::gui {

PageState::PageState(QObject* parent) : QObject(parent) {}

void PageState::setAnswer(std::shared_ptr<const Answer> answer) {
    m_answer = std::move(answer);
    collectPlans();
}

void PageState::setKept(std::vector<ShownPlan> kept) {
    if (kept == m_kept) return;
    m_kept = std::move(kept);
    for (ShownPlan& plan : m_kept) plan.kept = true;
    collectPlans();
}

void PageState::collectPlans() {
    std::optional<ShownPlan> selected;
    if (m_selection) selected = m_plans[m_selection->plan];
    m_plans = m_kept;
    if (m_answer)
        for (std::size_t p = 0; p < m_answer->plans(); ++p) m_plans.push_back({m_answer, p, false});
    m_distinctions = distinctionsOf(m_plans);
    std::int64_t end = 1;
    for (const ShownPlan& plan : m_plans) end = std::max(end, plan.plan().stepNs);
    m_view.setEnd(static_cast<double>(end));
    if (selected) {
        // The same plan, wherever it is now; what was selected in it may not exist any more.
        const auto again = std::ranges::find_if(m_plans, [&](const ShownPlan& plan) {
            return plan.kept == selected->kept &&
                   (plan.kept ? plan == *selected : plan.plan().name == selected->plan().name);
        });
        m_selection->plan = static_cast<std::size_t>(again - m_plans.begin());
        if (!pieceOf(*m_selection)) m_selection.reset();
    }
    m_playHead = std::min(m_playHead, m_view.end());
    emit answerChanged();
    emit viewChanged();
    emit selectionChanged();
}

void PageState::setAlignment(Alignment alignment) {
    if (m_alignment == alignment) return;
    m_alignment = alignment;
    emit viewChanged();
}

void PageState::setStreamsShown(bool shown) {
    if (m_streams == shown) return;
    m_streams = shown;
    emit viewChanged();
}

void PageState::zoom(double factor, double at) {
    m_view.zoom(factor, at);
    emit viewChanged();
}

void PageState::pan(double share) {
    m_view.pan(share);
    emit viewChanged();
}

void PageState::show(TimeRange range) {
    m_view.remember();
    m_view.show(range);
    m_view.remember();
    emit viewChanged();
}

void PageState::fit() {
    m_view.remember();
    m_view.fit();
    m_view.remember();
    emit viewChanged();
}

void PageState::back() {
    if (m_view.back()) emit viewChanged();
}

void PageState::forward() {
    if (m_view.forward()) emit viewChanged();
}

void PageState::setCursor(std::optional<double> axisTime) {
    if (m_cursor == axisTime) return;
    m_cursor = axisTime;
    emit cursorChanged();
}

void PageState::setPlayHead(double axisTime) {
    m_playHead = std::clamp(axisTime, 0.0, m_view.end());
    emit cursorChanged();
}

void PageState::setRange(std::optional<TimeRange> range) {
    m_range = range;
    emit rangeChanged();
}

void PageState::select(std::optional<PieceId> piece, bool reveal) {
    if (piece && !pieceOf(*piece)) piece.reset();
    m_selection = piece;
    if (piece && reveal) {
        const formats::RowPiece shown = *pieceOf(*piece);
        m_view.reveal(toAxis(piece->plan, static_cast<double>(shown.begin)),
                      toAxis(piece->plan, static_cast<double>(shown.end)));
        emit viewChanged();
    }
    if (piece) setPlayHead(toAxis(piece->plan, static_cast<double>(pieceOf(*piece)->begin)));
    emit selectionChanged();
}

void PageState::step(int by) {
    if (m_plans.empty()) return;
    if (!m_selection) {
        const Lane& lane = lanes(0).lanes[0];
        const std::size_t first = lane.pieces.firstEndingAfter(toPlan(0, m_view.range().begin));
        if (first < lane.pieces.size()) select(PieceId{0, 0, first}, true);
        return;
    }
    const auto& pieces = lanes(m_selection->plan).lanes[m_selection->lane].pieces;
    const auto next = static_cast<std::int64_t>(m_selection->piece) + by;
    if (next < 0 || next >= static_cast<std::int64_t>(pieces.size())) return;
    select(PieceId{m_selection->plan, m_selection->lane, static_cast<std::size_t>(next)}, true);
}

void PageState::stepLane(int by) {
    if (!m_answer || !m_selection) {
        step(0);
        return;
    }
    PieceId at = *m_selection;
    const double instant = toAxis(at.plan, static_cast<double>(pieceOf(at)->begin));
    for (;;) {
        if (by > 0) {
            if (++at.lane >= lanes(at.plan).lanes.size()) {
                if (++at.plan >= m_plans.size()) return;
                at.lane = 0;
            }
        } else if (at.lane-- == 0) {
            if (at.plan-- == 0) return;
            at.lane = lanes(at.plan).lanes.size() - 1;
        }
        const Lane& lane = lanes(at.plan).lanes[at.lane];
        if (!isShown(lane) || lane.pieces.empty()) continue;
        at.piece = std::min(lane.pieces.firstEndingAfter(std::floor(toPlan(at.plan, instant))), lane.pieces.size() - 1);
        select(at, true);
        return;
    }
}

void PageState::focusSelection() {
    if (m_range) {
        show(*m_range);
        return;
    }
    if (!m_selection) {
        fit();
        return;
    }
    const formats::RowPiece piece = *pieceOf(*m_selection);
    const double begin = toAxis(m_selection->plan, static_cast<double>(piece.begin));
    const double end = toAxis(m_selection->plan, static_cast<double>(piece.end));
    const double margin = 0.25 * (end - begin);
    show({begin - margin, end + margin});
}

std::optional<formats::RowPiece> PageState::pieceOf(const PieceId& id) const {
    if (id.plan >= m_plans.size() || id.lane >= lanes(id.plan).lanes.size()) return std::nullopt;
    const auto& pieces = lanes(id.plan).lanes[id.lane].pieces;
    return id.piece < pieces.size() ? std::optional(pieces[id.piece]) : std::nullopt;
}

std::optional<PieceId> PageState::findSpan(std::size_t plan, std::uint32_t span) const {
    if (plan >= m_plans.size()) return std::nullopt;
    std::optional<PieceId> found;
    const timeline::Timeline& t = *lanes(plan).timeline;
    const std::uint32_t rank = t.lanes[t.spans.lane[span]].rankIndex;
    const auto& all = lanes(plan).lanes;
    for (std::size_t l = 0; l < all.size(); ++l) {
        if (all[l].rankIndex != rank) continue;
        // Whatever else ran meanwhile, the last instant of a span that is drawn is its own.
        const Pieces& pieces = all[l].pieces;
        const auto p = pieces.at(t.spans.end[span] - 1);
        if (!p || pieces.spanOf(*p) != span) continue;
        // A gap names the span to blame; the span itself is work, or lies on a stream's lane.
        if (all[l].kind == Lane::Kind::Stream && isShown(all[l])) return PieceId{plan, l, *p};
        if (!found && !isGap(pieces.lookOf(*p))) found = PieceId{plan, l, *p};
    }
    return found;
}

QString PageState::titleOf(std::size_t plan) const {
    return gui::titleOf(this->plan(plan), m_distinctions[plan]);
}

double PageState::toAxis(std::size_t plan, double time) const {
    const double end = static_cast<double>(this->plan(plan).stepNs);
    return gui::toAxis(m_alignment, time, end, m_view.end());
}

double PageState::toPlan(std::size_t plan, double axisTime) const {
    const double end = static_cast<double>(this->plan(plan).stepNs);
    return gui::toPlan(m_alignment, axisTime, end, m_view.end());
}

}  // namespace shardscope::gui
