#include "sim/run/to_timeline.h"

#include <algorithm>
#include <unordered_map>

#include "sim/engine/wiring.h"

namespace shardscope::sim {

namespace {

class Filler {
public:
    Filler(const core::StepGraph& graph, const core::Model& model, const Prices& prices, const StepResult& result,
           const RunOptions& options)
        : m_graph(graph), m_prices(prices), m_result(result), m_options(options), m_span(result.ranks.size()) {
        m_label.reserve(graph.ops.size());
        for (std::size_t op = 0; op < graph.ops.size(); ++op)
            m_label.push_back(m_timeline.strings.intern(core::labelOf(graph, model, core::OpId(op))));
        for (const core::Unit& unit : graph.units) m_unit.push_back(m_timeline.strings.intern(unit.name));
        for (const core::Group& group : graph.groups)
            m_timeline.groups.push_back({m_timeline.strings.intern(group.name), group.size});
    }

    timeline::Timeline fill() {
        m_timeline.end = m_result.step;
        for (std::size_t row = 0; row < m_result.ranks.size(); ++row) addRank(row);
        addPeers();
        timeline::arrange(m_timeline);
        return std::move(m_timeline);
    }

private:
    void addRank(std::size_t row) {
        const RankInstants& rank = m_result.ranks[row];
        const core::RankClass& rankClass = m_graph.classes[rank.rankClass.index()];
        timeline::RankRow out;
        out.rank = rank.rank;
        out.multiplicity = rank.multiplicity;
        out.stage = rankClass.stage;
        out.name = m_timeline.strings.intern(rank.name);
        out.laneBegin = static_cast<std::uint32_t>(m_timeline.lanes.size());
        out.stepEnd = m_result.step;
        std::vector<std::vector<std::uint32_t>> byStream(m_graph.streams.size());
        for (std::uint32_t op = rankClass.opBegin; op < rankClass.opEnd; ++op)
            byStream[m_graph.ops[op].stream].push_back(op);
        m_span[row].resize(rankClass.opEnd - rankClass.opBegin);
        for (std::size_t stream = 0; stream < byStream.size(); ++stream) {
            if (byStream[stream].empty()) continue;
            timeline::Lane lane;
            lane.rank = rank.rank;
            lane.multiplicity = rank.multiplicity;
            lane.rankName = out.name;
            lane.stream = m_timeline.strings.intern(m_graph.streams[stream].name);
            lane.computeStream = m_graph.streams[stream].kind == core::StreamKind::Compute;
            lane.rankIndex = static_cast<std::uint32_t>(m_timeline.ranks.size());
            m_timeline.lanes.push_back(lane);
            for (const std::uint32_t op : byStream[stream]) addSpan(row, rankClass, op);
        }
        out.laneEnd = static_cast<std::uint32_t>(m_timeline.lanes.size());
        m_timeline.ranks.push_back(out);
        for (std::uint32_t op = rankClass.opBegin; op < rankClass.opEnd; ++op) {
            for (const core::Edge& edge : m_graph.waitsOf(core::OpId(op))) {
                if (edge.reason == core::EdgeReason::StreamOrder) continue;
                m_timeline.flows.push_back({m_span[row][edge.from.value - rankClass.opBegin],
                                            m_span[row][op - rankClass.opBegin], timeline::flowReasonOf(edge.reason)});
            }
        }
    }

    void addSpan(std::size_t row, const core::RankClass& rankClass, std::uint32_t id) {
        const core::Op& op = m_graph.ops[id];
        const RankInstants& rank = m_result.ranks[row];
        const std::size_t place = id - rankClass.opBegin;
        timeline::SpanRow span;
        span.lane = static_cast<std::uint32_t>(m_timeline.lanes.size() - 1);
        span.start = rank.at.start[place];
        span.end = rank.at.end[place];
        span.transferStart = rank.at.transferStart[place];
        span.name = m_label[id];
        if (op.unit.valid()) span.unit = m_unit[op.unit.index()];
        span.kind = timeline::spanKindOf(op.kind, m_graph.streams[op.stream].kind);
        span.phase = op.phase;
        span.activity = timeline::activityOf(op.kind);
        span.microBatch = op.microBatch;
        span.op = id;
        span.bytes = op.bytes.value;
        if (op.bytes.value > 0) span.dtype = static_cast<std::uint8_t>(op.dtype);
        if (op.group.valid()) span.group = op.group.value;
        const std::int64_t offset =
            m_options.offsets.empty() ? 0 : m_options.offsets[static_cast<std::size_t>(rank.rank)];
        span.issued = offset + m_prices.release[id];
        m_span[row][place] = timeline::append(m_timeline, span);
    }

    // Members of one transfer among the ranks at hand: ops with one match number at one coordinate, or ranks of one
    // group.
    void addPeers() {
        struct Member {
            std::size_t row;
            std::uint32_t op;
        };
        std::unordered_map<std::uint64_t, std::vector<Member>> meetings;
        std::int64_t firstOfClass = 0;
        std::vector<std::int64_t> first;
        for (const core::RankClass& rankClass : m_graph.classes) {
            first.push_back(firstOfClass);
            firstOfClass += rankClass.multiplicity;
        }
        std::vector<std::uint64_t> order;
        for (std::size_t row = 0; row < m_result.ranks.size(); ++row) {
            const RankInstants& rank = m_result.ranks[row];
            const core::RankClass& rankClass = m_graph.classes[rank.rankClass.index()];
            const std::int64_t coordinate = rank.rank - first[rank.rankClass.index()];
            for (std::uint32_t id = rankClass.opBegin; id < rankClass.opEnd; ++id) {
                const core::Op& op = m_graph.ops[id];
                if (!isTransfer(op.kind)) continue;
                const core::Group& group = m_graph.groups[op.group.index()];
                const bool matched = op.match != kNoOp;
                const std::int64_t stride = std::max<std::int64_t>(group.stride, 1);
                const std::int64_t base =
                    matched ? coordinate
                            : coordinate - coordinate / stride % std::max<std::int64_t>(group.size, 1) * stride;
                const std::uint64_t key = (static_cast<std::uint64_t>(matched) << 63) |
                                          (static_cast<std::uint64_t>(matched ? op.match : id) << 31) |
                                          static_cast<std::uint64_t>(base);
                std::vector<Member>& members = meetings[key];
                if (members.empty()) order.push_back(key);
                members.push_back({row, id});
            }
        }
        const auto spanOf = [&](const Member& member) {
            return m_span[member.row]
                         [member.op - m_graph.classes[m_result.ranks[member.row].rankClass.index()].opBegin];
        };
        for (const std::uint64_t key : order) {
            const std::vector<Member>& members = meetings[key];
            if (members.size() < 2) continue;
            const auto arrival = [&](const Member& member) { return m_timeline.spans.start[spanOf(member)]; };
            auto from = std::find_if(members.begin(), members.end(), [&](const Member& member) {
                return m_graph.ops[member.op].kind == core::OpKind::Send;
            });
            if (from == members.end()) {
                from = std::max_element(members.begin(), members.end(),
                                        [&](const Member& a, const Member& b) { return arrival(a) < arrival(b); });
                // Somebody who is not shown may have come later still; then nobody shown held the others up.
                if (arrival(*from) != m_timeline.spans.transferStart[spanOf(*from)]) continue;
            }
            for (auto to = members.begin(); to != members.end(); ++to)
                if (to != from) m_timeline.flows.push_back({spanOf(*from), spanOf(*to), timeline::FlowReason::Peer});
        }
    }

    const core::StepGraph& m_graph;
    const Prices& m_prices;
    const StepResult& m_result;
    const RunOptions& m_options;
    timeline::Timeline m_timeline;
    std::vector<timeline::StringId> m_label, m_unit;
    std::vector<std::vector<std::uint32_t>> m_span;  // by row and position in the class
};

}  // namespace

timeline::Timeline toTimeline(const core::StepGraph& graph, const core::Model& model, const Prices& prices,
                              const StepResult& result, const RunOptions& options) {
    return Filler(graph, model, prices, result, options).fill();
}

}  // namespace shardscope::sim
