#include "gui/worker/answer.h"

#include <algorithm>

namespace shardscope::gui {

using core::Result;

namespace {

Result<Answer> simulated(cli::Loaded loaded, const std::vector<std::string>& strategies) {
    SHARDSCOPE_ASSIGN(const core::Resolved resolved, core::resolve(loaded.scenario, loaded.inputs, strategies));
    Answer answer;
    SHARDSCOPE_ASSIGN(answer.report, cli::evaluate(resolved, loaded.source));
    answer.loaded = std::move(loaded);
    answer.strategies = strategies;
    for (const cli::PlanReport& plan : answer.report.plans) {
        answer.lanes.push_back(lanesOf(plan));
        answer.end = std::max(answer.end, plan.stepNs);
    }
    return answer;
}

}  // namespace

Result<Answer> answerTo(const std::string& what, const std::vector<std::string>& overrides,
                        const std::vector<std::string>& strategies) {
    SHARDSCOPE_ASSIGN(cli::Loaded loaded, cli::load(what, overrides));
    return simulated(std::move(loaded), strategies);
}

Result<Answer> answerTo(const cli::Loaded& before, const core::Scenario& scenario,
                        const std::vector<std::string>& strategies) {
    cli::Loaded loaded = before;
    loaded.scenario = scenario;
    const bool sameFiles = scenario.model.name == before.scenario.model.name &&
                           scenario.model.path == before.scenario.model.path &&
                           scenario.cluster.path == before.scenario.cluster.path;
    if (!sameFiles) {
        SHARDSCOPE_ASSIGN(loaded.inputs, cli::loadInputs(scenario, before.folder));
    }
    return simulated(std::move(loaded), strategies);
}

}  // namespace shardscope::gui
