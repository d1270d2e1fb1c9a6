#include "cli/face/why_idle.h"

#include <algorithm>
#include <map>
#include <optional>
#include <tuple>

namespace shardscope::cli {
namespace {

using timeline::Cause;
using timeline::CausedInterval;
using timeline::CauseTotal;
using timeline::HeldBack;
using timeline::kNoIndex;
using timeline::Segment;
using timeline::State;
using timeline::Timeline;

constexpr std::size_t kMostSteps = 64;

std::vector<CauseTotal> largestFirst(std::vector<CauseTotal> totals) {
    std::stable_sort(totals.begin(), totals.end(),
                     [](const CauseTotal& a, const CauseTotal& b) { return a.time > b.time; });
    return totals;
}

void addTo(std::vector<CauseTotal>& totals, Cause cause, timeline::StringId unit, State state, std::int64_t time) {
    auto found = std::find_if(totals.begin(), totals.end(),
                              [&](const CauseTotal& t) { return t.cause == cause && t.unit == unit; });
    if (found == totals.end()) found = totals.insert(totals.end(), {cause, unit, 0, {}});
    found->time += time;
    found->byState[static_cast<std::size_t>(state)] += time;
}

/// What held `span` back, and so on, as far as the stretch that began at `begin` goes and `most` links at the most.
/// Ops that take no time are passed over.
std::vector<WaitLink> chainFrom(const timeline::CauseFinder& finder, const Timeline& timeline, std::uint32_t span,
                                std::int64_t begin, std::size_t most) {
    const timeline::Spans& spans = timeline.spans;
    std::vector<WaitLink> chain;
    std::optional<timeline::FlowReason> passedOver;
    // Spans without length could keep a damaged trace's chain at one instant for ever.
    for (std::size_t steps = 0; chain.size() < most && steps < kMostSteps; ++steps) {
        HeldBack held = finder.heldBackTransfer(span);
        if (held.by == HeldBack::By::Nothing) held = finder.heldBack(span);
        if (held.by == HeldBack::By::Nothing || held.end <= begin) break;
        const timeline::FlowReason reason = passedOver.value_or(held.reason);
        if (held.by == HeldBack::By::Host) {
            chain.push_back({kNoIndex, reason, held.end});
            break;
        }
        span = held.span;
        if (spans.start[span] == spans.end[span]) {
            passedOver = reason;
            continue;
        }
        passedOver.reset();
        chain.push_back({span, reason, held.end});
        if (spans.start[span] <= begin && spans.transferStart[span] <= begin) break;
    }
    return chain;
}

/// How long a class computes in [begin, end).
std::int64_t computeWithin(const std::vector<Segment>& segments, std::int64_t begin, std::int64_t end) {
    std::int64_t time = 0;
    auto segment =
        std::partition_point(segments.begin(), segments.end(), [&](const Segment& s) { return s.end <= begin; });
    for (; segment != segments.end() && segment->begin < end; ++segment)
        if (segment->state == State::Compute) time += std::min(segment->end, end) - std::max(segment->begin, begin);
    return time;
}

/// Contiguous pieces, each stretch a wait.
std::vector<LongWait> stretchesOf(const std::vector<CausedInterval>& intervals, const std::vector<Segment>& segments) {
    std::vector<LongWait> waits;
    for (const CausedInterval& piece : intervals) {
        if (waits.empty() || waits.back().endNs != piece.begin) {
            waits.emplace_back();
            waits.back().beginNs = piece.begin;
        }
        LongWait& wait = waits.back();
        wait.endNs = piece.end;
        addTo(wait.causes, piece.cause, piece.unit, piece.state, piece.end - piece.begin);
    }
    auto segment = segments.begin();
    for (LongWait& wait : waits) {
        while (segment != segments.end() && segment->begin < wait.endNs) ++segment;
        if (segment != segments.end() && segment->state == State::Compute) wait.next = segment->span;
        wait.causes = largestFirst(std::move(wait.causes));
        wait.alikeNs = wait.endNs - wait.beginNs;
    }
    return waits;
}

/// Waits for one kind of thing before one kind of work become one: the longest of them, with their count and sum.
std::vector<LongWait> longestOfEachKind(const Timeline& timeline, std::vector<LongWait> waits) {
    std::stable_sort(waits.begin(), waits.end(),
                     [](const LongWait& a, const LongWait& b) { return a.endNs - a.beginNs > b.endNs - b.beginNs; });
    std::map<std::tuple<Cause, bool, std::uint8_t, std::uint8_t>, std::size_t> kinds;
    std::vector<LongWait> longest;
    for (LongWait& wait : waits) {
        const bool isLast = wait.next == kNoIndex;
        const auto [found, isNew] = kinds.try_emplace(
            {wait.causes.front().cause, isLast, isLast ? std::uint8_t{0} : timeline.spans.activity[wait.next],
             isLast ? std::uint8_t{0} : timeline.spans.phase[wait.next]},
            longest.size());
        if (isNew) {
            longest.push_back(std::move(wait));
            continue;
        }
        ++longest[found->second].alike;
        longest[found->second].alikeNs += wait.endNs - wait.beginNs;
    }
    return longest;
}

/// The kinds that cost most, first; the longest stretch of all stays, whatever its kind costs.
std::vector<LongWait> costliestFirst(std::vector<LongWait> longestFirst, std::size_t most) {
    std::vector<LongWait> ordered = std::move(longestFirst);
    if (ordered.empty()) return ordered;
    const LongWait longest = ordered.front();
    std::stable_sort(ordered.begin(), ordered.end(),
                     [](const LongWait& a, const LongWait& b) { return a.alikeNs > b.alikeNs; });
    if (ordered.size() <= most) return ordered;
    const auto isLongest = [&](const LongWait& wait) { return wait.beginNs == longest.beginNs; };
    const bool kept = std::any_of(ordered.begin(), ordered.begin() + static_cast<std::ptrdiff_t>(most), isLongest);
    ordered.resize(most);
    if (!kept) ordered.back() = longest;
    return ordered;
}

/// The last span of a rank to end: what the end of the step is followed back from.
std::uint32_t lastSpanOf(const Timeline& timeline, const std::vector<timeline::SpanRange>& lanes, std::size_t row) {
    const timeline::RankRow& rank = timeline.ranks[row];
    std::uint32_t last = kNoIndex;
    for (std::uint32_t lane = rank.laneBegin; lane < rank.laneEnd; ++lane)
        for (std::uint32_t i = lanes[lane].begin; i < lanes[lane].end; ++i) {
            if (last == kNoIndex || timeline.spans.end[i] > timeline.spans.end[last]) last = i;
        }
    return last;
}

}  // namespace

WhyIdle whyIdle(const PlanReport& plan) {
    constexpr std::size_t kMostWaits = 8, kMostLinks = 4, kMostMeanwhile = 16;
    const Timeline& timeline = plan.timeline;
    const timeline::CauseFinder finder(timeline);
    const std::vector<timeline::SpanRange> lanes = timeline::spansOfLanes(timeline);
    std::vector<std::vector<Segment>> segments;
    for (std::uint32_t row = 0; row < timeline.ranks.size(); ++row)
        segments.push_back(timeline::segmentsOf(timeline, row, lanes));
    WhyIdle why;
    for (std::uint32_t row = 0; row < timeline.ranks.size(); ++row) {
        IdleClass& one = why.classes.emplace_back();
        one.row = row;
        for (const CauseTotal& total : plan.classes[row].causes)
            for (std::size_t s = 0; s < timeline::kStates; ++s)
                if (total.byState[s] > 0) addTo(one.causes, total.cause, 0, static_cast<State>(s), total.byState[s]);
        one.causes = largestFirst(std::move(one.causes));
        const std::vector<CausedInterval> intervals = finder.intervalsOf(row, segments[row]);
        one.waits = costliestFirst(longestOfEachKind(timeline, stretchesOf(intervals, segments[row])), kMostWaits);
        for (LongWait& wait : one.waits) {
            if (wait.next != kNoIndex) {
                wait.chain = chainFrom(finder, timeline, wait.next, wait.beginNs, kMostLinks);
            } else if (const std::uint32_t last = lastSpanOf(timeline, lanes, row); last != kNoIndex) {
                const std::int64_t end = timeline.spans.end[last];
                if (end > wait.beginNs) {
                    wait.chain.push_back({last, timeline::FlowReason::Data, end});
                    const auto before = chainFrom(finder, timeline, last, wait.beginNs, kMostLinks - 1);
                    wait.chain.insert(wait.chain.end(), before.begin(), before.end());
                }
            }
            if (timeline.ranks.size() > kMostMeanwhile) continue;
            for (std::size_t other = 0; other < segments.size(); ++other)
                if (other != row)
                    if (const std::int64_t time = computeWithin(segments[other], wait.beginNs, wait.endNs); time > 0)
                        wait.meanwhile.emplace_back(other, time);
        }
    }
    return why;
}

}  // namespace shardscope::cli
