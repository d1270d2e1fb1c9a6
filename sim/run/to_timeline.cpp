#include "sim/run/to_timeline.h"

#include "traces/timeline/graph_flows.h"

namespace shardscope::sim {

namespace {

class Filler {
public:
    Filler(const core::StepGraph& graph, const core::Model& model, const Prices& prices, const StepResult& result,
           const RunOptions& options)
        : m_graph(graph), m_prices(prices), m_result(result), m_options(options) {
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
        timeline::addGraphFlows(m_graph, m_ranks, false, m_timeline);
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
        m_ranks.push_back({rank.rank, rank.rankClass, {}});
        m_ranks.back().span.resize(rankClass.opEnd - rankClass.opBegin);
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
        m_ranks[row].span[place] = timeline::append(m_timeline, span);
    }

    const core::StepGraph& m_graph;
    const Prices& m_prices;
    const StepResult& m_result;
    const RunOptions& m_options;
    timeline::Timeline m_timeline;
    std::vector<timeline::StringId> m_label, m_unit;
    std::vector<timeline::RankOps> m_ranks;  // by row
};

}  // namespace

timeline::Timeline toTimeline(const core::StepGraph& graph, const core::Model& model, const Prices& prices,
                              const StepResult& result, const RunOptions& options) {
    return Filler(graph, model, prices, result, options).fill();
}

}  // namespace shardscope::sim
