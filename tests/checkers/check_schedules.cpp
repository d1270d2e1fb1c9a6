// check_schedules FILE... [--left-out-at-most N]: holds the graph's host actions against recordings of FSDP2
// (schedules.jsonl). Prints one line a case: equal, differs (the first difference), or not expressible (the knob that
// is missing). Exit 1 if any differs, or more than N are not expressible.

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>

#include "core/graph/build.h"
#include "tests/checkers/support/outcome.h"
#include "tests/checkers/support/recorded_case.h"
#include "tests/checkers/support/recorded_events.h"

using namespace shardscope;
using namespace shardscope::core;
using namespace shardscope::checkers;

namespace {

struct Verdict {
    enum class Kind { Equal, Differs, NotExpressible } kind;
    std::string why;
};

std::string difference(const std::vector<std::string>& ours, const std::vector<std::string>& recorded) {
    for (std::size_t i = 0; i < std::max(ours.size(), recorded.size()); ++i) {
        const std::string a = i < ours.size() ? ours[i] : "(end)", b = i < recorded.size() ? recorded[i] : "(end)";
        if (a != b) return fmt::format("event {}: '{}', recorded '{}'", i, a, b);
    }
    return {};
}

std::string unitDifference(const StepGraph& graph, const Model& model, const Document& record) {
    const Document* units = record.find("units");
    if (units == nullptr) return {};
    if (units->members.size() != graph.units.size())
        return fmt::format("{} units, recorded {}", graph.units.size(), units->members.size());
    for (const auto& [name, recorded] : units->members) {
        const auto unit =
            std::find_if(graph.units.begin(), graph.units.end(), [&](const Unit& u) { return u.name == name; });
        if (unit == graph.units.end()) return fmt::format("no unit '{}'", name);
        const Document *elements = recorded.find("numel"), *padded = recorded.find("shard_numel_padded"),
                       *parameters = recorded.find("params");
        if (elements == nullptr || padded == nullptr || parameters == nullptr) return "a unit without its sizes";
        if (unit->elements != elements->integer || unit->paddedElements != padded->integer * graph.plan.mesh.dpShard)
            return fmt::format("unit '{}' has {} elements, {} padded; recorded {}, {}", name, unit->elements,
                               unit->paddedElements, elements->integer, padded->integer * graph.plan.mesh.dpShard);
        if (unit->parameters.size() != parameters->items.size())
            return fmt::format("unit '{}' has {} parameters, recorded {}", name, unit->parameters.size(),
                               parameters->items.size());
        for (std::size_t p = 0; p < unit->parameters.size(); ++p) {
            const std::string& ours = model.parameters[unit->parameters[p].index()].name;
            const std::string& theirs = parameters->items[p].items.at(0).text;
            // Without a root the recorded names are relative to the unit's module.
            const bool same = ours == theirs || (ours.size() > theirs.size() && !graph.plan.fsdp.wrap.root &&
                                                 ours.substr(ours.size() - theirs.size()) == theirs);
            if (!same) return fmt::format("parameter {} of unit '{}' is '{}', recorded '{}'", p, name, ours, theirs);
        }
    }
    return {};
}

Verdict check(const Document& record) {
    const Document* config = record.find("config");
    if (config == nullptr) return {Verdict::Kind::Differs, "a case without a config"};
    const auto expressed = express(*config);
    if (!expressed) {
        if (expressed.error().code == ErrorCode::Unsupported)
            return {Verdict::Kind::NotExpressible, expressed.error().message};
        return {Verdict::Kind::Differs, describe(expressed.error())};
    }
    const auto graph = buildStepGraph(expressed->model, expressed->plan);
    if (const Document* error = record.find("error"); error != nullptr && error->kind != Document::Kind::Null) {
        if (graph) return {Verdict::Kind::Differs, "built, recorded an error"};
        return {Verdict::Kind::Equal, "refused: " + graph.error().message};
    }
    if (!graph) return {Verdict::Kind::Differs, describe(graph.error())};
    if (std::string text = unitDifference(*graph, expressed->model, record); !text.empty())
        return {Verdict::Kind::Differs, text};
    const Document* steps = record.find("steps");
    if (steps == nullptr || steps->items.empty()) return {Verdict::Kind::Differs, "a case without steps"};
    // One list stands for all ranks where they agree, and the graph has one class for them.
    if (const Document* identical = record.find("ranks_identical"); identical == nullptr || !identical->boolean)
        return {Verdict::Kind::NotExpressible, "ranks that differ"};
    for (const Document& step : steps->items) {
        const Document* number = step.find("step");
        const Plan plan = planOfStep(*expressed, *config, number != nullptr ? number->integer : 2);
        const auto ofStep = buildStepGraph(expressed->model, plan);
        if (!ofStep) return {Verdict::Kind::Differs, describe(ofStep.error())};
        const std::vector<std::string> ours =
            renderEvents(*ofStep, ofStep->classes.front(), expressed->model, expressed->observed);
        if (std::string text = difference(ours, recordedEvents(step)); !text.empty())
            return {Verdict::Kind::Differs, text};
    }
    return {Verdict::Kind::Equal, {}};
}

}  // namespace

int main(int argc, char** argv) {
    const auto arguments = argumentsOf(argc, argv, "check_schedules");
    if (!arguments) return 2;
    int counts[3] = {0, 0, 0};
    for (const std::string& path : arguments->files) {
        const auto records = readJsonLines(path);
        if (!records) {
            fmt::print(stderr, "{}\n", describe(records.error()));
            return 2;
        }
        for (const Document& record : *records) {
            static const char* const kWords[] = {"equal", "differs", "not expressible"};
            const Verdict verdict = check(record);
            const Document* id = record.find("id");
            ++counts[static_cast<int>(verdict.kind)];
            fmt::print("{:<32} {}{}\n", id != nullptr ? id->text : "?", kWords[static_cast<int>(verdict.kind)],
                       verdict.why.empty() ? "" : " (" + verdict.why + ")");
        }
    }
    fmt::print("{} equal, {} differ, {} not expressible\n", counts[0], counts[1], counts[2]);
    return exitCode({counts[0], counts[1], counts[2]}, *arguments);
}
