#include "traces/timeline/causes.h"

#include <algorithm>
#include <map>

namespace shardscope::timeline {

std::string_view nameOf(Cause cause) {
    static constexpr std::array<std::string_view, kCauses> kNames = {"all-gather",
                                                                     "reduce-scatter",
                                                                     "reduce-scatter back-pressure",
                                                                     "all-reduce",
                                                                     "collective",
                                                                     "upstream stage",
                                                                     "downstream stage",
                                                                     "peer late",
                                                                     "host launch",
                                                                     "host optimizer",
                                                                     "copy",
                                                                     "data loading",
                                                                     "synchronising call",
                                                                     "pipeline bubble",
                                                                     "unknown"};
    return kNames[static_cast<std::size_t>(cause)];
}

std::string describe(Cause cause, const std::string& unit) {
    std::string text(nameOf(cause));
    if (unit.empty()) return text;
    switch (cause) {
        case Cause::AllGather:
        case Cause::ReduceScatter:
        case Cause::ReduceBackPressure:
        case Cause::AllReduce:
        case Cause::OtherCollective: return text + " of " + unit;
        case Cause::PeerLate: return text + " for " + unit;
        default: return text;
    }
}

/// Pieces of one gap are found from its end backwards.
struct CauseFinder::Piece {
    std::int64_t begin, end;
    Cause cause;
    StringId unit = 0;
    std::uint32_t span = kNoIndex;
};

/// A stretch without compute; `next` is the compute span that ends it, kNoIndex at the end of the step.
struct CauseFinder::Gap {
    std::int64_t begin, end;
    std::uint32_t next;
};

namespace {

bool isTransfer(const Spans& spans, std::uint32_t i) {
    const SpanKind kind = static_cast<SpanKind>(spans.kind[i]);
    return kind == SpanKind::Collective || kind == SpanKind::PointToPoint;
}

Cause causeOfTransfer(Activity activity, core::Phase phase) {
    const bool isBackward =
        phase != core::Phase::Forward && phase != core::Phase::Loss && phase != core::Phase::Optimizer;
    switch (activity) {
        case Activity::AllGather: return Cause::AllGather;
        case Activity::ReduceScatter: return Cause::ReduceScatter;
        case Activity::AllReduce: return Cause::AllReduce;
        case Activity::Receive: return isBackward ? Cause::DownstreamStage : Cause::UpstreamStage;
        case Activity::Send: return isBackward ? Cause::UpstreamStage : Cause::DownstreamStage;
        default: return Cause::OtherCollective;
    }
}

Cause causeOfHost(Activity activity) {
    switch (activity) {
        case Activity::OptimizerStep: return Cause::HostOptimizer;
        case Activity::DataLoading: return Cause::DataLoading;
        case Activity::Synchronisation: return Cause::SynchronisingCall;
        default: return Cause::HostLaunch;
    }
}

}  // namespace

CauseFinder::CauseFinder(const Timeline& timeline) : m_timeline(timeline), m_lanes(spansOfLanes(timeline)) {
    m_flowBegin.assign(timeline.spans.size() + 1, 0);
    for (const Flow& flow : timeline.flows) ++m_flowBegin[flow.to + 1];
    for (std::size_t i = 1; i < m_flowBegin.size(); ++i) m_flowBegin[i] += m_flowBegin[i - 1];
    m_flows.resize(timeline.flows.size());
    std::vector<std::uint32_t> next(m_flowBegin.begin(), m_flowBegin.end() - 1);
    for (std::uint32_t f = 0; f < timeline.flows.size(); ++f) m_flows[next[timeline.flows[f].to]++] = f;
    for (const RankRow& rank : timeline.ranks) m_hasStages |= rank.stage != timeline.ranks.front().stage;
}

std::vector<CauseFinder::Gap> CauseFinder::gapsOf(std::uint32_t rankIndex, const std::vector<Segment>& segments) const {
    const RankRow& rank = m_timeline.ranks[rankIndex];
    std::vector<Gap> gaps;
    std::int64_t now = rank.stepBegin;
    for (const Segment& segment : segments) {
        if (segment.state != State::Compute) continue;
        if (segment.begin > now) gaps.push_back({now, segment.begin, segment.span});
        now = segment.end;
    }
    if (now < rank.stepEnd) gaps.push_back({now, rank.stepEnd, kNoIndex});
    return gaps;
}

/// What held back the start of `span` longest. Flows that hold back only the transfer, and those of other ranks, don't
/// count.
HeldBack CauseFinder::blockerOf(std::uint32_t span, std::int64_t before) const {
    const Spans& spans = m_timeline.spans;
    HeldBack blocker;
    const auto consider = [&](HeldBack::By by, std::int64_t end, std::uint32_t from, FlowReason reason) {
        end = std::min(end, before);
        if (end > blocker.end) blocker = {by, end, from, reason};
    };
    const std::uint32_t rank = m_timeline.lanes[spans.lane[span]].rankIndex;
    for (std::uint32_t f = m_flowBegin[span]; f < m_flowBegin[span + 1]; ++f) {
        const Flow& flow = m_timeline.flows[m_flows[f]];
        if (flow.reason == FlowReason::Communicator || m_timeline.lanes[spans.lane[flow.from]].rankIndex != rank)
            continue;
        // Launches; work of the host that makes something, an optimizer's, is a link like any other.
        const bool isHost =
            static_cast<SpanKind>(spans.kind[flow.from]) == SpanKind::Host && flow.reason == FlowReason::Launch;
        consider(isHost ? HeldBack::By::Host : HeldBack::By::Span, spans.end[flow.from], flow.from, flow.reason);
    }
    if (spans.issued[span] != kNotIssued)
        consider(HeldBack::By::Host, spans.issued[span], kNoIndex, FlowReason::Launch);
    const std::uint32_t lane = spans.lane[span];
    if (span > m_lanes[lane].begin)
        consider(HeldBack::By::Span, spans.end[span - 1], span - 1, FlowReason::StreamOrder);
    return blocker;
}

HeldBack CauseFinder::heldBack(std::uint32_t span) const {
    return blockerOf(span, m_timeline.spans.start[span]);
}

HeldBack CauseFinder::heldBackTransfer(std::uint32_t span) const {
    const Spans& spans = m_timeline.spans;
    HeldBack longest;
    if (!isTransfer(spans, span) || spans.transferStart[span] <= spans.start[span]) return longest;
    for (std::uint32_t f = m_flowBegin[span]; f < m_flowBegin[span + 1]; ++f) {
        const Flow& flow = m_timeline.flows[m_flows[f]];
        const bool isPeer = flow.reason == FlowReason::Peer;
        if (!isPeer && flow.reason != FlowReason::Communicator) continue;
        const std::int64_t until = isPeer ? spans.start[flow.from] : spans.end[flow.from];
        if (until > spans.start[span] && until <= spans.transferStart[span] && until > longest.end)
            longest = {HeldBack::By::Span, until, flow.from, flow.reason};
    }
    return longest;
}

CauseFinder::Piece CauseFinder::transferPiece(std::uint32_t span, std::int64_t begin, std::int64_t end,
                                              bool isBackPressure) const {
    const Spans& spans = m_timeline.spans;
    Cause cause =
        causeOfTransfer(static_cast<Activity>(spans.activity[span]), static_cast<core::Phase>(spans.phase[span]));
    if (static_cast<SpanKind>(spans.kind[span]) == SpanKind::PointToPoint) {
        const std::int64_t stage = m_timeline.ranks[m_timeline.lanes[spans.lane[span]].rankIndex].stage;
        for (std::uint32_t f = m_flowBegin[span]; f < m_flowBegin[span + 1]; ++f) {
            const Flow& flow = m_timeline.flows[m_flows[f]];
            if (flow.reason != FlowReason::Peer) continue;
            const std::int64_t other = m_timeline.ranks[m_timeline.lanes[spans.lane[flow.from]].rankIndex].stage;
            if (other != stage) cause = other < stage ? Cause::UpstreamStage : Cause::DownstreamStage;
        }
    }
    if (cause == Cause::ReduceScatter && isBackPressure) cause = Cause::ReduceBackPressure;
    return {begin, end, cause, spans.unit[span], span};
}

/// [begin, end) by what the host did; `otherwise` where it did nothing that the timeline shows.
void CauseFinder::blameHost(std::int64_t begin, std::int64_t end, std::uint32_t rankIndex, Cause otherwise,
                            std::vector<Piece>& pieces) const {
    const Spans& spans = m_timeline.spans;
    const RankRow& rank = m_timeline.ranks[rankIndex];
    std::int64_t now = end;
    for (std::uint32_t lane = rank.laneBegin; lane < rank.laneEnd; ++lane) {
        const SpanRange range = m_lanes[lane];
        if (range.begin == range.end || static_cast<SpanKind>(spans.kind[range.begin]) != SpanKind::Host) continue;
        const auto first = spans.start.begin() + range.begin, last = spans.start.begin() + range.end;
        std::uint32_t i = static_cast<std::uint32_t>(std::lower_bound(first, last, end) - spans.start.begin());
        while (i > range.begin && now > begin && spans.end[i - 1] > begin) {
            --i;
            const std::int64_t from = std::max(spans.start[i], begin), to = std::min(spans.end[i], now);
            if (from >= to) continue;
            if (to < now) pieces.push_back({to, now, otherwise});
            pieces.push_back({from, to, causeOfHost(static_cast<Activity>(spans.activity[i])), spans.unit[i], i});
            now = from;
        }
        break;  // one host stream a rank
    }
    if (now > begin) pieces.push_back({begin, now, otherwise});
}

/// Covers [begin, end), the time up to which `blocker` held something back, from its end to its beginning.
void CauseFinder::blameChain(HeldBack blocker, std::int64_t begin, std::int64_t end, std::uint32_t rankIndex,
                             std::vector<Piece>& pieces) const {
    const Spans& spans = m_timeline.spans;
    std::int64_t now = end;
    const auto blame = [&](std::int64_t from, const Piece& piece) {
        from = std::max(from, begin);
        if (from >= now) return;
        pieces.push_back(piece);
        pieces.back().begin = from;
        pieces.back().end = now;
        now = from;
    };
    const Piece unknown = {0, 0, Cause::Unknown};
    // Spans without length could keep a damaged trace's chain at one instant for ever.
    std::size_t linksAtThisInstant = 0;
    while (now > begin) {
        if (blocker.by == HeldBack::By::Nothing || linksAtThisInstant > spans.size()) {
            blame(begin, unknown);
            return;
        }
        const std::int64_t before = now;
        blame(blocker.end, unknown);
        if (now <= begin) return;
        if (blocker.by == HeldBack::By::Host) {
            blameHost(begin, now, rankIndex, Cause::HostLaunch, pieces);
            return;
        }
        const std::uint32_t link = blocker.span;
        if (isTransfer(spans, link)) {
            const bool isCollective = static_cast<SpanKind>(spans.kind[link]) == SpanKind::Collective;
            const Piece own = transferPiece(link, 0, 0, blocker.reason == FlowReason::MemoryLimit);
            const Piece late = isCollective ? Piece{0, 0, Cause::PeerLate, spans.unit[link], link} : own;
            blame(spans.transferStart[link], own);
            // The one before it on its communicator, if that ended after this one had arrived.
            HeldBack queue;
            for (std::uint32_t f = m_flowBegin[link]; f < m_flowBegin[link + 1]; ++f) {
                const Flow& flow = m_timeline.flows[m_flows[f]];
                if (flow.reason != FlowReason::Communicator || spans.end[flow.from] <= spans.start[link]) continue;
                if (spans.end[flow.from] > queue.end)
                    queue = {HeldBack::By::Span, spans.end[flow.from], flow.from, flow.reason};
            }
            if (queue.by == HeldBack::By::Span && queue.end <= spans.transferStart[link]) {
                blame(queue.end, late);
                blocker = queue;
            } else {
                blame(spans.start[link], late);
                blocker = blockerOf(link, now);
            }
        } else {
            const bool isCompute = m_timeline.lanes[spans.lane[link]].computeStream;
            const bool isHost = static_cast<SpanKind>(spans.kind[link]) == SpanKind::Host;
            const Cause cause = isHost ? causeOfHost(static_cast<Activity>(spans.activity[link])) : Cause::Copy;
            blame(spans.start[link], isCompute ? unknown : Piece{0, 0, cause, spans.unit[link], link});
            blocker = blockerOf(link, now);
        }
        linksAtThisInstant = now < before ? 0 : linksAtThisInstant + 1;
    }
}

void CauseFinder::blameGap(const Gap& gap, std::uint32_t rankIndex, std::vector<Piece>& pieces) const {
    const Spans& spans = m_timeline.spans;
    const RankRow& rank = m_timeline.ranks[rankIndex];
    if (gap.next != kNoIndex) {
        blameChain(blockerOf(gap.next, gap.end), gap.begin, gap.end, rankIndex, pieces);
        return;
    }
    std::uint32_t last = kNoIndex;
    for (std::uint32_t lane = rank.laneBegin; lane < rank.laneEnd; ++lane) {
        for (std::uint32_t i = m_lanes[lane].begin; i < m_lanes[lane].end; ++i) {
            if (static_cast<SpanKind>(spans.kind[i]) == SpanKind::Host || spans.end[i] <= gap.begin) continue;
            if (spans.start[i] < gap.end && (last == kNoIndex || spans.end[i] > spans.end[last])) last = i;
        }
    }
    const std::int64_t lastEnd = last == kNoIndex ? gap.begin : std::min(spans.end[last], gap.end);
    if (lastEnd < gap.end) {
        blameHost(lastEnd, gap.end, rankIndex, m_hasStages ? Cause::PipelineBubble : Cause::PeerLate, pieces);
    }
    if (last != kNoIndex) {
        blameChain({HeldBack::By::Span, lastEnd, last}, gap.begin, lastEnd, rankIndex, pieces);
    }
}

std::vector<CausedInterval> CauseFinder::intervalsOf(std::uint32_t rankIndex) const {
    return intervalsOf(rankIndex, segmentsOf(m_timeline, rankIndex, m_lanes));
}

std::vector<CausedInterval> CauseFinder::intervalsOf(std::uint32_t rankIndex,
                                                     const std::vector<Segment>& segments) const {
    std::vector<CausedInterval> intervals;
    std::size_t s = 0;
    std::vector<Piece> pieces;
    const auto add = [&](const CausedInterval& piece) {
        if (!intervals.empty()) {
            CausedInterval& last = intervals.back();
            if (last.end == piece.begin && last.cause == piece.cause && last.state == piece.state &&
                last.unit == piece.unit && last.span == piece.span) {
                last.end = piece.end;
                return;
            }
        }
        intervals.push_back(piece);
    };
    for (const Gap& gap : gapsOf(rankIndex, segments)) {
        pieces.clear();
        blameGap(gap, rankIndex, pieces);
        for (auto piece = pieces.rbegin(); piece != pieces.rend(); ++piece) {
            for (std::int64_t now = piece->begin; now < piece->end;) {
                while (segments[s].end <= now) ++s;
                CausedInterval interval{now,          std::min(piece->end, segments[s].end),
                                        piece->cause, segments[s].state,
                                        piece->unit,  piece->span};
                const std::uint32_t running = segments[s].span;
                if (interval.cause == Cause::Unknown && m_timeline.flows.empty() && running != kNoIndex) {
                    interval.span = running;
                    interval.unit = m_timeline.spans.unit[running];
                    interval.cause =
                        isTransfer(m_timeline.spans, running) ? transferPiece(running, 0, 0, false).cause : Cause::Copy;
                }
                add(interval);
                now = interval.end;
            }
        }
    }
    return intervals;
}

namespace {

std::vector<CauseTotal> largestFirst(const std::map<std::pair<Cause, StringId>, CauseTotal>& totals) {
    std::vector<CauseTotal> sorted;
    for (const auto& [key, total] : totals) sorted.push_back(total);
    std::stable_sort(sorted.begin(), sorted.end(),
                     [](const CauseTotal& a, const CauseTotal& b) { return a.time > b.time; });
    return sorted;
}

}  // namespace

std::vector<CauseTotal> CauseFinder::totalsOf(std::uint32_t rankIndex) const {
    std::map<std::pair<Cause, StringId>, CauseTotal> totals;
    for (const CausedInterval& interval : intervalsOf(rankIndex)) {
        CauseTotal& total = totals[{interval.cause, interval.unit}];
        total.cause = interval.cause;
        total.unit = interval.unit;
        total.time += interval.end - interval.begin;
        total.byState[static_cast<std::size_t>(interval.state)] += interval.end - interval.begin;
    }
    return largestFirst(totals);
}

std::vector<CauseTotal> sumOver(const Timeline& timeline, const std::vector<std::vector<CauseTotal>>& ranks) {
    std::map<std::pair<Cause, StringId>, CauseTotal> totals;
    for (std::size_t r = 0; r < ranks.size(); ++r) {
        const std::int64_t n = timeline.ranks[r].multiplicity;
        for (const CauseTotal& own : ranks[r]) {
            CauseTotal& total = totals[{own.cause, own.unit}];
            total.cause = own.cause;
            total.unit = own.unit;
            total.time += n * own.time;
            for (std::size_t s = 0; s < kStates; ++s) total.byState[s] += n * own.byState[s];
        }
    }
    return largestFirst(totals);
}

}  // namespace shardscope::timeline
