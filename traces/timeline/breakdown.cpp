#include "traces/timeline/breakdown.h"

#include <algorithm>
#include <limits>

namespace shardscope::timeline {

std::string_view nameOf(State state) {
    static constexpr std::array<std::string_view, kStates> kNames = {"compute", "transfer", "copy", "waiting", "idle"};
    return kNames[static_cast<std::size_t>(state)];
}

namespace {

struct Interval {
    std::int64_t begin, end;
    std::uint32_t span;
};

constexpr std::size_t kBusyStates = kStates - 1;
using Intervals = std::array<std::vector<Interval>, kBusyStates>;

/// Makes the intervals disjoint and ordered without changing their union: where two overlap, the one begun first keeps
/// the common part.
void makeDisjoint(std::vector<Interval>& intervals) {
    const auto byBegin = [](const Interval& a, const Interval& b) { return a.begin < b.begin; };
    if (!std::is_sorted(intervals.begin(), intervals.end(), byBegin)) {
        std::stable_sort(intervals.begin(), intervals.end(), byBegin);
    }
    std::size_t kept = 0;
    std::int64_t covered = std::numeric_limits<std::int64_t>::min();
    for (Interval interval : intervals) {
        interval.begin = std::max(interval.begin, covered);
        if (interval.begin >= interval.end) continue;
        covered = interval.end;
        intervals[kept++] = interval;
    }
    intervals.resize(kept, Interval{});
}

Intervals busyIntervals(const Timeline& timeline, const RankRow& rank, const std::vector<SpanRange>& lanes) {
    Intervals busy;
    const Spans& spans = timeline.spans;
    const auto add = [&](State state, std::int64_t begin, std::int64_t end, std::uint32_t span) {
        begin = std::max(begin, rank.stepBegin);
        end = std::min(end, rank.stepEnd);
        if (begin < end) busy[static_cast<std::size_t>(state)].push_back({begin, end, span});
    };
    for (std::uint32_t lane = rank.laneBegin; lane < rank.laneEnd; ++lane) {
        const State ownWork = timeline.lanes[lane].computeStream ? State::Compute : State::Copy;
        for (std::uint32_t i = lanes[lane].begin; i < lanes[lane].end; ++i) {
            switch (static_cast<SpanKind>(spans.kind[i])) {
                case SpanKind::Compute:
                case SpanKind::Copy: add(ownWork, spans.start[i], spans.end[i], i); break;
                case SpanKind::Collective:
                case SpanKind::PointToPoint: {
                    const std::int64_t arrived = std::clamp(spans.transferStart[i], spans.start[i], spans.end[i]);
                    add(State::Waiting, spans.start[i], arrived, i);
                    add(State::Transfer, arrived, spans.end[i], i);
                    break;
                }
                case SpanKind::Host: break;
            }
        }
    }
    for (auto& intervals : busy) makeDisjoint(intervals);
    return busy;
}

/// Calls `visit(begin, end, state, span)` for the pieces of the step, in order.
template <class Visit>
void sweep(const RankRow& rank, const Intervals& busy, Visit visit) {
    std::array<std::size_t, kBusyStates> next{};
    std::int64_t now = rank.stepBegin;
    while (now < rank.stepEnd) {
        std::int64_t until = rank.stepEnd;
        State state = State::Idle;
        std::uint32_t span = kNoIndex;
        for (std::size_t s = 0; s < kBusyStates; ++s) {
            while (next[s] < busy[s].size() && busy[s][next[s]].end <= now) ++next[s];
            if (next[s] == busy[s].size()) continue;
            const Interval& interval = busy[s][next[s]];
            if (interval.begin > now) {
                until = std::min(until, interval.begin);
            } else {
                until = std::min(until, interval.end);
                state = static_cast<State>(s);
                span = interval.span;
                break;
            }
        }
        visit(now, until, state, span);
        now = until;
    }
}

std::int64_t lengthOf(const std::vector<Interval>& intervals) {
    std::int64_t sum = 0;
    for (const Interval& i : intervals) sum += i.end - i.begin;
    return sum;
}

}  // namespace

std::vector<Breakdown> breakdownOf(const Timeline& timeline) {
    const std::vector<SpanRange> lanes = spansOfLanes(timeline);
    std::vector<Breakdown> all;
    all.reserve(timeline.ranks.size());
    for (const RankRow& rank : timeline.ranks) {
        const Intervals busy = busyIntervals(timeline, rank, lanes);
        std::array<std::int64_t, kStates> time{};
        sweep(rank, busy, [&](std::int64_t begin, std::int64_t end, State state, std::uint32_t) {
            time[static_cast<std::size_t>(state)] += end - begin;
        });
        Breakdown b;
        b.compute = time[0];
        b.transfer = time[1];
        b.copy = time[2];
        b.waiting = time[3];
        b.idle = time[4];
        b.step = rank.stepEnd - rank.stepBegin;
        b.totalTransfer = lengthOf(busy[static_cast<std::size_t>(State::Transfer)]);
        b.totalCopy = lengthOf(busy[static_cast<std::size_t>(State::Copy)]);
        all.push_back(b);
    }
    return all;
}

std::vector<Segment> segmentsOf(const Timeline& timeline, std::uint32_t rankIndex,
                                const std::vector<SpanRange>& lanes) {
    const RankRow& rank = timeline.ranks[rankIndex];
    std::vector<Segment> segments;
    sweep(rank, busyIntervals(timeline, rank, lanes),
          [&](std::int64_t begin, std::int64_t end, State state, std::uint32_t span) {
              if (!segments.empty() && segments.back().state == state && segments.back().span == span) {
                  segments.back().end = end;
              } else {
                  segments.push_back({begin, end, state, span});
              }
          });
    return segments;
}

std::vector<Segment> segmentsOf(const Timeline& timeline, std::uint32_t rankIndex) {
    return segmentsOf(timeline, rankIndex, spansOfLanes(timeline));
}

Breakdown sumOver(const Timeline& timeline, const std::vector<Breakdown>& ranks) {
    Breakdown sum;
    for (std::size_t r = 0; r < ranks.size(); ++r) {
        const std::int64_t n = timeline.ranks[r].multiplicity;
        sum.compute += n * ranks[r].compute;
        sum.transfer += n * ranks[r].transfer;
        sum.copy += n * ranks[r].copy;
        sum.waiting += n * ranks[r].waiting;
        sum.idle += n * ranks[r].idle;
        sum.step += n * ranks[r].step;
        sum.totalTransfer += n * ranks[r].totalTransfer;
        sum.totalCopy += n * ranks[r].totalCopy;
    }
    return sum;
}

}  // namespace shardscope::timeline
