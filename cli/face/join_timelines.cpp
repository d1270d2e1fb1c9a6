#include "cli/face/join_timelines.h"

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

class Joiner {
public:
    void add(const JoinedPart& part, bool singly, std::vector<std::uint32_t>* of) {
        const Timeline& t = *part.timeline;
        const auto text = [&](timeline::StringId id) { return m_all.strings.intern(t.strings[id]); };
        const auto groups = static_cast<std::uint16_t>(m_all.groups.size());
        for (const timeline::TransferGroup& group : t.groups) m_all.groups.push_back({text(group.name), group.size});
        const std::vector<timeline::SpanRange> lanes = timeline::spansOfLanes(t);
        std::vector<std::uint32_t> first(t.spans.size(), timeline::kNoIndex);  // of every span's first copy
        for (std::uint32_t r = 0; r < t.ranks.size(); ++r) {
            const timeline::RankRow& source = t.ranks[r];
            const std::int64_t copies = singly ? source.multiplicity : 1;
            for (std::int64_t copy = 0; copy < copies; ++copy) {
                const auto index = static_cast<std::uint32_t>(m_all.ranks.size());
                timeline::RankRow row = source;
                row.rank = m_firstRank + source.rank + copy;
                if (copies > 1) row.multiplicity = 1;
                const std::string name =
                    copies > 1 ? fmt::format("rank {}", source.rank + copy) : t.strings[source.name];
                row.name = m_all.strings.intern(part.prefix + name);
                row.laneBegin = static_cast<std::uint32_t>(m_all.lanes.size());
                std::vector<std::uint32_t> own(copy > 0 ? t.spans.size() : 0, timeline::kNoIndex);
                std::vector<std::uint32_t>& made = copy > 0 ? own : first;
                for (std::uint32_t l = source.laneBegin; l < source.laneEnd; ++l) {
                    timeline::Lane lane = t.lanes[l];
                    lane.rank = row.rank;
                    lane.multiplicity = row.multiplicity;
                    lane.rankName = row.name;
                    lane.stream = text(lane.stream);
                    lane.rankIndex = index;
                    for (std::uint32_t s = lanes[l].begin; s < lanes[l].end; ++s) {
                        timeline::SpanRow span = spanOf(t, s);
                        span.lane = static_cast<std::uint32_t>(m_all.lanes.size());
                        span.name = text(span.name);
                        span.unit = text(span.unit);
                        if (span.group != timeline::kNoGroup)
                            span.group = static_cast<std::uint16_t>(span.group + groups);
                        made[s] = timeline::append(m_all, span);
                    }
                    m_all.lanes.push_back(lane);
                }
                row.laneEnd = static_cast<std::uint32_t>(m_all.lanes.size());
                m_all.ranks.push_back(row);
                if (of != nullptr) of->push_back(r);
                if (copy > 0) addFlows(t, own);
                for (const timeline::Counter& counter : t.counters) {
                    if (counter.rankIndex != r) continue;
                    m_all.counters.push_back({index, text(counter.name), counter.time, counter.value});
                }
            }
        }
        addFlows(t, first);
        m_firstRank += ranksOf(t);
    }

    [[nodiscard]] Timeline take() {
        timeline::arrange(m_all);
        return std::move(m_all);
    }

private:
    void addFlows(const Timeline& t, const std::vector<std::uint32_t>& made) {
        for (const timeline::Flow& flow : t.flows)
            if (made[flow.from] != timeline::kNoIndex && made[flow.to] != timeline::kNoIndex)
                m_all.flows.push_back({made[flow.from], made[flow.to], flow.reason});
    }

    Timeline m_all;
    std::int64_t m_firstRank = 0;
};

}  // namespace

Timeline joinTimelines(std::span<const JoinedPart> parts, std::int64_t singly) {
    Joiner joiner;
    for (const JoinedPart& part : parts) joiner.add(part, ranksOf(*part.timeline) <= singly, nullptr);
    return joiner.take();
}

SingleRanks rankByRank(const Timeline& timeline, std::int64_t singly) {
    SingleRanks out;
    const std::int64_t ranks = ranksOf(timeline);
    if (ranks > singly || ranks == static_cast<std::int64_t>(timeline.ranks.size())) return out;
    Joiner joiner;
    joiner.add({&timeline, ""}, true, &out.of);
    out.timeline = joiner.take();
    out.timeline.title = timeline.title;
    return out;
}

}  // namespace shardscope::cli
