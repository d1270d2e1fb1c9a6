#include "cli/face/opened_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <utility>

#include "cli/face/files.h"
#include "cli/face/layer_times.h"
#include "cli/face/plan_rows.h"
#include "cli/face/words.h"
#include "core/graph/build.h"

namespace shardscope::cli {

using core::Document;
using core::ErrorCode;
using core::fail;
using core::Result;
using core::WorkStage;

namespace {

constexpr std::int64_t kLargestRun = std::int64_t{1} << 30;

/// A scenario with the graph that it makes.
struct Built {
    core::Resolved resolved;
    std::shared_ptr<const core::Model> model;
    std::shared_ptr<const core::StepGraph> graph;
};

Result<Built> build(const core::Scenario& scenario, const core::ScenarioInputs& inputs, const std::string& name,
                    const core::Work& work) {
    Built built;
    SHARDSCOPE_TRY(work.enter(WorkStage::Model, name));
    const std::vector<std::string> strategies{scenario.parallelism.strategy};
    SHARDSCOPE_ASSIGN(built.resolved, core::resolve(scenario, inputs, strategies));
    core::Case& one = built.resolved.cases.front();
    SHARDSCOPE_ASSIGN(core::Model model, core::buildModel(built.resolved.model, one.workload));
    built.model = std::make_shared<const core::Model>(std::move(model));
    one.plan = withLayerTimes(one.plan, *built.model, built.resolved.cluster);
    SHARDSCOPE_TRY(work.enter(WorkStage::Graph, name));
    SHARDSCOPE_ASSIGN(core::StepGraph graph, core::buildStepGraph(*built.model, one.plan, work));
    built.graph = std::make_shared<const core::StepGraph>(std::move(graph));
    return built;
}

/// Instants of every op of a rank's class, from the spans of its row; false: they are not those of the class, each
/// once. `lanes`: spansOfLanes(t).
bool instantsOf(const core::RankClass& rankClass, const timeline::Timeline& t,
                const std::vector<timeline::SpanRange>& lanes, std::uint32_t row, std::vector<std::int64_t>& start,
                std::vector<std::int64_t>& end) {
    std::vector<bool> seen(rankClass.opEnd - rankClass.opBegin);
    std::size_t found = 0;
    for (std::uint32_t lane = t.ranks[row].laneBegin; lane < t.ranks[row].laneEnd; ++lane)
        for (std::uint32_t s = lanes[lane].begin; s < lanes[lane].end; ++s) {
            const std::uint32_t op = t.spans.op[s];
            if (op < rankClass.opBegin || op >= rankClass.opEnd || seen[op - rankClass.opBegin]) return false;
            seen[op - rankClass.opBegin] = true;
            start[op] = t.spans.start[s];
            end[op] = t.spans.end[s];
            ++found;
        }
    return found == seen.size();
}

/// Memory of every rank: in host order, and in use at the instants of the timeline, whose counters it becomes where
/// there are none.
Result<std::vector<MemoryVerdict>> memoryOf(const Built& built, timeline::Timeline& t, const core::Work& work) {
    const core::StepGraph& graph = *built.graph;
    const bool own = !t.counters.empty();
    const std::vector<timeline::SpanRange> lanes = timeline::spansOfLanes(t);
    std::vector<MemoryVerdict> all;
    std::vector<std::int64_t> start(graph.ops.size()), end(graph.ops.size());
    for (std::uint32_t row = 0; row < t.ranks.size(); ++row) {
        SHARDSCOPE_TRY(work.goOn());
        MemoryVerdict& verdict = all.emplace_back();
        const auto rankClass = std::ranges::find(graph.classes, t.ranks[row].stage, &core::RankClass::stage);
        if (rankClass == graph.classes.end()) continue;
        const core::ClassId id(static_cast<std::size_t>(rankClass - graph.classes.begin()));
        verdict.step = sim::hostOrderMemory(graph, *built.model, id);
        if (instantsOf(*rankClass, t, lanes, row, start, end))
            sim::addDeviceTimeMemory(graph, *built.model, id, {start, end, t.end}, verdict.step,
                                     own ? nullptr : &t.counters, own ? nullptr : &t.strings, row);
    }
    return all;
}

/// A plan of a timeline; without `built` nothing is known of its memory.
Result<PlanReport> planOf(const char* name, timeline::Timeline timeline, const Built* built, std::int64_t globalBatch,
                          const core::Work& work) {
    PlanReport plan;
    plan.name = name;
    plan.timeline = std::move(timeline);
    plan.timeline.title = name;
    plan.stepNs = plan.timeline.end;
    plan.ranks = 0;
    for (const timeline::RankRow& row : plan.timeline.ranks) plan.ranks += row.multiplicity;
    std::vector<MemoryVerdict> memory(plan.timeline.ranks.size());
    SHARDSCOPE_TRY(work.enter(WorkStage::Memory, name));
    if (built != nullptr) {
        plan.setup = built->resolved.cases.front();
        plan.what = planInWords(plan.setup);
        plan.model = built->model;
        plan.graph = built->graph;
        SHARDSCOPE_ASSIGN(memory, memoryOf(*built, plan.timeline, work));
    }
    SHARDSCOPE_TRY(work.enter(WorkStage::Causes, name));
    SHARDSCOPE_TRY(describeRows(plan, std::move(memory), globalBatch, work));
    return plan;
}

Result<void> addPrediction(const OpenedRun& run, const Built& built, const char* name, RunReport& out,
                           const core::Work& work) {
    SHARDSCOPE_TRY(work.enter(WorkStage::Simulating, name));
    SHARDSCOPE_ASSIGN(PredictedRun predicted, predictRun(*built.graph, *built.model, *run.times));
    std::vector<RunFigure> figures = figuresOf(predicted);
    SHARDSCOPE_ASSIGN(PlanReport plan,
                      planOf(name, std::move(predicted.timeline), &built, built.resolved.globalBatch, work));
    out.report.plans.push_back(std::move(plan));
    out.figures.push_back(std::move(figures));
    return {};
}

/// The graph that ran, as the scenario makes it today.
Result<Built> graphOf(const OpenedRun& run, const core::Work& work) {
    if (run.noGraph) return tl::unexpected(*run.noGraph);
    SHARDSCOPE_ASSIGN(Built built, build(run.loaded.scenario, run.loaded.inputs, kMeasured, work));
    const Document* hash = run.file.about.find("graph_hash");
    if (hash == nullptr || hash->text != fmt::format("{:016x}", built.graph->hash))
        return fail(ErrorCode::Unsupported, "another version of Shardscope ran it: its graph is not the one made today",
                    run.loaded.source, formats::kWriteRunAnew);
    return built;
}

std::int64_t integerOf(const Document& about, std::string_view key) {
    const Document* found = about.find(key);
    return found != nullptr && found->kind == Document::Kind::Integer ? found->integer : 0;
}

std::string textOf(const Document& about, std::string_view key) {
    const Document* found = about.find(key);
    return found != nullptr && found->kind == Document::Kind::Text ? found->text : std::string();
}

}  // namespace

bool isTraceFile(const std::string& path) {
    if (!hasEnding(path, ".json") && !hasEnding(path, ".gz")) return false;
    constexpr std::int64_t kEnough = 4096;
    const auto begin = readStart(path, kEnough);
    return begin && formats::looksLikeTrace(*begin);
}

Result<OpenedRun> openRun(const std::string& path, const std::string& timesFrom, const core::Work& work) {
    SHARDSCOPE_TRY(work.enter(WorkStage::Reading));
    OpenedRun run;
    {
        SHARDSCOPE_ASSIGN(const std::string bytes, readFile(path, kLargestRun));
        SHARDSCOPE_TRY(work.goOn());
        SHARDSCOPE_ASSIGN(run.file, formats::readRunFile(bytes, path, kLargestRun));
    }
    SHARDSCOPE_TRY(work.goOn());
    if (run.file.timeline.ranks.empty())
        return fail(ErrorCode::Input, "a run without a rank", path, formats::kWriteRunAnew);
    const Document *machine = run.file.about.find("machine"), *measured = run.file.about.find("measured");
    if (machine == nullptr || measured == nullptr)
        return fail(ErrorCode::Input, "'machine' or 'measured' is missing", path + ", about", formats::kWriteRunAnew);
    SHARDSCOPE_ASSIGN(run.machine, runMachineFrom(*machine, path + ", about, machine"));
    SHARDSCOPE_ASSIGN(run.measured, figuresFrom(*measured, path + ", about, measured"));
    const std::string where = path + ", scenario";
    SHARDSCOPE_ASSIGN(const Document scenario, core::parseToml(run.file.scenario, where));
    SHARDSCOPE_ASSIGN(run.loaded.scenario, core::parseScenario(scenario, where));
    run.loaded.source = path;
    run.loaded.folder = run.file.folder;
    auto inputs = loadInputs(run.loaded.scenario, run.loaded.folder, work);
    if (inputs)
        run.loaded.inputs = std::move(*inputs);
    else if (inputs.error().code == ErrorCode::Cancelled)
        return tl::unexpected(std::move(inputs).error());
    else
        run.noGraph = std::move(inputs).error();
    run.timesFrom = timesFrom;
    if (!timesFrom.empty()) {
        SHARDSCOPE_ASSIGN(run.times, readTimesFor(run.machine, timesFrom, "the run"));
    } else if (run.file.machine.kind != Document::Kind::Null) {
        auto times = core::parseMachineTimes(run.file.machine, path + ", machine");
        if (times)
            run.times = std::move(*times);
        else
            run.noTimes = std::move(times).error();
    }
    return run;
}

Result<RunReport> evaluateRun(const OpenedRun& run, const core::Scenario& scenario, const core::Work& work) {
    RunReport out;
    Report& report = out.report;
    report.source = run.loaded.source;
    report.title = run.loaded.source.substr(run.loaded.source.find_last_of('/') + 1);
    report.modelName = textOf(run.file.about, "model");
    report.globalBatch = std::max<std::int64_t>(1, integerOf(run.file.about, "global_batch_size"));
    auto built = graphOf(run, work);
    if (!built && built.error().code == ErrorCode::Cancelled) return tl::unexpected(std::move(built).error());
    if (built) {
        report.cluster = built->resolved.cluster;
        report.model = built->resolved.model;
        report.modelFamily = built->model->family;
        report.sampleWord = built->model->sampleWord;
        report.parameters = core::parameterCount(*built->model);
        report.tokensPerSample = built->model->tokensPerSample;
        report.stepKind = built->resolved.stepKind;
    }
    out.unpredicted = built ? run.noTimes : built.error();
    SHARDSCOPE_ASSIGN(PlanReport measured,
                      planOf(kMeasured, run.file.timeline, built ? &*built : nullptr, report.globalBatch, work));
    report.plans.push_back(std::move(measured));
    out.figures.push_back(run.measured);
    if (built && run.times) {
        const auto predicted = addPrediction(run, *built, kPredicted, out, work);
        if (!predicted && predicted.error().code == ErrorCode::Cancelled) return tl::unexpected(predicted.error());
        if (!predicted) out.unpredicted = predicted.error();
    }
    if (scenario == run.loaded.scenario) return out;
    if (!built || !run.times)
        return fail(ErrorCode::Unsupported, "without a prediction there is nothing to change in it", report.source,
                    "predict the run with the machine's times first (Plans)");
    SHARDSCOPE_ASSIGN(const core::ScenarioInputs inputs, loadInputs(scenario, run.loaded.folder, work));
    SHARDSCOPE_ASSIGN(const Built changed, build(scenario, inputs, kWhatIf, work));
    SHARDSCOPE_TRY(addPrediction(run, changed, kWhatIf, out, work));
    return out;
}

}  // namespace shardscope::cli
