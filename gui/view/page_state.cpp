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
    const std::vector<ShownPlan> before = std::move(m_plans);
    const auto unfoldings = std::move(m_unfoldings);
    m_plans = pageOrder(m_kept, m_answer);
    m_distinctions = distinctionsOf(m_plans);
    std::int64_t end = 1;
    for (const ShownPlan& plan : m_plans) end = std::max(end, plan.plan().stepNs);
    m_view.setEnd(static_cast<double>(end));
    // The same plan, wherever it was; what was selected in it may not exist any more.
    m_unfoldings.assign(m_plans.size(), {});
    std::optional<PieceId> selection;
    for (std::size_t p = 0; p < m_plans.size(); ++p) {
        const auto again = std::ranges::find_if(before, [&](const ShownPlan& plan) {
            return plan.kept == m_plans[p].kept &&
                   (plan.kept ? plan == m_plans[p] : plan.plan().name == m_plans[p].plan().name);
        });
        if (again == before.end()) continue;
        const auto place = static_cast<std::size_t>(again - before.begin());
        m_unfoldings[p] = unfoldings[place];
        if (!m_selection || m_selection->plan != place) continue;
        selection = m_selection;
        selection->plan = p;
    }
    m_selection = selection && pieceOf(*selection) ? selection : std::nullopt;
    collectRows();
    m_highlight.clear();
    m_highlightOf.clear();
    m_playHead = std::min(m_playHead, m_view.end());
    emit answerChanged();
    emit viewChanged();
    emit highlightChanged();
    emit selectionChanged();
}

std::size_t PageState::placeOfKept(std::size_t kept) const {
    return static_cast<std::size_t>(std::ranges::find(m_plans, m_kept[kept]) - m_plans.begin());
}

std::size_t PageState::lastPresent() const {
    std::size_t last = 0;
    for (std::size_t p = 0; p < m_plans.size(); ++p)
        if (!m_plans[p].kept && (m_plans[last].kept || m_plans[p].index > m_plans[last].index)) last = p;
    return last;
}

void PageState::setAlignment(Alignment alignment) {
    if (m_alignment == alignment) return;
    m_alignment = alignment;
    emit viewChanged();
    emit alignmentChanged();
}

void PageState::setStreamsShown(bool shown) {
    if (m_streams == shown) return;
    m_streams = shown;
    collectRows();
    emit viewChanged();
}

std::int64_t PageState::ranksOf(std::size_t plan, std::size_t lane) const {
    return lanes(plan).timeline->ranks[lanes(plan).lanes[lane].rankIndex].multiplicity;
}

std::int64_t PageState::ranksAt(const PieceId& piece) const {
    for (const ShownRow& row : m_rows)
        if (row.plan == piece.plan && row.lane == piece.lane && row.rank == piece.rank) return row.ranks;
    return ranksOf(piece.plan, piece.lane);
}

Unfolding PageState::unfoldingOf(std::size_t plan, std::size_t lane) const {
    const auto found = m_unfoldings[plan].find(lanes(plan).lanes[lane].rankIndex);
    return found != m_unfoldings[plan].end() ? found->second : Unfolding{};
}

void PageState::unfold(std::size_t plan, std::size_t lane, Unfolding how) {
    how.rank = how.kind == Unfolding::Kind::Single ? std::clamp<std::int64_t>(how.rank, 0, ranksOf(plan, lane) - 1) : 0;
    m_unfoldings[plan][lanes(plan).lanes[lane].rankIndex] = how;
    collectRows();
    emit viewChanged();
    emit selectionChanged();
}

void PageState::toggleFold(std::size_t plan, std::size_t lane) {
    const bool folded = unfoldingOf(plan, lane).kind == Unfolding::Kind::Folded;
    unfold(plan, lane, {folded ? Unfolding::Kind::Unfolded : Unfolding::Kind::Folded});
}

void PageState::toggleFolds() {
    if (m_selection) {
        toggleFold(m_selection->plan, m_selection->lane);
        return;
    }
    const auto isFolded = [&](const ShownRow& row) {
        return ranksOf(row.plan, row.lane) > 1 && unfoldingOf(row.plan, row.lane).kind == Unfolding::Kind::Folded;
    };
    const auto kind = std::ranges::any_of(m_rows, isFolded) ? Unfolding::Kind::Unfolded : Unfolding::Kind::Folded;
    for (std::size_t p = 0; p < m_plans.size(); ++p)
        for (const Lane& lane : lanes(p).lanes) m_unfoldings[p][lane.rankIndex] = {kind};
    collectRows();
    emit viewChanged();
}

void PageState::collectRows() {
    m_rows.clear();
    for (std::size_t p = 0; p < m_plans.size(); ++p) {
        const std::vector<Lane>& all = lanes(p).lanes;
        for (std::size_t begin = 0, end = 0; begin < all.size(); begin = end) {
            while (end < all.size() && all[end].rankIndex == all[begin].rankIndex) ++end;
            const auto add = [&](std::int64_t rank, std::int64_t ranks) {
                for (std::size_t l = begin; l < end; ++l)
                    if (ranks > 0 && isShown(all[l])) m_rows.push_back({p, l, rank, ranks});
            };
            const std::int64_t ranks = ranksOf(p, begin);
            const Unfolding how = ranks > 1 ? unfoldingOf(p, begin) : Unfolding{};
            if (how.kind == Unfolding::Kind::Folded) add(0, ranks);
            if (how.kind == Unfolding::Kind::Single) {
                // Of a class that has shrunk meanwhile: its last.
                const std::int64_t rank = std::min(how.rank, ranks - 1);
                add(rank, 1);
                add(rank == 0 ? 1 : 0, ranks - 1);
            }
            if (how.kind == Unfolding::Kind::Unfolded) {
                for (std::int64_t rank = 0; rank < std::min(ranks, kMostUnfolded); ++rank) add(rank, 1);
                add(kMostUnfolded, ranks - kMostUnfolded);
            }
        }
    }
    if (m_selection) m_selection = onRow(*m_selection);
    findTwins();
    emit rowsChanged();
}

PieceId PageState::onRow(PieceId piece) const {
    const ShownRow* best = nullptr;
    for (const ShownRow& row : m_rows) {
        if (row.plan != piece.plan || row.lane != piece.lane) continue;
        if (row.rank == piece.rank) return piece;
        if (best == nullptr) best = &row;
    }
    piece.rank = best != nullptr ? best->rank : 0;
    return piece;
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
    setHighlight({});
    emit rangeChanged();
}

void PageState::select(std::optional<PieceId> piece, bool reveal) {
    if (piece && !pieceOf(*piece)) piece.reset();
    if (piece) piece = onRow(*piece);
    if (piece && !std::ranges::binary_search(highlightOf(piece->plan, piece->lane), piece->piece)) setHighlight({});
    m_selection = piece;
    if (piece) {
        const formats::RowPiece shown = *pieceOf(*piece);
        const double begin = toAxis(piece->plan, static_cast<double>(shown.begin));
        const double end = toAxis(piece->plan, static_cast<double>(shown.end));
        const TimeRange before = m_view.range();
        if (reveal)
            m_view.reveal(begin, end);
        else
            m_view.keep(begin, end);
        if (m_view.range() != before) emit viewChanged();
        setPlayHead(begin);
    }
    findTwins();
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
    select(PieceId{m_selection->plan, m_selection->lane, static_cast<std::size_t>(next), m_selection->rank}, true);
}

void PageState::stepLane(int by) {
    if (!m_answer || !m_selection) {
        step(0);
        return;
    }
    const PieceId at = *m_selection;
    const double instant = toAxis(at.plan, static_cast<double>(pieceOf(at)->begin));
    auto here = std::ranges::find_if(
        m_rows, [&](const ShownRow& row) { return row.plan == at.plan && row.lane == at.lane && row.rank == at.rank; });
    // A stream that is hidden now: from its rank.
    if (here == m_rows.end())
        here = std::ranges::find_if(m_rows, [&](const ShownRow& row) {
            return row.plan == at.plan &&
                   lanes(row.plan).lanes[row.lane].rankIndex == lanes(at.plan).lanes[at.lane].rankIndex;
        });
    for (std::ptrdiff_t row = here - m_rows.begin() + by; row >= 0 && row < std::ssize(m_rows); row += by) {
        const ShownRow& shown = m_rows[static_cast<std::size_t>(row)];
        const Lane& lane = lanes(shown.plan).lanes[shown.lane];
        if (lane.pieces.empty()) continue;
        const std::size_t after = lane.pieces.firstEndingAfter(std::floor(toPlan(shown.plan, instant)));
        select(PieceId{shown.plan, shown.lane, std::min(after, lane.pieces.size() - 1), shown.rank}, true);
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
    return findSpan(plan, span, m_selection ? m_selection->rank : 0);
}

std::optional<PieceId> PageState::findSpan(std::size_t plan, std::uint32_t span, std::int64_t rank) const {
    if (plan >= m_plans.size()) return std::nullopt;
    std::optional<PieceId> found;
    const timeline::Timeline& t = *lanes(plan).timeline;
    if (span >= t.spans.size()) return std::nullopt;
    const std::uint32_t rankIndex = t.lanes[t.spans.lane[span]].rankIndex;
    const auto& all = lanes(plan).lanes;
    for (std::size_t l = 0; l < all.size(); ++l) {
        if (all[l].rankIndex != rankIndex) continue;
        // Whatever else ran meanwhile, the last instant of a span that is drawn is its own.
        const Pieces& pieces = all[l].pieces;
        const auto p = pieces.at(t.spans.end[span] - 1);
        if (!p || pieces.spanOf(*p) != span) continue;
        // A gap names the span to blame; the span itself is work, or lies on a stream's lane.
        if (all[l].kind == Lane::Kind::Stream && isShown(all[l])) return onRow({plan, l, *p, rank});
        if (!found && !isGap(pieces.lookOf(*p))) found = onRow({plan, l, *p, rank});
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
