// graph: the StepGraph as text, JSON or for Graphviz.

#include <fmt/format.h>

#include <map>

#include "cli/command/command.h"
#include "cli/face/layer_times.h"
#include "cli/face/load.h"
#include "cli/face/text_table.h"
#include "cli/face/words.h"
#include "core/base/printable.h"
#include "core/graph/build.h"
#include "core/graph/export.h"

namespace shardscope::cli {
namespace {

using core::Result;
using core::StepGraph;

std::string summaryOf(const StepGraph& graph, const core::Model& model, const std::vector<std::string>& unused) {
    std::string out =
        fmt::format("{}, {}: {} ops, {} edges, {} units, hash {:016x}\n\n", core::printable(model.name),
                    graph.plan.name, graph.ops.size(), graph.edges.size(), graph.units.size(), graph.hash);
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
    out += table.text(0);
    for (const std::string& key : unused) out += unusedInWords(key);
    for (const std::string& caveat : model.caveats) out += "  rests on: " + core::printable(caveat) + "\n";
    return out + "\n--dot prints it for Graphviz, --json with every op and what it waits for.\n";
}

}  // namespace

Result<void> runGraph(const Arguments& arguments, const TextStyle&) {
    if (arguments.dot && arguments.json)
        return core::fail(core::ErrorCode::Usage, "--dot and --json exclude each other", "graph",
                          "leave one of them out");
    SHARDSCOPE_ASSIGN(const Loaded loaded, load(arguments.input, arguments.set));
    std::vector<std::string> strategies;
    if (!arguments.strategies.empty()) strategies.push_back(arguments.strategies);
    SHARDSCOPE_ASSIGN(const core::Resolved resolved, core::resolve(loaded.scenario, loaded.inputs, strategies));
    const core::Case& one = resolved.cases.front();
    SHARDSCOPE_ASSIGN(const core::Model model, core::buildModel(resolved.model, one.workload));
    SHARDSCOPE_ASSIGN(
        const StepGraph graph,
        core::buildStepGraph(model, withLayerTimes(one.plan, model, resolved.cluster)).map_error([&](core::Error e) {
            return loaded.scenario.located(std::move(e));
        }));
    if (arguments.dot) {
        std::string comments;
        for (const std::string& key : resolved.unused)
            comments += fmt::format("// not used: {} changes nothing here\n", key);
        for (const std::string& caveat : model.caveats) comments += "// rests on: " + core::printable(caveat) + "\n";
        return print(comments + core::toDot(graph, model));
    }
    if (arguments.json) {
        core::Document out = core::toDocument(graph, model);
        out.set("caveats", listOf(model.caveats));
        out.set("unused", listOf(resolved.unused));
        return print(core::writeJson(out) + "\n");
    }
    return print(summaryOf(graph, model, resolved.unused));
}

}  // namespace shardscope::cli
