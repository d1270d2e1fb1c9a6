// From one piece to another: through what is highlighted, and along what waits for what.

#include <algorithm>
#include <tuple>

#include "gui/view/page_state.h"

namespace shardscope::gui {

void PageState::setHighlight(std::vector<PieceId> pieces) {
    if (pieces.empty() && m_highlight.empty()) return;
    m_highlight = std::move(pieces);
    const auto beginOf = [&](const PieceId& id) { return lanes(id.plan).lanes[id.lane].pieces.beginOf(id.piece); };
    std::ranges::sort(m_highlight, {},
                      [&](const PieceId& id) { return std::tuple(id.plan, beginOf(id), id.lane, id.piece); });
    m_highlightOf.clear();
    for (const PieceId& id : m_highlight) m_highlightOf[{id.plan, id.lane}].push_back(id.piece);
    emit highlightChanged();
}

std::span<const std::size_t> PageState::highlightOf(std::size_t plan, std::size_t lane) const {
    const auto found = m_highlightOf.find({plan, lane});
    return found != m_highlightOf.end() ? std::span<const std::size_t>(found->second) : std::span<const std::size_t>();
}

void PageState::jump(int by) {
    if (m_highlight.empty()) return;
    const auto count = std::ssize(m_highlight);
    std::ptrdiff_t next = by > 0 ? 0 : count - 1;
    if (m_selection) {
        const auto at = std::ranges::find_if(m_highlight, [&](const PieceId& id) {
            return id.plan == m_selection->plan && id.lane == m_selection->lane && id.piece == m_selection->piece;
        });
        if (at != m_highlight.end()) next = (at - m_highlight.begin() + by + count) % count;
    }
    select(m_highlight[static_cast<std::size_t>(next)], true);
}

void PageState::follow(int by) {
    if (!m_selection) return;
    const PieceId from = *m_selection;
    const formats::RowPiece piece = *pieceOf(from);
    if (piece.span == timeline::kNoIndex) return;
    const LaneSet& set = lanes(from.plan);
    const bool isCause = isGap(piece.look) && set.lanes[from.lane].kind == Lane::Kind::State;
    std::optional<PieceId> found;
    if (isCause && by < 0) {
        found = findSpan(from.plan, piece.span);
    } else {
        const timeline::Spans& spans = set.timeline->spans;
        std::optional<std::int64_t> best;
        for (const timeline::Flow& flow : set.timeline->flows) {
            if ((by < 0 ? flow.to : flow.from) != piece.span) continue;
            const std::uint32_t other = by < 0 ? flow.from : flow.to;
            const std::int64_t instant = by < 0 ? spans.end[other] : -spans.start[other];
            if (best && instant <= *best) continue;
            const auto shown = findSpan(from.plan, other);
            if (!shown) continue;
            best = instant;
            found = shown;
        }
    }
    // Without a link of its own it follows the one before it on its stream.
    if (!found && !isCause) {
        const auto& lane = set.timeline->spans.lane;
        const std::uint32_t other = piece.span + static_cast<std::uint32_t>(by);
        if (other < lane.size() && lane[other] == lane[piece.span]) found = findSpan(from.plan, other);
    }
    if (found) select(found, true);
}

std::optional<std::uint32_t> PageState::sameOp(const PieceId& of, std::size_t plan) const {
    const cli::PlanReport &own = this->plan(of.plan), &other = this->plan(plan);
    const auto piece = pieceOf(of);
    if (plan == of.plan || !own.graph || own.graph != other.graph || !piece || piece->span == timeline::kNoIndex)
        return std::nullopt;
    // A gap names another op, the one to blame for it.
    const Lane& lane = lanes(of.plan).lanes[of.lane];
    const std::uint32_t op = own.timeline.spans.op[piece->span];
    if ((lane.kind == Lane::Kind::State && isGap(piece->look)) || op == timeline::kNoIndex) return std::nullopt;
    const std::int64_t rank = own.timeline.ranks[lane.rankIndex].rank + of.rank;
    const timeline::Timeline& t = other.timeline;
    for (std::uint32_t span = 0; span < t.spans.size(); ++span) {
        if (t.spans.op[span] != op) continue;
        const timeline::RankRow& row = t.ranks[t.lanes[t.spans.lane[span]].rankIndex];
        if (rank >= row.rank && rank < row.rank + row.multiplicity) return span;
    }
    return std::nullopt;
}

void PageState::findTwins() {
    m_twins.clear();
    if (!m_selection) return;
    const timeline::RankRow& own =
        lanes(m_selection->plan).timeline->ranks[lanes(m_selection->plan).lanes[m_selection->lane].rankIndex];
    for (std::size_t p = 0; p < m_plans.size(); ++p) {
        const auto span = sameOp(*m_selection, p);
        if (!span) continue;
        const timeline::Timeline& t = *lanes(p).timeline;
        const timeline::RankRow& row = t.ranks[t.lanes[t.spans.lane[*span]].rankIndex];
        if (const auto twin = findSpan(p, *span, own.rank + m_selection->rank - row.rank)) m_twins.push_back(*twin);
    }
}

}  // namespace shardscope::gui
