#include "core/graph/graph_checks.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/graph/compressed_sparse_row_graph.hpp>
#include <boost/graph/depth_first_search.hpp>

namespace shardscope::core {

namespace {

constexpr const char* kWhere = "step graph";

template <class Tag, class Table>
bool outside(Id<Tag> id, const Table& table) {
    return id.valid() && id.index() >= table.size();
}

Result<void> checkClass(const StepGraph& graph, const RankClass& c) {
    std::uint32_t next = c.opBegin;
    for (std::uint32_t a = c.actionBegin; a < c.actionEnd; ++a) {
        const HostAction& action = graph.actions[a];
        if (outside(action.unit, graph.units) || outside(action.block, graph.blocks))
            return fail(ErrorCode::Internal, fmt::format("host action {} names a unit or block that does not exist", a),
                        kWhere);
        if (action.kind != HostActionKind::Launch) continue;
        if (action.op.value != next)
            return fail(
                ErrorCode::Internal,
                fmt::format("host action {} of {} launches op {}, expected op {}", a, c.name, action.op.value, next),
                kWhere);
        ++next;
    }
    if (next != c.opEnd)
        return fail(ErrorCode::Internal,
                    fmt::format("{} launches {} of its {} ops", c.name, next - c.opBegin, c.opEnd - c.opBegin), kWhere);
    return {};
}

}  // namespace

std::string describeOp(const StepGraph& graph, OpId op) {
    if (op.index() >= graph.ops.size()) return fmt::format("op {}", op.value);
    const Op& o = graph.ops[op.index()];
    std::string text = fmt::format("op {} ({}", op.value, nameOf(o.kind));
    if (o.unit.valid() && o.unit.index() < graph.units.size()) text += ", unit " + graph.units[o.unit.index()].name;
    if (graph.classes.size() > 1 && o.rankClass.index() < graph.classes.size())
        text += ", " + graph.classes[o.rankClass.index()].name;
    return text + ")";
}

Result<void> checkReferences(const StepGraph& graph) {
    std::uint32_t op = 0, action = 0;
    for (const RankClass& c : graph.classes) {
        if (c.opBegin != op || c.actionBegin != action || c.opEnd < c.opBegin || c.opEnd > graph.ops.size() ||
            c.actionEnd < c.actionBegin || c.actionEnd > graph.actions.size())
            return fail(ErrorCode::Internal, fmt::format("ops or host actions of {} are out of place", c.name), kWhere);
        op = c.opEnd;
        action = c.actionEnd;
    }
    if (op != graph.ops.size() || action != graph.actions.size())
        return fail(ErrorCode::Internal, "ops or host actions outside every class", kWhere);
    for (std::size_t i = 0; i < graph.ops.size(); ++i) {
        const Op& o = graph.ops[i];
        if (o.rankClass.index() >= graph.classes.size() || i < graph.classes[o.rankClass.index()].opBegin ||
            i >= graph.classes[o.rankClass.index()].opEnd || o.stream >= graph.streams.size() ||
            outside(o.unit, graph.units) || outside(o.group, graph.groups))
            return fail(
                ErrorCode::Internal,
                fmt::format("{} names a class, stream, unit or group that does not exist", describeOp(graph, OpId(i))),
                kWhere);
        if (isTransfer(o.kind) && !o.group.valid())
            return fail(ErrorCode::Internal, fmt::format("{} has no group", describeOp(graph, OpId(i))), kWhere);
    }
    for (const RankClass& c : graph.classes) SHARDSCOPE_TRY(checkClass(graph, c));
    return {};
}

Result<void> checkEdges(const StepGraph& graph) {
    if (graph.edgeBegin.size() != graph.ops.size() + 1 || graph.edgeBegin.front() != 0 ||
        graph.edgeBegin.back() != graph.edges.size() || !std::is_sorted(graph.edgeBegin.begin(), graph.edgeBegin.end()))
        return fail(ErrorCode::Internal, "the edge table does not fit the ops", kWhere);
    for (std::size_t i = 0; i < graph.ops.size(); ++i)
        for (const Edge& edge : graph.waitsOf(OpId(i)))
            if (edge.from.index() >= graph.ops.size() ||
                graph.ops[edge.from.index()].rankClass != graph.ops[i].rankClass)
                return fail(ErrorCode::Internal,
                            describeOp(graph, OpId(i)) + " waits for an op that does not exist in its class", kWhere);
    return {};
}

Result<void> checkBlocks(const StepGraph& graph) {
    enum class State : std::uint8_t { Absent, Allocated, Released };
    std::vector<State> states(graph.blocks.size(), State::Absent);
    const auto describeBlock = [&](BlockId id) {
        const Block& b = graph.blocks[id.index()];
        return fmt::format("block {} ({}{}{})", id.value, nameOf(b.category), b.unit.valid() ? ", unit " : "",
                           b.unit.valid() && !outside(b.unit, graph.units) ? graph.units[b.unit.index()].name : "");
    };
    for (const RankClass& c : graph.classes) {
        std::uint32_t launched = c.opBegin;
        for (const HostAction& action : graph.actionsOf(c)) {
            if (action.kind == HostActionKind::Launch) ++launched;
            if (action.kind != HostActionKind::Allocate && action.kind != HostActionKind::Release) continue;
            if (!action.block.valid()) return fail(ErrorCode::Internal, "an allocation names no block", kWhere);
            State& state = states[action.block.index()];
            const Block& block = graph.blocks[action.block.index()];
            if (block.persistent)
                return fail(ErrorCode::Internal,
                            describeBlock(action.block) + " is persistent, yet allocated or released", kWhere);
            if (action.kind == HostActionKind::Allocate) {
                if (block.found || state != State::Absent)
                    return fail(ErrorCode::Internal, describeBlock(action.block) + " is allocated twice", kWhere);
                state = State::Allocated;
                continue;
            }
            if (block.found && state == State::Absent) state = State::Allocated;
            if (state != State::Allocated)
                return fail(ErrorCode::Internal,
                            describeBlock(action.block) +
                                (state == State::Absent ? " is released before it is allocated" : " is released twice"),
                            kWhere);
            if (!block.firstUse.valid() || block.firstUse.value >= launched)
                return fail(ErrorCode::Internal, describeBlock(action.block) + " is released before its first use",
                            kWhere);
            state = State::Released;
        }
    }
    for (std::size_t i = 0; i < graph.blocks.size(); ++i) {
        const Block& block = graph.blocks[i];
        if (outside(block.firstUse, graph.ops) || outside(block.lastUse, graph.ops) ||
            outside(block.unit, graph.units) || outside(block.rankClass, graph.classes) || block.bytes.value < 0 ||
            std::size_t{block.storageBegin} + block.storageCount > graph.blockStorages.size())
            return fail(ErrorCode::Internal,
                        describeBlock(BlockId(i)) + " names an op, unit or class that does not exist", kWhere);
        if (block.persistent || states[i] == State::Released) continue;
        if (block.left && (states[i] == State::Allocated || block.found)) continue;
        return fail(
            ErrorCode::Internal,
            describeBlock(BlockId(i)) + (states[i] == State::Absent ? " is never allocated" : " is never released"),
            kWhere);
    }
    return {};
}

Result<TransferPairs> pairTransfers(const StepGraph& graph) {
    TransferPairs pairs;
    pairs.vertexOf.resize(graph.ops.size());
    for (std::size_t i = 0; i < graph.ops.size(); ++i) pairs.vertexOf[i] = static_cast<std::uint32_t>(i);
    pairs.vertices = static_cast<std::uint32_t>(graph.ops.size());
    if (graph.classes.size() < 2) {
        for (std::size_t i = 0; i < graph.ops.size(); ++i)
            if (graph.ops[i].kind == OpKind::Send || graph.ops[i].kind == OpKind::Receive)
                return fail(ErrorCode::Internal, describeOp(graph, OpId(i)) + " has no other end", kWhere);
        return pairs;
    }

    std::uint32_t communicators = 0;
    for (const Group& group : graph.groups) communicators = std::max(communicators, group.communicator + 1);
    std::vector<std::vector<std::vector<OpId>>> sequences(communicators);  // communicator, class in order, op
    std::vector<ClassId> lastClass(communicators);
    for (std::size_t i = 0; i < graph.ops.size(); ++i) {
        const Op& op = graph.ops[i];
        if (!isTransfer(op.kind)) continue;
        const std::uint32_t communicator = graph.groups[op.group.index()].communicator;
        if (lastClass[communicator] != op.rankClass) {
            sequences[communicator].emplace_back();
            lastClass[communicator] = op.rankClass;
        }
        sequences[communicator].back().push_back(OpId(i));
    }
    for (const auto& classes : sequences) {
        if (classes.empty()) continue;
        const std::vector<OpId>& first = classes.front();
        for (std::size_t k = 0; k < first.size(); ++k) {
            const OpKind kind = graph.ops[first[k].index()].kind;
            if ((kind == OpKind::Send || kind == OpKind::Receive) && classes.size() != 2)
                return fail(ErrorCode::Internal,
                            describeOp(graph, first[k]) + fmt::format(" has {} ends, expected 2", classes.size()),
                            kWhere);
        }
        for (std::size_t c = 1; c < classes.size(); ++c) {
            const std::vector<OpId>& other = classes[c];
            for (std::size_t k = 0; k < std::min(first.size(), other.size()); ++k) {
                const Op& a = graph.ops[first[k].index()];
                const Op& b = graph.ops[other[k].index()];
                const bool pointToPoint = (a.kind == OpKind::Send && b.kind == OpKind::Receive) ||
                                          (a.kind == OpKind::Receive && b.kind == OpKind::Send);
                const bool agree =
                    a.bytes == b.bytes && a.dtype == b.dtype && a.group == b.group && a.match == b.match &&
                    (pointToPoint || (a.kind == b.kind && a.kind != OpKind::Send && a.kind != OpKind::Receive));
                if (!agree)
                    return fail(
                        ErrorCode::Internal,
                        fmt::format("transfer {} of one communicator is {} of {} bytes on one side, {} of {} bytes on "
                                    "the other",
                                    k, describeOp(graph, first[k]), a.bytes.value, describeOp(graph, other[k]),
                                    b.bytes.value),
                        kWhere);
                pairs.vertexOf[other[k].index()] = first[k].value;
            }
            if (first.size() != other.size()) {
                const OpId extra = first.size() > other.size() ? first[other.size()] : other[first.size()];
                return fail(ErrorCode::Internal,
                            describeOp(graph, extra) + " is issued by one class and not by its peer", kWhere);
            }
        }
    }
    return pairs;
}

Result<void> checkAcyclic(const StepGraph& graph, const TransferPairs& pairs) {
    using Edges = std::vector<std::pair<std::uint32_t, std::uint32_t>>;
    using Csr = boost::compressed_sparse_row_graph<boost::directedS, boost::no_property, boost::no_property,
                                                   boost::no_property, std::uint32_t, std::uint32_t>;
    // Edges point from an op to what it waits for, which is the order in which they are stored: no sort for one class.
    Edges edges;
    edges.reserve(graph.edges.size());
    for (std::size_t i = 0; i < graph.ops.size(); ++i)
        for (const Edge& edge : graph.waitsOf(OpId(i)))
            edges.emplace_back(pairs.vertexOf[i], pairs.vertexOf[edge.from.index()]);
    if (!std::is_sorted(edges.begin(), edges.end(), [](auto& a, auto& b) { return a.first < b.first; }))
        std::sort(edges.begin(), edges.end());

    struct FindCycle : boost::default_dfs_visitor {
        explicit FindCycle(std::pair<std::uint32_t, std::uint32_t>& edge) : found(edge) {}
        void back_edge(Csr::edge_descriptor e, const Csr& g) const { found = {source(e, g), target(e, g)}; }
        std::pair<std::uint32_t, std::uint32_t>& found;
    };
    const Csr csr(boost::edges_are_sorted, edges.begin(), edges.end(), pairs.vertices);
    std::pair<std::uint32_t, std::uint32_t> cycle{OpId::kNone, OpId::kNone};
    std::vector<boost::default_color_type> colors(pairs.vertices, boost::white_color);
    const auto colorMap = boost::make_iterator_property_map(colors.begin(), boost::get(boost::vertex_index, csr));
    boost::depth_first_search(csr, FindCycle(cycle), colorMap);
    if (cycle.first == OpId::kNone) return {};
    return fail(ErrorCode::Internal,
                fmt::format("{} and {} wait for each other", describeOp(graph, OpId(cycle.first)),
                            describeOp(graph, OpId(cycle.second))),
                kWhere);
}

}  // namespace shardscope::core
