// graph: the StepGraph as text, JSON or for Graphviz.

#include <fmt/format.h>

#include <array>
#include <map>

#include "cli/command/command.h"
#include "cli/face/load.h"
#include "cli/face/text_table.h"
#include "core/graph/build.h"

namespace shardscope::cli {
namespace {

using core::Document;
using core::Result;
using core::StepGraph;

/// Quotes, backslashes and line ends of a name inside a quoted string of Graphviz.
std::string quoted(const std::string& text) {
    std::string out = "\"";
    for (const char c : text) {
        if (c == '"' || c == '\\') out += '\\';
        out += c == '\n' ? ' ' : c;
    }
    return out + "\"";
}

std::string dotOf(const StepGraph& graph, const core::Model& model) {
    const std::array<const char*, 5> styles{"color=\"#222222\"", "color=\"#bbbbbb\"", "color=\"#c07000\" style=dashed",
                                            "color=\"#b03a2e\" style=bold", "color=\"#6a4fa3\" style=dotted"};
    std::string out = "digraph step {\n  rankdir=LR;\n  node [shape=box fontname=\"DejaVu Sans\" fontsize=10];\n";
    for (std::size_t c = 0; c < graph.classes.size(); ++c) {
        const core::RankClass& rankClass = graph.classes[c];
        out += fmt::format("  subgraph cluster_{} {{\n    label={};\n", c, quoted(rankClass.name));
        for (std::size_t stream = 0; stream < graph.streams.size(); ++stream) {
            std::string nodes;
            for (std::uint32_t op = rankClass.opBegin; op < rankClass.opEnd; ++op)
                if (graph.ops[op].stream == stream)
                    nodes += fmt::format("      op{} [label={}];\n", op,
                                         quoted(core::labelOf(graph, model, core::OpId(op))));
            if (nodes.empty()) continue;
            out += fmt::format("    subgraph cluster_{}_{} {{\n      label={};\n{}    }}\n", c, stream,
                               quoted(graph.streams[stream].name), nodes);
        }
        out += "  }\n";
    }
    for (std::uint32_t op = 0; op < graph.ops.size(); ++op)
        for (const core::Edge& edge : graph.waitsOf(core::OpId(op)))
            out += fmt::format("  op{} -> op{} [{} tooltip={}];\n", edge.from.value, op,
                               styles[static_cast<std::size_t>(edge.reason) % styles.size()],
                               quoted(std::string(core::nameOf(edge.reason))));
    std::map<std::uint32_t, std::uint32_t> sends;
    for (std::uint32_t op = 0; op < graph.ops.size(); ++op) {
        if (graph.ops[op].kind == core::OpKind::Send) sends[graph.ops[op].match] = op;
    }
    for (std::uint32_t op = 0; op < graph.ops.size(); ++op) {
        const auto sent = graph.ops[op].kind == core::OpKind::Receive ? sends.find(graph.ops[op].match) : sends.end();
        if (sent != sends.end())
            out +=
                fmt::format("  op{} -> op{} [color=\"#2f6db3\" style=bold tooltip=\"message\"];\n", sent->second, op);
    }
    return out + "}\n";
}

Document jsonOf(const StepGraph& graph, const core::Model& model) {
    const auto of = [](std::int64_t n) { return Document::of(n); };
    const auto word = [](std::string_view text) { return Document::of(std::string(text)); };
    Document out = Document::table();
    out.set("schema", Document::of("shardscope.graph"));
    out.set("version", of(1));
    out.set("model", Document::of(model.name));
    out.set("hash", Document::of(fmt::format("{:016x}", graph.hash)));
    Document streams = Document::list(), groups = Document::list(), units = Document::list(),
             classes = Document::list(), ops = Document::list();
    for (const core::Stream& stream : graph.streams) streams.items.push_back(Document::of(stream.name));
    for (const core::Group& group : graph.groups) {
        Document row = Document::table();
        row.set("name", Document::of(group.name));
        row.set("size", of(group.size));
        row.set("stride", of(group.stride));
        row.set("communicator", of(group.communicator));
        groups.items.push_back(std::move(row));
    }
    for (const core::Unit& unit : graph.units) {
        Document row = Document::table(), modules = Document::list(), parameters = Document::list();
        for (const core::ModuleId id : unit.modules)
            modules.items.push_back(Document::of(model.modules[id.index()].name));
        for (const core::ParameterId id : unit.parameters)
            parameters.items.push_back(Document::of(model.parameters[id.index()].name));
        row.set("name", Document::of(unit.name));
        row.set("root", Document::of(unit.isRoot));
        row.set("elements", of(unit.elements));
        row.set("padded_elements", of(unit.paddedElements));
        row.set("modules", std::move(modules));
        row.set("parameters", std::move(parameters));
        units.items.push_back(std::move(row));
    }
    for (const core::RankClass& rankClass : graph.classes) {
        Document row = Document::table();
        row.set("name", Document::of(rankClass.name));
        row.set("stage", of(rankClass.stage));
        row.set("ranks", of(rankClass.multiplicity));
        row.set("op_begin", of(rankClass.opBegin));
        row.set("op_end", of(rankClass.opEnd));
        classes.items.push_back(std::move(row));
    }
    for (std::uint32_t id = 0; id < graph.ops.size(); ++id) {
        const core::Op& op = graph.ops[id];
        Document row = Document::table(), waits = Document::list();
        row.members = {{"id", of(id)},
                       {"label", Document::of(core::labelOf(graph, model, core::OpId(id)))},
                       {"kind", word(core::nameOf(op.kind))},
                       {"phase", word(core::nameOf(op.phase))},
                       {"stream", of(op.stream)},
                       {"class", of(static_cast<std::int64_t>(op.rankClass.index()))},
                       {"micro_batch", of(op.microBatch)},
                       {"unit", of(op.unit.valid() ? static_cast<std::int64_t>(op.unit.index()) : -1)},
                       {"group", of(op.group.valid() ? static_cast<std::int64_t>(op.group.index()) : -1)},
                       {"bytes", of(op.bytes.value)},
                       {"dtype", word(core::nameOf(op.dtype))},
                       {"kernels", of(op.kernels.count)}};
        if (op.kind == core::OpKind::Send || op.kind == core::OpKind::Receive)
            row.members.emplace_back("match", of(op.match));
        for (const core::Edge& edge : graph.waitsOf(core::OpId(id))) {
            Document wait = Document::table();
            wait.members = {{"op", of(edge.from.value)}, {"reason", word(core::nameOf(edge.reason))}};
            waits.items.push_back(std::move(wait));
        }
        row.members.emplace_back("waits", std::move(waits));
        ops.items.push_back(std::move(row));
    }
    out.set("streams", std::move(streams));
    out.set("groups", std::move(groups));
    out.set("units", std::move(units));
    out.set("classes", std::move(classes));
    out.set("ops", std::move(ops));
    return out;
}

std::string summaryOf(const StepGraph& graph, const core::Model& model) {
    std::string out = fmt::format("{}, {}: {} ops, {} edges, {} units, hash {:016x}\n\n", model.name, graph.plan.name,
                                  graph.ops.size(), graph.edges.size(), graph.units.size(), graph.hash);
    TextTable table({"ranks", "stream", "ops", "what"}, {Align::Left, Align::Left, Align::Right, Align::Left});
    for (const core::RankClass& rankClass : graph.classes) {
        bool first = true;
        for (std::size_t stream = 0; stream < graph.streams.size(); ++stream) {
            std::map<std::string_view, int> kinds;
            int count = 0;
            for (const core::Op& op : graph.opsOf(rankClass)) {
                if (op.stream != stream) continue;
                ++kinds[core::nameOf(op.kind)];
                ++count;
            }
            if (count == 0) continue;
            std::string what;
            for (const auto& [kind, n] : kinds) what += fmt::format("{}{} {}", what.empty() ? "" : ", ", n, kind);
            table.row({first ? fmt::format("{} x{}", rankClass.name, rankClass.multiplicity) : "",
                       graph.streams[stream].name, std::to_string(count), what});
            first = false;
        }
    }
    return out + table.text(0) + "\n--dot prints it for Graphviz, --json with every op and what it waits for.\n";
}

}  // namespace

Result<void> runGraph(const Arguments& arguments, const Terminal&) {
    if (arguments.dot && arguments.json)
        return core::fail(core::ErrorCode::Usage, "--dot and --json exclude each other", "graph");
    SHARDSCOPE_ASSIGN(const Loaded loaded, load(arguments.input, arguments.set));
    std::vector<std::string> strategies;
    if (!arguments.strategies.empty()) strategies.push_back(arguments.strategies);
    SHARDSCOPE_ASSIGN(const core::Resolved resolved, core::resolve(loaded.scenario, loaded.inputs, strategies));
    const core::Case& one = resolved.cases.front();
    if (one.plan.schedule == core::StageSchedule::Naive && one.plan.split == core::StageSplit::ByTime)
        return core::fail(
            core::ErrorCode::Unsupported, "a split by time depends on the hardware and has no graph of its own",
            loaded.scenario.placeOf("parallelism.pipeline_parallel_split"), "choose layers or parameters");
    SHARDSCOPE_ASSIGN(const core::Model model, core::buildModel(resolved.model, one.workload));
    SHARDSCOPE_ASSIGN(const StepGraph graph, core::buildStepGraph(model, one.plan));
    if (arguments.dot) return print(dotOf(graph, model));
    if (arguments.json) return print(core::writeJson(jsonOf(graph, model)) + "\n");
    return print(summaryOf(graph, model));
}

}  // namespace shardscope::cli
