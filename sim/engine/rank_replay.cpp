#include "sim/engine/rank_replay.h"

#include <algorithm>
#include <limits>

namespace shardscope::sim {

namespace {

std::int64_t lengthOf(const std::vector<Interval>& intervals) {
    std::int64_t sum = 0;
    for (const Interval& i : intervals) sum += i.end - i.begin;
    return sum;
}

// Union of two lists of disjoint intervals in order.
void unite(const std::vector<Interval>& a, const std::vector<Interval>& b, std::vector<Interval>& result) {
    result.resize(a.size() + b.size());
    std::size_t i = 0, j = 0, n = 0;
    while (i < a.size() || j < b.size()) {
        const Interval& next = j == b.size() || (i < a.size() && a[i].begin <= b[j].begin) ? a[i++] : b[j++];
        if (n > 0 && next.begin <= result[n - 1].end)
            result[n - 1].end = std::max(result[n - 1].end, next.end);
        else
            result[n++] = next;
    }
    result.resize(n);
}

}  // namespace

RankReplay::RankReplay(const StaticOrder& order, const Prices& prices, const Clocks& clocks,
                       const SharedInstants& shared)
    : m_order(order), m_prices(prices), m_clocks(clocks), m_shared(shared) {
    if (!shared.varying.empty()) m_at = shared.at;
    const Progress& transfers = shared.progress;
    std::size_t cut = 0;  // the transfer at whose start everything that varies is over
    if (!shared.varying.empty())
        while (cut < transfers.size() && transfers.start(cut) < shared.apart) ++cut;
    const std::int64_t instant = shared.varying.empty()   ? 0
                                 : cut < transfers.size() ? transfers.start(cut)
                                                          : shared.finish;
    m_own = {0, instant, 0, cut};
    m_common = {instant, shared.finish, shared.varying.empty() ? 0 : cut + 1, transfers.size()};
    if (shared.varying.empty()) m_own.end = 0;

    std::size_t longest = 0, together = 0;
    for (const auto& lane : order.copies) {
        longest = std::max(longest, lane.size());
        together += lane.size();
    }
    m_busy.reserve(order.compute.size() + together);
    m_lane.reserve(longest);
    m_copies.reserve(together);
    m_merged.reserve(order.compute.size() + together);
    m_firstArrival.assign(transfers.size() + 1, std::numeric_limits<std::int64_t>::max());
    for (const std::uint32_t s : shared.varying)
        if (order.steps[s].role == OpRole::Transfer) m_arrivalsVary = order.steps[s].number + 1;
    const std::span all = at();
    for (std::size_t t = transfers.size(); t-- > 0;)
        m_firstArrival[t] = std::min(m_firstArrival[t + 1], all[order.transfer[t]].begin);
}

void RankReplay::replay(std::int64_t rank) {
    const auto r = static_cast<std::size_t>(rank);
    const std::int64_t offset = m_clocks.offset.empty() ? 0 : m_clocks.offset[r];
    const std::int64_t ppm = m_clocks.computePpm.empty() ? kNominalPpm : m_clocks.computePpm[r];
    std::size_t cursor = 0;
    for (const std::uint32_t s : m_shared.varying) {
        const StaticOrder::Step& step = m_order.steps[s];
        std::int64_t start = offset + m_prices.release[step.op];
        for (const std::uint32_t w : m_order.waitsOf(step)) start = std::max(start, m_at[w].end);
        m_at[s].begin = start;
        if (step.role == OpRole::Transfer) continue;
        const std::int64_t duration = m_prices.duration[step.op];
        if (step.role != OpRole::Compute) {
            m_at[s].end = start + duration;
            continue;
        }
        m_shared.progress.seek(cursor, start);
        m_at[s].end = m_shared.progress.finish(start, workAt(duration, ppm), cursor);
    }
    for (std::size_t t = m_arrivalsVary; t-- > 0;)
        m_firstArrival[t] = std::min(m_firstArrival[t + 1], m_at[m_order.transfer[t]].begin);
}

timeline::Breakdown RankReplay::breakdown() {
    if (!m_commonKnown) {
        add(m_common, m_commonSum);
        m_commonKnown = true;
    }
    timeline::Breakdown sum = m_commonSum;
    add(m_own, sum);
    sum.step = m_shared.finish;
    return sum;
}

// Compute of the window, and how much of it runs beside transfers.
void RankReplay::gatherCompute(const Window& window, timeline::Breakdown& sum, std::int64_t& besideTransfer) {
    m_busy.clear();
    std::size_t cursor = 0;
    const Progress& transfers = m_shared.progress;
    const std::span all = at();
    for (const std::uint32_t s : m_order.compute) {
        const std::int64_t begin = std::max(all[s].begin, window.begin), end = std::min(all[s].end, window.end);
        if (begin >= end) {
            if (all[s].begin >= window.end) break;
            continue;
        }
        if (!m_busy.empty() && m_busy.back().end == begin)
            m_busy.back().end = end;
        else
            m_busy.push_back({begin, end});
    }
    for (const Interval& busy : m_busy) {
        transfers.seek(cursor, busy.begin);
        const std::int64_t before = transfers.transferBefore(cursor, busy.begin);
        transfers.seek(cursor, busy.end);
        besideTransfer += transfers.transferBefore(cursor, busy.end) - before;
        sum.compute += busy.end - busy.begin;
    }
}

// Adds the copies on other streams to m_busy.
void RankReplay::mergeCopies(const Window& window, timeline::Breakdown& sum) {
    m_copies.clear();
    const std::span all = at();
    for (const auto& lane : m_order.copies) {
        m_lane.clear();
        for (const std::uint32_t s : lane) {
            const std::int64_t begin = std::max(all[s].begin, window.begin), end = std::min(all[s].end, window.end);
            if (begin < end) m_lane.push_back({begin, end});
        }
        if (m_lane.empty()) continue;
        if (m_copies.empty()) {
            m_copies.swap(m_lane);
            continue;
        }
        unite(m_copies, m_lane, m_merged);
        m_copies.swap(m_merged);
    }
    if (m_copies.empty()) return;
    sum.totalCopy += lengthOf(m_copies);
    unite(m_busy, m_copies, m_merged);
    m_busy.swap(m_merged);
}

void RankReplay::add(const Window& window, timeline::Breakdown& sum) {
    if (window.begin >= window.end) return;
    const Progress& transfers = m_shared.progress;
    timeline::Breakdown part;
    std::int64_t besideTransfer = 0;
    gatherCompute(window, part, besideTransfer);
    if (!m_order.copies.empty()) mergeCopies(window, part);

    std::size_t next = 0;
    std::int64_t done = 0;  // busy time of the intervals before `next`
    const auto busyBefore = [&](std::int64_t time) {
        while (next < m_busy.size() && m_busy[next].end <= time) {
            done += m_busy[next].end - m_busy[next].begin;
            ++next;
        }
        return done + (next < m_busy.size() && m_busy[next].begin < time ? time - m_busy[next].begin : 0);
    };
    std::int64_t gaps = 0, busyInGaps = 0;
    for (std::size_t gap = window.firstGap; gap <= window.lastGap; ++gap) {
        const bool last = gap == transfers.size();
        const std::int64_t begin = std::max(window.begin, gap == 0 ? 0 : transfers.end(gap - 1));
        const std::int64_t end = last ? window.end : std::min(window.end, transfers.start(gap));
        if (begin >= end) continue;
        // Whoever has arrived waits until a transfer starts, that is, to the end of the gap.
        const std::int64_t waits = last ? end : std::clamp(m_firstArrival[gap], begin, end);
        const std::int64_t atBegin = busyBefore(begin), atWaits = busyBefore(waits), atEnd = busyBefore(end);
        gaps += end - begin;
        busyInGaps += atEnd - atBegin;
        part.waiting += end - waits - (atEnd - atWaits);
    }
    part.totalTransfer = window.end - window.begin - gaps;
    part.transfer = part.totalTransfer - besideTransfer;
    part.copy = busyInGaps - (part.compute - besideTransfer);
    part.idle = gaps - busyInGaps - part.waiting;

    sum.compute += part.compute;
    sum.transfer += part.transfer;
    sum.copy += part.copy;
    sum.waiting += part.waiting;
    sum.idle += part.idle;
    sum.totalTransfer += part.totalTransfer;
    sum.totalCopy += part.totalCopy;
}

}  // namespace shardscope::sim
