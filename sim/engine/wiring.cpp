#include "sim/engine/wiring.h"

#include <algorithm>

namespace shardscope::sim {

using core::Op;
using core::StepGraph;

namespace {

OpRole roleOf(const StepGraph& graph, const Op& op) {
    if (isTransfer(op.kind)) return OpRole::Transfer;
    return graph.streams[op.stream].kind == core::StreamKind::Compute ? OpRole::Compute : OpRole::Copy;
}

// What is known to have ended when an op ends: by stream, the latest such op plus one (0: none). A wait is superfluous
// where another one of the same op already implies it.
class Ended {
public:
    explicit Ended(const StepGraph& graph) : m_graph(graph), m_streams(graph.streams.size()) {
        if (m_streams <= kMostStreams) m_latest.resize(m_streams * graph.ops.size());
    }

    void reduce(std::vector<std::uint32_t>& waits) {
        if (m_latest.empty() || waits.size() < 2) return;
        m_all = waits;
        waits.clear();
        for (const std::uint32_t wait : m_all) {
            const std::size_t stream = m_graph.ops[wait].stream;
            const bool implied = std::any_of(m_all.begin(), m_all.end(), [&](std::uint32_t other) {
                return other != wait && m_latest[other * m_streams + stream] > wait;
            });
            if (!implied) waits.push_back(wait);
        }
    }

    /// `before`: the transfer ahead in the communicator's queue, or kNoOp.
    void add(std::uint32_t op, std::span<const std::uint32_t> waits, std::uint32_t before) {
        if (m_latest.empty()) return;
        std::uint32_t* own = &m_latest[op * m_streams];
        const auto include = [&](std::uint32_t from) {
            for (std::size_t s = 0; s < m_streams; ++s) own[s] = std::max(own[s], m_latest[from * m_streams + s]);
        };
        for (const std::uint32_t from : waits) include(from);
        if (before != kNoOp) include(before);
        own[m_graph.ops[op].stream] = std::max(own[m_graph.ops[op].stream], op + 1);
    }

private:
    static constexpr std::size_t kMostStreams = 16;  // beyond, the table costs more than the waits that it saves
    const StepGraph& m_graph;
    std::size_t m_streams;
    std::vector<std::uint32_t> m_latest;  // by op and stream
    std::vector<std::uint32_t> m_all;
};

void reverse(Wiring& wiring, std::size_t ops) {
    wiring.nextBegin.assign(ops + 1, 0);
    for (const std::uint32_t from : wiring.waits) ++wiring.nextBegin[from + 1];
    for (std::size_t i = 0; i < ops; ++i) wiring.nextBegin[i + 1] += wiring.nextBegin[i];
    wiring.next.resize(wiring.waits.size());
    std::vector<std::uint32_t> fill(wiring.nextBegin.begin(), wiring.nextBegin.end() - 1);
    for (std::uint32_t op = 0; op < ops; ++op)
        for (const std::uint32_t from : wiring.waitsOf(op)) wiring.next[fill[from]++] = op;
}

}  // namespace

core::Result<Wiring> wire(const StepGraph& graph) {
    SHARDSCOPE_TRY(core::checkReferences(graph));
    SHARDSCOPE_TRY(core::checkEdges(graph));
    const std::size_t ops = graph.ops.size();
    Wiring wiring;
    wiring.role.resize(ops);
    wiring.queueBefore.assign(ops, kNoOp);
    wiring.queueAfter.assign(ops, kNoOp);
    wiring.waitBegin.reserve(ops + 1);
    wiring.waits.reserve(graph.edges.size() + ops);

    std::vector<std::uint32_t> communicators;
    for (const core::Group& group : graph.groups) communicators.push_back(group.communicator);
    std::sort(communicators.begin(), communicators.end());
    communicators.erase(std::unique(communicators.begin(), communicators.end()), communicators.end());
    const auto queueOf = [&](const Op& op) {
        const std::uint32_t communicator = graph.groups[op.group.index()].communicator;
        return std::lower_bound(communicators.begin(), communicators.end(), communicator) - communicators.begin();
    };
    std::vector<std::uint32_t> lastOfStream, lastOfQueue;
    std::vector<std::uint32_t> latest(graph.streams.size(), kNoOp);  // by stream, of one op's sources
    std::vector<std::uint32_t> waits;
    Ended ended(graph);
    std::vector<std::uint8_t> touched;  // streams that have such a source
    for (const core::RankClass& rankClass : graph.classes) {
        lastOfStream.assign(graph.streams.size(), kNoOp);
        lastOfQueue.assign(communicators.size(), kNoOp);
        for (std::uint32_t i = rankClass.opBegin; i < rankClass.opEnd; ++i) {
            const Op& op = graph.ops[i];
            wiring.role[i] = roleOf(graph, op);
            wiring.waitBegin.push_back(static_cast<std::uint32_t>(wiring.waits.size()));
            const auto add = [&](std::uint32_t from) {
                const std::uint8_t stream = graph.ops[from].stream;
                // Ids grow along a stream, so the largest id of a stream ends last.
                if (latest[stream] == kNoOp) touched.push_back(stream);
                if (latest[stream] == kNoOp || latest[stream] < from) latest[stream] = from;
            };
            if (lastOfStream[op.stream] != kNoOp) add(lastOfStream[op.stream]);
            for (const core::Edge& edge : graph.waitsOf(core::OpId(i)))
                if (edge.reason != core::EdgeReason::Communicator) add(edge.from.value);
            waits.clear();
            for (const std::uint8_t stream : touched) {
                waits.push_back(latest[stream]);
                latest[stream] = kNoOp;
            }
            touched.clear();
            ended.reduce(waits);
            wiring.waits.insert(wiring.waits.end(), waits.begin(), waits.end());
            lastOfStream[op.stream] = i;
            if (wiring.role[i] != OpRole::Transfer) {
                ended.add(i, waits, kNoOp);
                continue;
            }
            std::uint32_t& last = lastOfQueue[static_cast<std::size_t>(queueOf(op))];
            wiring.queueBefore[i] = last;
            ended.add(i, waits, last);
            if (last != kNoOp) wiring.queueAfter[last] = i;
            last = i;
        }
    }
    wiring.waitBegin.push_back(static_cast<std::uint32_t>(wiring.waits.size()));
    reverse(wiring, ops);
    return wiring;
}

}  // namespace shardscope::sim
