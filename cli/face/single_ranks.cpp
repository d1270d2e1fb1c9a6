#include "cli/face/single_ranks.h"

#include <fmt/format.h>

namespace shardscope::cli {
namespace {

using timeline::Timeline;

timeline::SpanRow spanOf(const Timeline& t, std::uint32_t s) {
    timeline::SpanRow row;
    row.lane = t.spans.lane[s];
    row.start = t.spans.start[s];
    row.end = t.spans.end[s];
    row.transferStart = t.spans.transferStart[s];
    row.name = t.spans.name[s];
    row.unit = t.spans.unit[s];
    row.kind = static_cast<timeline::SpanKind>(t.spans.kind[s]);
    row.phase = static_cast<core::Phase>(t.spans.phase[s]);
    row.activity = static_cast<timeline::Activity>(t.spans.activity[s]);
    row.microBatch = t.spans.microBatch[s];
    row.op = t.spans.op[s];
    row.bytes = t.spans.bytes[s];
    row.dtype = t.spans.dtype[s];
    row.group = t.spans.group[s];
    row.issued = t.spans.issued[s];
    return row;
}

std::int64_t ranksOf(const Timeline& t) {
    std::int64_t ranks = 0;
    for (const timeline::RankRow& rank : t.ranks) ranks += rank.multiplicity;
    return ranks;
}

/// Copies the spans of one rank into a row of its own; tells where each of them went.
class Splitter {
public:
    explicit Splitter(const Timeline& source) : m_source(source), m_lanes(timeline::spansOfLanes(source)) {
        // The same strings under the same numbers.
        for (std::size_t id = 1; id < source.strings.size(); ++id)
            m_out.strings.intern(source.strings[static_cast<timeline::StringId>(id)]);
        m_out.title = source.title;
        m_out.groups = source.groups;
    }

    std::vector<std::uint32_t> add(std::uint32_t rank, std::int64_t copy) {
        const timeline::RankRow& source = m_source.ranks[rank];
        const auto index = static_cast<std::uint32_t>(m_out.ranks.size());
        timeline::RankRow row = source;
        if (source.multiplicity > 1) {
            row.rank += copy;
            row.multiplicity = 1;
            row.name = m_out.strings.intern(fmt::format("rank {}", row.rank));
        }
        row.laneBegin = static_cast<std::uint32_t>(m_out.lanes.size());
        std::vector<std::uint32_t> made(m_source.spans.size(), timeline::kNoIndex);
        for (std::uint32_t l = source.laneBegin; l < source.laneEnd; ++l) {
            timeline::Lane lane = m_source.lanes[l];
            lane.rank = row.rank;
            lane.multiplicity = row.multiplicity;
            lane.rankName = row.name;
            lane.rankIndex = index;
            const auto number = static_cast<std::uint32_t>(m_out.lanes.size());
            m_out.lanes.push_back(lane);
            for (std::uint32_t s = m_lanes[l].begin; s < m_lanes[l].end; ++s) {
                timeline::SpanRow span = spanOf(m_source, s);
                span.lane = number;
                made[s] = timeline::append(m_out, span);
            }
        }
        row.laneEnd = static_cast<std::uint32_t>(m_out.lanes.size());
        m_out.ranks.push_back(row);
        for (const timeline::Counter& counter : m_source.counters)
            if (counter.rankIndex == rank) m_out.counters.push_back({index, counter.name, counter.time, counter.value});
        return made;
    }

    void addFlows(const std::vector<std::uint32_t>& made) {
        for (const timeline::Flow& flow : m_source.flows)
            if (made[flow.from] != timeline::kNoIndex && made[flow.to] != timeline::kNoIndex)
                m_out.flows.push_back({made[flow.from], made[flow.to], flow.reason});
    }

    [[nodiscard]] Timeline take() {
        timeline::arrange(m_out);
        return std::move(m_out);
    }

private:
    const Timeline& m_source;
    std::vector<timeline::SpanRange> m_lanes;
    Timeline m_out;
};

}  // namespace

SingleRanks rankByRank(const Timeline& timeline, std::int64_t singly) {
    SingleRanks out;
    const std::int64_t ranks = ranksOf(timeline);
    if (ranks > singly || ranks == static_cast<std::int64_t>(timeline.ranks.size())) return out;
    Splitter splitter(timeline);
    std::vector<std::uint32_t> first(timeline.spans.size(), timeline::kNoIndex);
    for (std::uint32_t rank = 0; rank < timeline.ranks.size(); ++rank) {
        for (std::int64_t copy = 0; copy < timeline.ranks[rank].multiplicity; ++copy) {
            const std::vector<std::uint32_t> made = splitter.add(rank, copy);
            out.of.push_back(rank);
            if (copy > 0) {
                splitter.addFlows(made);
                continue;
            }
            for (std::size_t s = 0; s < made.size(); ++s)
                if (made[s] != timeline::kNoIndex) first[s] = made[s];
        }
    }
    splitter.addFlows(first);
    out.timeline = splitter.take();
    return out;
}

}  // namespace shardscope::cli
