#include "gui/worker/answer.h"

#include <algorithm>

namespace shardscope::gui {

using core::Result;
using core::WorkStage;

namespace {

Result<void> addLanes(Answer& answer, const core::Work& work) {
    for (const cli::PlanReport& plan : answer.report.plans) {
        SHARDSCOPE_TRY(work.enter(WorkStage::Lanes, plan.name));
        answer.lanes.push_back(lanesOf(plan, work.stop));
        answer.end = std::max(answer.end, plan.stepNs);
    }
    return work.goOn();
}

Result<Answer> simulated(cli::Loaded loaded, const std::vector<std::string>& strategies, const core::Work& work,
                         const cli::Report* before = nullptr) {
    // With the key that the user gave, or at least the file that they opened.
    const auto located = [&](core::Error error) {
        error = loaded.scenario.located(std::move(error));
        const bool isFile = loaded.source.find_first_of("/.") != std::string::npos;
        if (isFile && error.where.find(loaded.source) == std::string::npos)
            error.where = loaded.source + (error.where.empty() ? "" : ": " + error.where);
        return error;
    };
    SHARDSCOPE_ASSIGN(const core::Resolved resolved,
                      core::resolve(loaded.scenario, loaded.inputs, strategies).map_error(located));
    Answer answer;
    SHARDSCOPE_ASSIGN(answer.report,
                      cli::evaluate(resolved, loaded.source, {.work = work, .before = before}).map_error(located));
    answer.loaded = std::move(loaded);
    answer.strategies = strategies;
    SHARDSCOPE_TRY(addLanes(answer, work));
    return answer;
}

Result<Answer> evaluated(std::shared_ptr<const cli::OpenedRun> run, const core::Scenario& scenario,
                         const std::vector<std::string>& strategies, const core::Work& work) {
    const auto located = [&](core::Error error) { return scenario.located(std::move(error)); };
    SHARDSCOPE_ASSIGN(cli::RunReport made, cli::evaluateRun(*run, scenario, work).map_error(located));
    Answer answer;
    answer.loaded = run->loaded;
    answer.loaded.scenario = scenario;
    answer.strategies = strategies;
    answer.report = std::move(made.report);
    answer.figures = std::move(made.figures);
    answer.unpredicted = std::move(made.unpredicted);
    answer.run = std::move(run);
    SHARDSCOPE_TRY(addLanes(answer, work));
    return answer;
}

Result<std::shared_ptr<const cli::OpenedRun>> opened(const std::string& path, const std::string& times,
                                                     const core::Work& work) {
    SHARDSCOPE_ASSIGN(cli::OpenedRun run, cli::openRun(path, times, work));
    return std::make_shared<const cli::OpenedRun>(std::move(run));
}

Result<cli::Loaded> loadedAgain(const cli::Loaded& before, const core::Scenario& scenario, const core::Work& work) {
    SHARDSCOPE_TRY(work.enter(WorkStage::Reading));
    cli::Loaded loaded = before;
    loaded.scenario = scenario;
    const bool sameFiles = scenario.model.name == before.scenario.model.name &&
                           scenario.model.path == before.scenario.model.path &&
                           scenario.cluster.path == before.scenario.cluster.path;
    if (!sameFiles) {
        SHARDSCOPE_ASSIGN(loaded.inputs, cli::loadInputs(scenario, before.folder, work));
    }
    return loaded;
}

}  // namespace

Result<Answer> answerTo(const std::string& what, const std::vector<std::string>& overrides,
                        const std::vector<std::string>& strategies, const core::Work& work) {
    if (cli::isTraceFile(what)) return answerToRun(what, {}, strategies, work);
    SHARDSCOPE_ASSIGN(cli::Loaded loaded, cli::load(what, overrides, work));
    return simulated(std::move(loaded), strategies, work);
}

Result<Answer> answerToRun(const std::string& path, const std::string& times,
                           const std::vector<std::string>& strategies, const core::Work& work) {
    SHARDSCOPE_ASSIGN(const auto run, opened(path, times, work));
    return evaluated(run, run->loaded.scenario, strategies, work);
}

Result<Answer> answerAgain(const std::string& what, const std::string& scenario, const std::string& times,
                           const std::vector<std::string>& strategies, const core::Work& work) {
    SHARDSCOPE_ASSIGN(const core::Document document, core::parseToml(scenario, what));
    SHARDSCOPE_ASSIGN(const core::Scenario wanted, core::parseScenario(document, what));
    if (cli::isTraceFile(what)) {
        SHARDSCOPE_ASSIGN(const auto run, opened(what, times, work));
        return evaluated(run, wanted, strategies, work);
    }
    SHARDSCOPE_ASSIGN(const cli::Loaded loaded, cli::load(what, {}, work));
    return answerTo(loaded, wanted, strategies, work);
}

Result<Answer> answerTo(const cli::Loaded& before, const core::Scenario& scenario,
                        const std::vector<std::string>& strategies, const core::Work& work) {
    SHARDSCOPE_ASSIGN(cli::Loaded again, loadedAgain(before, scenario, work));
    return simulated(std::move(again), strategies, work);
}

Result<Answer> answerTo(const Answer& before, const core::Scenario& scenario,
                        const std::vector<std::string>& strategies, const core::Work& work) {
    if (before.run) return evaluated(before.run, scenario, strategies, work);
    SHARDSCOPE_ASSIGN(cli::Loaded again, loadedAgain(before.loaded, scenario, work));
    return simulated(std::move(again), strategies, work, &before.report);
}

}  // namespace shardscope::gui
