#include "core/graph/stage_schedule.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/graph/clip_gradients.h"
#include "core/graph/stage_pass.h"

namespace shardscope::core {

namespace {

// One micro-batch at a time, nothing else in flight (framework semantics 4.1): with one stage that is a plain training
// loop; with several, a stage waits while the others work, because forward goes down and backward comes up the stages.
void runOneAtATime(StagePass& pass, const Plan& plan) {
    for (std::int64_t m = 0; m < plan.microBatches; ++m) {
        pass.begin(m);
        pass.receiveInput();
        pass.forward();
        pass.sendOutput();
        pass.loss();
        if (plan.evaluation) continue;
        pass.receiveGradient();
        pass.backward();
        pass.sendGradient();
        pass.end();
    }
}

struct ScheduleRow {
    StageSchedule schedule;
    const char* name;
    bool severalStages;
    void (*run)(StagePass& pass, const Plan& plan);
};

constexpr ScheduleRow kSchedules[] = {
    {StageSchedule::Single, "single", false, runOneAtATime},
    {StageSchedule::Naive, "naive", true, runOneAtATime},
};

const ScheduleRow& rowOf(StageSchedule schedule) {
    return *std::find_if(std::begin(kSchedules), std::end(kSchedules),
                         [&](const ScheduleRow& row) { return row.schedule == schedule; });
}

}  // namespace

Result<void> checkSchedule(const Plan& plan) {
    const ScheduleRow& row = rowOf(plan.schedule);
    if (plan.mesh.pp > 1 && !row.severalStages)
        return fail(ErrorCode::Input, fmt::format("schedule '{}' has one stage, found {}", row.name, plan.mesh.pp),
                    "[parallelism] pipeline_parallel_degree", "use schedule 'naive' for several stages");
    return {};
}

Result<StageLinks> makeLinks(GraphBuilder& builder, const Model& model, const Plan& plan,
                             const std::vector<std::vector<Unit>>& units) {
    StageLinks links;
    if (units.size() < 2) return links;
    links.stream = builder.streamNamed(StreamKind::PointToPoint, std::string(nameOf(StreamKind::PointToPoint)));
    const auto pair = [&](std::size_t a, std::size_t b) {
        Group group;
        group.kind = Group::Kind::Pair;
        group.size = 2;
        group.stride = static_cast<std::int64_t>(b - a) * plan.mesh.dpReplicate * plan.mesh.dpShard;
        group.communicator = static_cast<std::uint32_t>(builder.groupCount());
        group.name = fmt::format("pp {}-{}", a, b);
        return builder.addGroup(group);
    };
    for (std::size_t s = 0; s + 1 < units.size(); ++s) links.next.push_back(pair(s, s + 1));

    std::vector<std::vector<std::size_t>> stagesOfParameter(model.parameters.size());
    for (std::size_t s = 0; s < units.size(); ++s)
        for (const Unit& unit : units[s])
            for (ParameterId p : unit.parameters) stagesOfParameter[p.index()].push_back(s);
    for (std::size_t p = 0; p < stagesOfParameter.size(); ++p) {
        const auto& stages = stagesOfParameter[p];
        if (stages.size() < 2 || model.parameters[p].frozen) continue;  // no gradients to be summed
        if (stages.size() > 2)
            return fail(
                ErrorCode::Unsupported,
                fmt::format("'{}' is used by {} stages, expected at most 2", model.parameters[p].name, stages.size()),
                "[parallelism] pipeline_parallel_degree");
        const auto first = static_cast<std::int64_t>(stages[0]), second = static_cast<std::int64_t>(stages[1]);
        auto known = std::find_if(links.tied.begin(), links.tied.end(), [&](const StageLinks::Tied& tied) {
            return tied.firstStage == first && tied.secondStage == second;
        });
        if (known == links.tied.end()) {
            const bool neighbours = second == first + 1;
            links.tied.push_back({first, second, {}, neighbours ? links.next[stages[0]] : pair(stages[0], stages[1])});
            known = links.tied.end() - 1;
        }
        known->parameters.push_back(ParameterId(p));
    }
    if (plan.clipNorm > 0)
        for (std::size_t s = 1; s < units.size(); ++s) links.norm.push_back(s == 1 ? links.next[0] : pair(0, s));
    return links;
}

void runStage(ClassContext& context, UnitRules& rules, const StageLinks& links) {
    rules.beginStep();
    StagePass pass(context, rules, links);
    rowOf(context.plan.schedule).run(pass, context.plan);
    if (context.plan.evaluation) return rules.endEvaluation();
    pass.sumTiedGradients();
    if (context.plan.clipNorm > 0) clipGradients(context, rules, links);
    rules.endStep();
}

}  // namespace shardscope::core
