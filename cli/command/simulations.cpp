// compare, simulate and sweep.

#include <fmt/format.h>

#include <algorithm>

#include "cli/command/command.h"
#include "cli/face/load.h"
#include "cli/face/output.h"
#include "cli/face/report.h"
#include "cli/face/single_ranks.h"
#include "cli/face/sweep.h"
#include "cli/face/text_picture.h"
#include "cli/face/why_idle.h"
#include "cli/face/why_memory.h"
#include "cli/face/words.h"
#include "traces/formats/sink.h"

namespace shardscope::cli {
namespace {

using core::ErrorCode;
using core::fail;
using core::Result;

Result<std::vector<std::string>> strategiesOf(const std::string& words, std::vector<std::string> otherwise) {
    if (words.empty()) return otherwise;
    std::vector<std::string> all(1);
    for (const char c : words) {
        if (c == ',')
            all.emplace_back();
        else
            all.back() += c;
    }
    for (const std::string& word : all)
        if (word.empty())
            return fail(ErrorCode::Usage, "found \"" + words.substr(0, 60) + "\", expected names between the commas",
                        "--strategy", "known are: single, naive, ddp, fsdp; for example --strategy naive,fsdp");
    for (std::size_t i = 0; i < all.size(); ++i)
        for (std::size_t k = 0; k < i; ++k)
            if (all[i] == all[k])
                return fail(ErrorCode::Usage, "\"" + all[i].substr(0, 60) + "\" is given twice", "--strategy",
                            "name each strategy once");
    return all;
}

Result<Loaded> loadWith(const Arguments& arguments) {
    std::vector<std::string> overrides = arguments.set;
    if (arguments.naiveMicroBatch > 0)
        overrides.push_back(fmt::format("training.naive_micro_batch={}", arguments.naiveMicroBatch));
    return load(arguments.input, overrides);
}

auto locatedIn(const core::Scenario& scenario) {
    return [&scenario](core::Error error) { return scenario.located(std::move(error)); };
}

std::string picture(const Report& report, const TextStyle& style) {
    std::vector<SingleRanks> single;
    for (const PlanReport& plan : report.plans) single.push_back(rankByRank(plan.timeline));
    std::vector<PicturedPlan> plans;
    for (std::size_t p = 0; p < report.plans.size(); ++p) {
        const PlanReport& plan = report.plans[p];
        plans.push_back(
            {plan.name,
             fmt::format("{} a step; each GPU computes {:.0f}% of it and waits {:.0f}%", durationText(plan.stepNs),
                         plan.shareOf(plan.allRanks.compute) * 100, plan.shareOf(plan.allRanks.gpuWaits()) * 100),
             single[p].of.empty() ? &plan.timeline : &single[p].timeline});
    }
    return textPicture(plans, style);
}

Result<void> show(const Report& report, const Arguments& arguments, const TextStyle& style) {
    for (const std::string& path : arguments.outputs) SHARDSCOPE_TRY(writeOutput(report, path, arguments.language));
    if (arguments.json) return print(core::writeJson(reportDocument(report)) + "\n");
    SHARDSCOPE_TRY(print(textReport(report) + "\nWho works when\n"));
    SHARDSCOPE_TRY(printColoured(picture(report, style)));
    if (!arguments.explain) return {};
    std::string text;
    for (const PlanReport& plan : report.plans) text += "\n" + explanation(report, plan);
    return print(text);
}

/// The questions in place of the tables; with --json they are members of the report.
Result<void> answer(const Report& report, const Loaded& loaded, const Arguments& arguments) {
    for (const std::string& path : arguments.outputs) SHARDSCOPE_TRY(writeOutput(report, path, arguments.language));
    const PlanReport& plan = report.plans.front();
    core::Document document = reportDocument(report);
    std::string text;
    if (arguments.whyMemory) {
        SHARDSCOPE_ASSIGN(const WhyMemory why, whyMemory(loaded, report));
        document.set("why_memory", whyMemoryDocument(report, why));
        text += whyMemoryText(report, why);
    }
    if (arguments.whyIdle) {
        const WhyIdle why = whyIdle(plan);
        document.set("why_idle", whyIdleDocument(plan, why));
        text += (text.empty() ? "" : "\n") + whyIdleText(plan, why);
    }
    if (arguments.json) return print(core::writeJson(document) + "\n");
    text += "\n";
    for (const std::string& key : report.unused) text += unusedInWords(key);
    for (const std::string& caveat : report.caveats) text += "  " + caveatInWords(caveat) + "\n";
    return print(fmt::format("{}\n  {}: {}\n\n{}", setupInWords(report), plan.name, plan.what, text));
}

}  // namespace

Result<void> runCompare(const Arguments& arguments, const TextStyle& style) {
    SHARDSCOPE_TRY(checkOutputs(arguments.outputs));
    SHARDSCOPE_ASSIGN(const std::vector<std::string> strategies, strategiesOf(arguments.strategies, {"naive", "fsdp"}));
    SHARDSCOPE_ASSIGN(const Loaded loaded, loadWith(arguments));
    SHARDSCOPE_ASSIGN(const core::Resolved resolved, core::resolveSome(loaded.scenario, loaded.inputs, strategies));
    SHARDSCOPE_ASSIGN(Report report,
                      evaluate(resolved, loaded.source, {.partial = true}).map_error(locatedIn(loaded.scenario)));
    if (report.refused.size() > resolved.refused.size()) {
        // What is said of the comparison is said of the plans that are left.
        std::vector<std::string> left = strategies;
        std::erase_if(left, [&](const std::string& strategy) {
            return std::ranges::any_of(report.refused, [&](const auto& one) { return one.strategy == strategy; });
        });
        SHARDSCOPE_ASSIGN(const core::Resolved again, core::resolveSome(loaded.scenario, loaded.inputs, left));
        report.notes = again.notes;
        report.unused = again.unused;
    }
    for (core::RefusedCase& one : report.refused) one.error = loaded.scenario.located(std::move(one.error));
    return show(report, arguments, style);
}

Result<void> runSimulate(const Arguments& arguments, const TextStyle& style) {
    SHARDSCOPE_TRY(checkOutputs(arguments.outputs));
    SHARDSCOPE_ASSIGN(const Loaded loaded, loadWith(arguments));
    SHARDSCOPE_ASSIGN(const std::vector<std::string> strategies,
                      strategiesOf(arguments.strategies, {loaded.scenario.parallelism.strategy}));
    if (strategies.size() != 1)
        return fail(ErrorCode::Usage, "one strategy at a time", "--strategy", "`shardscope compare` takes several");
    SHARDSCOPE_ASSIGN(const core::Resolved resolved, core::resolve(loaded.scenario, loaded.inputs, strategies));
    SHARDSCOPE_ASSIGN(const Report report, evaluate(resolved, loaded.source).map_error(locatedIn(loaded.scenario)));
    if (arguments.whyMemory || arguments.whyIdle) return answer(report, loaded, arguments);
    return show(report, arguments, style);
}

Result<void> runSweep(const Arguments& arguments, const TextStyle&) {
    SHARDSCOPE_TRY(checkOutputs(arguments.outputs));
    SHARDSCOPE_ASSIGN(const Loaded loaded, loadWith(arguments));
    SHARDSCOPE_ASSIGN(const std::vector<std::string> strategies,
                      strategiesOf(arguments.strategies, {loaded.scenario.parallelism.strategy}));
    for (const std::string& path : arguments.outputs) {
        SHARDSCOPE_ASSIGN(const OutputKind kind, outputKindOf(path));
        if (kind == OutputKind::Trace || kind == OutputKind::TraceGzip)
            return fail(ErrorCode::Usage, "a sweep has no single trace", "-o " + path,
                        "use .csv, .svg, .png or .pdf, or --json for all reports");
    }
    SHARDSCOPE_ASSIGN(const Sweep swept, sweep(loaded, arguments.over, strategies));
    for (const std::string& path : arguments.outputs) {
        SHARDSCOPE_ASSIGN(const OutputKind kind, outputKindOf(path));
        if (kind != OutputKind::Csv) {
            SHARDSCOPE_TRY(writePicture(path, kind, sweepSvg(swept)));
            continue;
        }
        formats::FileSink sink(path);
        sink.write(sweepCsv(swept));
        SHARDSCOPE_TRY(sink.finish());
    }
    SHARDSCOPE_TRY(print(arguments.json ? core::writeJson(sweepDocument(swept)) + "\n" : sweepTable(swept)));
    return checkPoints(swept);
}

}  // namespace shardscope::cli
