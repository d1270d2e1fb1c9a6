#include "core/graph/graph_builder.h"

#include <algorithm>
#include <cassert>

#include "core/graph/graph_checks.h"

namespace shardscope::core {

GraphBuilder::GraphBuilder(Plan plan) {
    m_graph.plan = std::move(plan);
}

std::uint8_t GraphBuilder::addStream(StreamKind kind, std::string name) {
    assert(m_graph.streams.size() < 255);
    if (name.empty()) name = nameOf(kind);
    m_graph.streams.push_back({std::move(name), kind});
    m_streams.emplace_back();
    return static_cast<std::uint8_t>(m_graph.streams.size() - 1);
}

std::uint8_t GraphBuilder::streamNamed(StreamKind kind, std::string name) {
    for (std::size_t s = 0; s < m_graph.streams.size(); ++s)
        if (m_graph.streams[s].name == name) return static_cast<std::uint8_t>(s);
    return addStream(kind, std::move(name));
}

GroupId GraphBuilder::addGroup(Group group) {
    m_graph.groups.push_back(std::move(group));
    return GroupId(m_graph.groups.size() - 1);
}

UnitId GraphBuilder::addUnit(Unit unit) {
    m_graph.units.push_back(std::move(unit));
    return UnitId(m_graph.units.size() - 1);
}

void GraphBuilder::closeClass() {
    if (m_graph.classes.empty()) return;
    m_graph.classes.back().opEnd = static_cast<std::uint32_t>(m_graph.ops.size());
    m_graph.classes.back().actionEnd = static_cast<std::uint32_t>(m_graph.actions.size());
}

ClassId GraphBuilder::beginClass(RankClass rankClass) {
    closeClass();
    rankClass.opBegin = rankClass.opEnd = static_cast<std::uint32_t>(m_graph.ops.size());
    rankClass.actionBegin = rankClass.actionEnd = static_cast<std::uint32_t>(m_graph.actions.size());
    m_graph.classes.push_back(std::move(rankClass));
    for (StreamState& stream : m_streams) stream = {};
    return ClassId(m_graph.classes.size() - 1);
}

OpId GraphBuilder::addOp(Op op) {
    assert(!m_graph.classes.empty() && "begin a class before its first op");
    assert(op.stream < m_streams.size());
    op.rankClass = ClassId(m_graph.classes.size() - 1);
    StreamState& stream = m_streams[op.stream];
    const OpId id(m_graph.ops.size());
    m_graph.ops.push_back(op);
    for (const Edge& edge : stream.pending) m_edges.push_back({edge.from, id, edge.reason});
    stream.pending.clear();
    stream.last = id;
    HostAction action;
    action.kind = HostActionKind::Launch;
    action.op = id;
    action.unit = op.unit;
    m_graph.actions.push_back(action);
    return id;
}

void GraphBuilder::waitOp(std::uint8_t stream, OpId op, EdgeReason reason) {
    if (!op.valid()) return;
    assert(op.index() < m_graph.ops.size());
    const std::uint8_t other = m_graph.ops[op.index()].stream;
    StreamState& state = m_streams[stream];
    if (other == stream) return;
    if (state.waitedFor.size() < m_streams.size()) state.waitedFor.resize(m_streams.size());
    OpId& latest = state.waitedFor[other];
    if (latest.valid() && latest.value >= op.value) return;
    latest = op;
    state.pending.push_back({op, reason});
}

GraphBuilder::Moment GraphBuilder::record(std::uint8_t stream) const {
    const StreamState& state = m_streams[stream];
    Moment moment;
    if (state.last.valid()) moment.ops.push_back(state.last);
    // The event completes only after the stream's waits, also those that no op carries yet.
    for (const Edge& edge : state.pending) moment.ops.push_back(edge.from);
    return moment;
}

void GraphBuilder::waitMoment(std::uint8_t stream, const Moment& moment, EdgeReason reason) {
    for (OpId op : moment.ops) waitOp(stream, op, reason);
}

void GraphBuilder::waitStream(std::uint8_t stream, std::uint8_t other, EdgeReason reason) {
    waitMoment(stream, record(other), reason);
}

void GraphBuilder::addEdge(OpId from, OpId to, EdgeReason reason) {
    m_edges.push_back({from, to, reason});
}

BlockId GraphBuilder::addPersistent(Block block) {
    assert(!m_graph.classes.empty());
    block.rankClass = ClassId(m_graph.classes.size() - 1);
    block.persistent = true;
    m_graph.blocks.push_back(block);
    return BlockId(m_graph.blocks.size() - 1);
}

BlockId GraphBuilder::addFound(Block block) {
    const BlockId id = addPersistent(block);
    m_graph.blocks.back().persistent = false;
    m_graph.blocks.back().found = true;
    return id;
}

BlockId GraphBuilder::allocate(Block block) {
    const BlockId id = addPersistent(block);
    m_graph.blocks.back().persistent = false;
    HostAction action;
    action.kind = HostActionKind::Allocate;
    action.block = id;
    action.unit = block.unit;
    m_graph.actions.push_back(action);
    return id;
}

BlockId GraphBuilder::allocate(Block block, std::span<const StorageRef> storages) {
    block.storageBegin = static_cast<std::uint32_t>(m_graph.blockStorages.size());
    block.storageCount = static_cast<std::uint32_t>(storages.size());
    m_graph.blockStorages.insert(m_graph.blockStorages.end(), storages.begin(), storages.end());
    return allocate(block);
}

void GraphBuilder::release(BlockId block) {
    HostAction action;
    action.kind = HostActionKind::Release;
    action.block = block;
    action.unit = m_graph.blocks[block.index()].unit;
    m_graph.actions.push_back(action);
}

void GraphBuilder::use(BlockId block, OpId op) {
    Block& used = m_graph.blocks[block.index()];
    if (!used.firstUse.valid()) used.firstUse = op;
    used.lastUse = op;
}

void GraphBuilder::mark(HostAction action) {
    action.kind = HostActionKind::Mark;
    m_graph.actions.push_back(action);
}

void GraphBuilder::mark(Mark mark, UnitId unit) {
    HostAction action;
    action.mark = mark;
    action.unit = unit;
    this->mark(action);
}

void GraphBuilder::markModule(Mark mark, ModuleId module) {
    HostAction action;
    action.mark = mark;
    action.module = module;
    this->mark(action);
}

// The edges of each op: its stream's previous op, what it was told to wait for, its communicator's previous op. An op
// that is reached twice keeps the reason that says most: the policy's own before stream order before communicator
// order.
void GraphBuilder::assembleEdges() {
    StepGraph& graph = m_graph;
    const auto byTarget = [](const PendingEdge& a, const PendingEdge& b) { return a.to < b.to; };
    if (!std::is_sorted(m_edges.begin(), m_edges.end(), byTarget))
        std::stable_sort(m_edges.begin(), m_edges.end(), byTarget);
    graph.edges.clear();
    graph.edges.reserve(m_edges.size() + 2 * graph.ops.size());
    graph.edgeBegin.assign(1, 0);
    graph.edgeBegin.reserve(graph.ops.size() + 1);

    std::uint32_t communicators = 0;
    for (const Group& group : graph.groups) communicators = std::max(communicators, group.communicator + 1);
    std::vector<OpId> lastOfStream(graph.streams.size()), lastOfCommunicator(communicators);
    std::size_t next = 0;
    ClassId current;
    for (std::size_t i = 0; i < graph.ops.size(); ++i) {
        const Op& op = graph.ops[i];
        if (op.rankClass != current) {
            current = op.rankClass;
            std::fill(lastOfStream.begin(), lastOfStream.end(), OpId());
            std::fill(lastOfCommunicator.begin(), lastOfCommunicator.end(), OpId());
        }
        const std::size_t begin = graph.edges.size();
        const auto add = [&](OpId from, EdgeReason reason) {
            for (std::size_t e = begin; e < graph.edges.size(); ++e)
                if (graph.edges[e].from == from) return;
            graph.edges.push_back({from, reason});
        };
        for (; next < m_edges.size() && m_edges[next].to.index() == i; ++next)
            add(m_edges[next].from, m_edges[next].reason);
        OpId& before = lastOfStream[op.stream];
        if (before.valid()) add(before, EdgeReason::StreamOrder);
        before = OpId(i);
        // Copies name the group that they work for, but only transfers stand in its queue.
        if (isTransfer(op.kind)) {
            OpId& last = lastOfCommunicator[graph.groups[op.group.index()].communicator];
            if (last.valid()) add(last, EdgeReason::Communicator);
            last = OpId(i);
        }
        graph.edgeBegin.push_back(static_cast<std::uint32_t>(graph.edges.size()));
    }
}

Result<StepGraph> GraphBuilder::freeze() {
    closeClass();
    SHARDSCOPE_TRY(checkReferences(m_graph));
    for (const PendingEdge& edge : m_edges) {
        if (edge.from.index() < m_graph.ops.size() && edge.to.index() < m_graph.ops.size() &&
            m_graph.ops[edge.from.index()].rankClass == m_graph.ops[edge.to.index()].rankClass)
            continue;
        return fail(ErrorCode::Internal, "an edge leads to an op that does not exist in its class", "step graph");
    }
    assembleEdges();
    SHARDSCOPE_TRY(checkBlocks(m_graph));
    SHARDSCOPE_ASSIGN(const TransferPairs pairs, pairTransfers(m_graph));
    SHARDSCOPE_TRY(checkAcyclic(m_graph, pairs));
    m_graph.hash = hashOf(m_graph);
    StepGraph frozen = std::move(m_graph);
    *this = GraphBuilder();
    return frozen;
}

}  // namespace shardscope::core
