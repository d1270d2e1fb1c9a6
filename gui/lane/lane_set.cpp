#include "gui/lane/lane_set.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "cli/face/text_table.h"
#include "core/base/parallel_for.h"
#include "traces/timeline/causes.h"

namespace shardscope::gui {

using formats::Look;
using formats::RowPiece;
using timeline::Timeline;

namespace {

/// The spans of one stream, waiting for members or for the queue apart from the transfer.
Pieces streamPieces(const Timeline& t, const timeline::SpanRange& range, bool computeStream) {
    Pieces pieces;
    std::int64_t covered = std::numeric_limits<std::int64_t>::min();
    const auto add = [&](std::int64_t begin, std::int64_t end, Look look, std::uint32_t span) {
        begin = std::max(begin, covered);
        if (begin >= end) return;
        covered = end;
        pieces.append({begin, end, look, span});
    };
    for (std::uint32_t i = range.begin; i < range.end; ++i) {
        const Look look = formats::lookOfSpan(t, i, computeStream);
        const std::int64_t transfer = std::clamp(t.spans.transferStart[i], t.spans.start[i], t.spans.end[i]);
        if (transfer > t.spans.start[i]) add(t.spans.start[i], transfer, Look::Waiting, i);
        add(transfer, t.spans.end[i], look, i);
    }
    return pieces;
}

MemoryCurve curveOf(const Timeline& t, std::uint32_t rank) {
    struct Change {
        std::int64_t time;
        std::size_t category;
        std::int64_t bytes;
    };
    std::vector<Change> changes;
    for (const timeline::Counter& counter : t.counters) {
        if (counter.rankIndex != rank) continue;
        for (std::size_t c = 0; c < core::kMemoryCategories; ++c) {
            if (core::nameOf(static_cast<core::MemoryCategory>(c)) != t.strings[counter.name]) continue;
            for (std::size_t i = 0; i < counter.time.size(); ++i)
                changes.push_back({counter.time[i], c, counter.value[i]});
        }
    }
    std::ranges::stable_sort(changes, {}, &Change::time);
    MemoryCurve curve;
    MemoryCurve::Bytes now{};
    for (std::size_t i = 0; i < changes.size(); ++i) {
        now[changes[i].category] = changes[i].bytes;
        if (i + 1 < changes.size() && changes[i + 1].time == changes[i].time) continue;
        curve.append(changes[i].time, now);
    }
    return curve;
}

std::string labelOf(const Timeline& t, const timeline::RankRow& rank) {
    const std::string& name = t.strings[rank.name];
    return rank.multiplicity > 1 ? fmt::format("{} x {}", name, cli::groupedDigits(rank.multiplicity)) : name;
}

/// A rank's state lane, then its streams.
std::vector<Lane> lanesOfRank(const Timeline& t, const timeline::CauseFinder& causes,
                              const std::vector<timeline::SpanRange>& spans, std::uint32_t r) {
    std::vector<Lane> lanes(1);
    Lane& state = lanes.front();
    state.rankIndex = r;
    state.rank = labelOf(t, t.ranks[r]);
    state.pieces = Pieces(formats::computeRow(t, causes, spans, r));
    state.pyramid = Pyramid(state.pieces);
    std::int64_t work = 0;
    for (std::size_t i = 0; i < state.pieces.size(); ++i)
        if (const Look look = state.pieces.lookOf(i); !isGap(look) && look != Look::Copy)
            work += state.pieces.endOf(i) - state.pieces.beginOf(i);
    if (const std::int64_t step = t.ranks[r].stepEnd - t.ranks[r].stepBegin; step > 0)
        state.work = static_cast<double>(work) / static_cast<double>(step);
    for (std::uint32_t l = t.ranks[r].laneBegin; l < t.ranks[r].laneEnd; ++l) {
        if (t.lanes[l].computeStream) continue;
        Lane stream;
        stream.kind = Lane::Kind::Stream;
        stream.rankIndex = r;
        stream.rank = lanes.front().rank;
        stream.stream = t.strings[t.lanes[l].stream];
        stream.pieces = streamPieces(t, spans[l], false);
        if (stream.pieces.empty()) continue;
        stream.pyramid = Pyramid(stream.pieces);
        lanes.push_back(std::move(stream));
    }
    return lanes;
}

}  // namespace

LaneSet lanesOf(std::shared_ptr<const Timeline> timeline, const std::stop_token& stop) {
    LaneSet set;
    set.timeline = std::move(timeline);
    const Timeline& t = *set.timeline;
    const std::vector<timeline::SpanRange> spans = timeline::spansOfLanes(t);
    const timeline::CauseFinder causes(t);
    std::vector<std::vector<Lane>> byRank(t.ranks.size());
    std::vector<std::uint32_t> looks(t.ranks.size());
    core::parallelFor(byRank.size(), [&](std::size_t r) {
        if (stop.stop_requested()) return;
        byRank[r] = lanesOfRank(t, causes, spans, static_cast<std::uint32_t>(r));
        for (const Lane& lane : byRank[r])
            for (std::size_t i = 0; i < lane.pieces.size(); ++i)
                looks[r] |= std::uint32_t{1} << static_cast<unsigned>(lane.pieces.lookOf(i));
    });
    for (std::vector<Lane>& lanes : byRank) std::ranges::move(lanes, std::back_inserter(set.lanes));
    for (const std::uint32_t ofRank : looks) set.looks |= ofRank;
    return set;
}

LaneSet lanesOf(const cli::PlanReport& plan, const std::stop_token& stop) {
    LaneSet set = lanesOf(std::shared_ptr<const Timeline>(std::shared_ptr<void>(), &plan.timeline), stop);
    const cli::ClassReport& tightest = plan.tightest();
    set.memoryRank = static_cast<std::uint32_t>(&tightest - plan.classes.data());
    set.memory = curveOf(*set.timeline, set.memoryRank);
    for (const MemoryCurve::Bytes& bytes : set.memory.bytes)
        for (std::size_t c = 0; c < bytes.size(); ++c) set.categories |= (bytes[c] > 0 ? 1U : 0U) << c;
    set.capacity = tightest.memory.reserve.usable.value;
    if (!set.memory.total.empty()) set.peak = std::ranges::max_element(set.memory.total) - set.memory.total.begin();
    return set;
}

}  // namespace shardscope::gui
