#include "tests/plans/support/scenario_checks.h"

#include <fmt/format.h>

#include <algorithm>

#include "cli/face/report.h"
#include "cli/face/why_memory.h"
#include "tests/plans/support/run_checks.h"

namespace shardscope::tests {
namespace {

using core::Document;

Verdict refused(const core::Error& error) {
    Verdict verdict;
    verdict.refused = true;
    verdict.refusal = core::describe(error);
    if (error.code == core::ErrorCode::Internal || error.message.empty())
        verdict.broken = Broken{"a refusal is no fault of the program and says why", verdict.refusal};
    return verdict;
}

std::vector<std::string> keysGiven(const core::Scenario& scenario) {
    std::vector<std::string> keys;
    for (const auto& [key, where] : scenario.origins) keys.push_back(key);
    std::sort(keys.begin(), keys.end());
    return keys;
}

std::optional<Broken> checkReadsBack(const core::Scenario& scenario) {
    const char* property = "a scenario that is written reads back equal";
    const std::string text = core::writeScenario(scenario);
    const auto document = core::parseToml(text, "written.toml");
    if (!document) return Broken{property, core::describe(document.error())};
    const auto again = core::parseScenario(*document, "written.toml");
    if (!again) return Broken{property, core::describe(again.error())};
    if (!(*again == scenario)) return Broken{property, "another value:\n" + core::writeScenario(*again)};
    if (keysGiven(*again) != keysGiven(scenario)) return Broken{property, "other keys are given"};
    return {};
}

/// The plan of that name in a report's JSON.
Document planDocument(const cli::Report& report, const std::string& name) {
    const Document document = cli::reportDocument(report);
    for (const Document& plan : document.find("plans")->items)
        if (plan.find("name")->text == name) return plan;
    return {};
}

core::Result<cli::Report> evaluated(const core::Scenario& scenario, const core::ScenarioInputs& inputs,
                                    const std::vector<std::string>& strategies) {
    SHARDSCOPE_ASSIGN(const core::Resolved resolved, core::resolve(scenario, inputs, strategies));
    return cli::evaluate(resolved, "random");
}

std::optional<Broken> checkSymmetric(const core::Scenario& scenario, const core::ScenarioInputs& inputs) {
    const std::string own = scenario.parallelism.strategy;
    for (const std::string other : {"fsdp", "naive", "ddp", "single"}) {
        if (other == own) continue;
        const auto there = evaluated(scenario, inputs, {own, other});
        const auto back = evaluated(scenario, inputs, {other, own});
        const char* property = "comparing is the same both ways round";
        if (there.has_value() != back.has_value())
            return Broken{property, fmt::format("{} and {}: {}", own, other,
                                                core::describe(there ? back.error() : there.error()))};
        if (!there) continue;
        for (const std::string& name : {own, other})
            if (!(planDocument(*there, name) == planDocument(*back, name)))
                return Broken{property, fmt::format("{} differs in {} beside {}", name, own, other)};
        return {};
    }
    return {};
}

/// simulate --why-memory: what it adds up, and that what it advises needs less.
std::optional<Broken> checkWhyMemory(const core::Scenario& scenario, const core::ScenarioInputs& inputs,
                                     const cli::Report& report) {
    const char* property = "the answer about memory holds";
    const auto why = cli::whyMemory({scenario, inputs, "random", ""}, report);
    if (!why) return Broken{property, core::describe(why.error())};
    const cli::ClassReport& fullest = report.plans.front().classes[why->fullest];
    std::int64_t whole = 0, reserved = 0;
    for (const cli::GatheredUnit& unit : why->gathered) whole += unit.bytes;
    for (const auto& [stream, bytes] : why->reservedOf) reserved += bytes;
    if (whole > why->allocated.bytes || reserved != fullest.memory.step.reserved.value)
        return Broken{property, fmt::format("{} whole, {} reserved by streams", whole, reserved)};
    for (const cli::Remedy& remedy : why->remedies)
        if (remedy.neededBytes >= fullest.memory.needed()) return Broken{property, remedy.set.front()};
    return {};
}

}  // namespace

Verdict checkScenario(const Settings& settings, bool more) {
    Verdict verdict;
    const auto scenario = scenarioOf(settings);
    if (!scenario) return refused(scenario.error());
    if ((verdict.broken = checkReadsBack(*scenario))) return verdict;
    const auto inputs = inputsOf(*scenario);
    if (!inputs) return refused(inputs.error());
    const auto report = evaluated(*scenario, *inputs, {scenario->parallelism.strategy});
    if (!report) return refused(report.error());
    const cli::PlanReport& plan = report->plans.front();
    if ((verdict.broken = checkGraph(*plan.graph))) return verdict;
    if ((verdict.broken = checkCausality(plan))) return verdict;
    if ((verdict.broken = checkData(plan))) return verdict;
    if ((verdict.broken = checkMemory(plan))) return verdict;
    if ((verdict.broken = checkParametersAreThere(plan))) return verdict;
    if ((verdict.broken = checkTimes(plan, report->cluster))) return verdict;
    if (!more) return verdict;
    const auto again = evaluated(*scenario, *inputs, {scenario->parallelism.strategy});
    if (!again || !(cli::reportDocument(*again) == cli::reportDocument(*report))) {
        verdict.broken = Broken{"the same again gives the same", ""};
        return verdict;
    }
    if ((verdict.broken = checkSymmetric(*scenario, *inputs))) return verdict;
    verdict.broken = checkWhyMemory(*scenario, *inputs, *report);
    return verdict;
}

}  // namespace shardscope::tests
