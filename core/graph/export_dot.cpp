#include <fmt/format.h>

#include <map>
#include <vector>

#include "core/graph/export.h"

namespace shardscope::core {

namespace {

std::string escaped(const std::string& text) {
    std::string out;
    for (char c : text) {
        if (c == '"' || c == '\\') out += '\\';
        out += c;
    }
    return out;
}

const char* fillOf(const Op& op) {
    switch (op.kind) {
        case OpKind::Compute: return op.kernels.backward ? "#f4c7a1" : "#bcd7f0";
        case OpKind::OptimizerStep: return "#d9d2e9";
        case OpKind::AllGather:
        case OpKind::ReduceScatter:
        case OpKind::AllReduce:
        case OpKind::Send:
        case OpKind::Receive: return "#c9e4c5";
        default: return "#eeeeee";
    }
}

const char* styleOf(EdgeReason reason) {
    switch (reason) {
        case EdgeReason::Data: return "color=black";
        case EdgeReason::StreamOrder: return "color=gray70";
        case EdgeReason::EventWait: return "color=steelblue, style=dashed";
        case EdgeReason::MemoryLimit: return "color=firebrick, style=dashed";
        case EdgeReason::Communicator: return "style=invis";
    }
    return "";
}

}  // namespace

std::string toDot(const StepGraph& graph, const Model& model) {
    std::string out =
        fmt::format("digraph step {{\n  label=\"{}: {}\";\n  node [shape=box, style=filled, fontsize=10];\n",
                    escaped(model.name), escaped(graph.plan.name));
    for (std::size_t c = 0; c < graph.classes.size(); ++c) {
        const RankClass& rankClass = graph.classes[c];
        out += fmt::format("  subgraph cluster_{} {{\n    label=\"{} x {}\";\n", c, escaped(rankClass.name),
                           rankClass.multiplicity);
        for (std::uint32_t i = rankClass.opBegin; i < rankClass.opEnd; ++i) {
            const Op& op = graph.ops[i];
            out += fmt::format("    o{} [label=\"{}\", fillcolor=\"{}\", group=s{}_{}];\n", i,
                               escaped(labelOf(graph, model, OpId(i))), fillOf(op), c, op.stream);
        }
        out += "  }\n";
    }
    std::map<std::uint32_t, std::uint32_t> open;  // match -> op
    for (std::uint32_t i = 0; i < graph.ops.size(); ++i) {
        for (const Edge& edge : graph.waitsOf(OpId(i)))
            if (edge.reason != EdgeReason::Communicator)
                out += fmt::format("  o{} -> o{} [{}];\n", edge.from.value, i, styleOf(edge.reason));
        if (graph.ops[i].match == 0xffffffffu) continue;
        const auto [other, added] = open.emplace(graph.ops[i].match, i);
        if (!added)
            out += fmt::format("  o{} -> o{} [dir=none, color=darkgreen, penwidth=2, constraint=false];\n",
                               other->second, i);
    }
    return out + "}\n";
}

}  // namespace shardscope::core
