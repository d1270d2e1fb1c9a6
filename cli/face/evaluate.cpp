#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <mutex>
#include <optional>

#include "cli/face/layer_times.h"
#include "cli/face/plan_rows.h"
#include "cli/face/report.h"
#include "cli/face/words.h"
#include "core/base/parallel_for.h"
#include "core/graph/build.h"
#include "core/graph/host_memory.h"
#include "core/graph/optimizer_state.h"
#include "sim/run/simulate.h"
#include "sim/run/to_timeline.h"

namespace shardscope::cli {
namespace {

using core::Result;
using timeline::Timeline;

/// Memory of every class in host order, which takes no times.
std::vector<MemoryVerdict> hostOrderOf(const core::StepGraph& graph, const core::Model& model,
                                       const core::Cluster& cluster, const core::Work& work) {
    const std::vector<sim::DeviceReserve> reserves = sim::deviceReserves(graph, cluster);
    std::vector<MemoryVerdict> all(graph.classes.size());
    for (std::size_t c = 0; c < all.size() && work.goOn(); ++c) {
        all[c].step = sim::hostOrderMemory(graph, model, core::ClassId(c));
        all[c].reserve = reserves[c];
    }
    return all;
}

/// Memory of every row of the timeline, in device time too where that is asked for, its counters into the timeline.
Result<std::vector<MemoryVerdict>> memoryOf(const core::StepGraph& graph, const core::Model& model,
                                            const std::vector<MemoryVerdict>& hostOrder, const sim::StepResult& result,
                                            Timeline& timeline, const EvaluateOptions& options) {
    const bool deviceTime = options.timelineMemory;
    std::vector<MemoryVerdict> all;
    std::vector<std::int64_t> start, end;
    if (deviceTime) {
        start.assign(graph.ops.size(), 0);
        end.assign(graph.ops.size(), 0);
    }
    for (std::size_t row = 0; row < result.ranks.size(); ++row) {
        SHARDSCOPE_TRY(options.work.goOn());
        const sim::RankInstants& rank = result.ranks[row];
        MemoryVerdict verdict = hostOrder[rank.rankClass.index()];
        if (deviceTime) {
            const std::uint32_t begin = graph.classes[rank.rankClass.index()].opBegin;
            std::copy(rank.at.start.begin(), rank.at.start.end(), start.begin() + begin);
            std::copy(rank.at.end.begin(), rank.at.end.end(), end.begin() + begin);
            sim::addDeviceTimeMemory(graph, model, rank.rankClass, {start, end, result.step}, verdict.step,
                                     &timeline.counters, &timeline.strings, static_cast<std::uint32_t>(row));
        }
        all.push_back(std::move(verdict));
    }
    return all;
}

Result<PlanReport> evaluateCase(const core::Resolved& resolved, const core::Case& one,
                                std::shared_ptr<const core::Model> model, const EvaluateOptions& options,
                                std::vector<std::string>& caveats) {
    PlanReport report;
    report.name = one.plan.name;
    report.setup = one;
    report.what = planInWords(one);
    report.model = std::move(model);
    report.setup.plan = withLayerTimes(one.plan, *report.model, resolved.cluster, options.knobs);

    SHARDSCOPE_TRY(options.work.enter(core::WorkStage::Graph, report.name));
    auto built = core::buildStepGraph(*report.model, report.setup.plan, options.work);
    if (!built) {
        core::Error error = std::move(built).error();
        if (error.where.empty() && error.code != core::ErrorCode::Cancelled) error.where = "strategy " + report.name;
        return tl::unexpected(std::move(error));
    }
    const auto graph = std::make_shared<const core::StepGraph>(std::move(*built));
    report.graph = graph;
    SHARDSCOPE_TRY(options.work.enter(core::WorkStage::Simulating, report.name));
    // Times, and beside them what needs none.
    const sim::Prices prices = sim::priceGraph(*graph, *report.model, resolved.cluster, options.knobs);
    std::optional<Result<sim::StepResult>> simulated;
    std::vector<MemoryVerdict> hostOrder;
    core::parallelFor(2, [&](std::size_t part) {
        if (part == 1) {
            hostOrder = hostOrderOf(*graph, *report.model, resolved.cluster, options.work);
        } else if (simulated = sim::simulate(*graph, prices); *simulated && options.work.goOn()) {
            report.timeline = sim::toTimeline(*graph, *report.model, prices, **simulated);
        }
    });
    if (!*simulated) return tl::unexpected(std::move(*simulated).error());
    SHARDSCOPE_TRY(options.work.goOn());
    const sim::StepResult& result = **simulated;
    report.timeline.title = report.name;
    report.stepNs = result.step;
    report.hostMemory = core::hostBytes(*report.model, graph->units, graph->plan);
    report.ranks = 0;
    for (const core::RankClass& rankClass : graph->classes) report.ranks += rankClass.multiplicity;

    SHARDSCOPE_TRY(options.work.enter(core::WorkStage::Memory, report.name));
    SHARDSCOPE_ASSIGN(std::vector<MemoryVerdict> memory,
                      memoryOf(*graph, *report.model, hostOrder, result, report.timeline, options));
    SHARDSCOPE_TRY(options.work.enter(core::WorkStage::Causes, report.name));
    SHARDSCOPE_TRY(describeRows(report, std::move(memory), resolved.globalBatch, options.work));
    report.modelFlops = sim::modelFlops(*graph, *report.model);
    report.mfu = sim::modelFlopsUtilisation(*graph, *report.model, resolved.cluster, {report.stepNs});
    for (const std::string& caveat : prices.caveats) caveats.push_back(caveat);
    return report;
}

core::Bytes borrowedBy(const core::StepGraph& graph) {
    using enum core::MemoryCategory;
    constexpr core::MemoryCategory kBorrowed[] = {UnshardedParameters, UnshardedGradients, GatherBuffers,
                                                  ReduceBuffers};
    core::Bytes most;
    for (const core::RankClass& rankClass : graph.classes)
        most = std::max(most, core::peakAllocated(graph, rankClass, kBorrowed));
    return most;
}

Result<MissingRoot> withoutRoot(const PlanReport& without, const core::Resolved& resolved,
                                const EvaluateOptions& options) {
    core::Case wrapped = without.setup;
    wrapped.plan.fsdp.wrap.root = true;
    wrapped.plan.fsdp.shareContext = false;  // there is one context then
    std::vector<std::string> sameCaveats;
    SHARDSCOPE_ASSIGN(const PlanReport with, evaluateCase(resolved, wrapped, without.model, options, sameCaveats));
    return MissingRoot{with.stepNs, with.tightest().memory.step.hostOrder.total, borrowedBy(*without.graph),
                       borrowedBy(*with.graph)};
}

/// The model of an earlier report; null where it had none like it.
std::shared_ptr<const core::Model> modelOf(const Report* before, const core::ModelSpec& spec,
                                           const core::Workload& workload) {
    if (before == nullptr || before->model != spec) return nullptr;
    for (const PlanReport& plan : before->plans)
        if (plan.setup.workload == workload) return plan.model;
    return nullptr;
}

/// By case, made side by side; cases share a model where their workloads are the same.
Result<std::vector<std::shared_ptr<const core::Model>>> modelsOf(const core::Resolved& resolved,
                                                                 const EvaluateOptions& options) {
    const core::Work& work = options.work;
    std::vector<const core::Case*> first;  // with its workload
    std::vector<std::size_t> place;        // by case, into `first`
    for (const core::Case& one : resolved.cases) {
        const auto same = [&](const core::Case* other) { return other->workload == one.workload; };
        place.push_back(static_cast<std::size_t>(std::find_if(first.begin(), first.end(), same) - first.begin()));
        if (place.back() == first.size()) first.push_back(&one);
    }
    std::vector<std::shared_ptr<const core::Model>> models;
    for (const core::Case* one : first) models.push_back(modelOf(options.before, resolved.model, one->workload));
    std::vector<std::optional<Result<core::Model>>> built(first.size());
    core::parallelFor(built.size(), [&](std::size_t m) {
        if (models[m]) return;
        built[m] = work.enter(core::WorkStage::Model, first[m]->plan.name).and_then([&] {
            return core::buildModel(resolved.model, first[m]->workload);
        });
    });
    for (std::size_t m = 0; m < models.size(); ++m) {
        if (models[m]) continue;
        if (!*built[m]) return tl::unexpected(std::move(*built[m]).error());
        models[m] = std::make_shared<const core::Model>(std::move(**built[m]));
    }
    std::vector<std::shared_ptr<const core::Model>> byCase;
    for (const std::size_t m : place) byCase.push_back(models[m]);
    return byCase;
}

/// With what the root would change, where an FSDP plan leaves it out.
Result<PlanReport> evaluateWithRoot(const core::Resolved& resolved, const core::Case& one,
                                    std::shared_ptr<const core::Model> model, const EvaluateOptions& options,
                                    std::vector<std::string>& caveats) {
    SHARDSCOPE_ASSIGN(PlanReport plan, evaluateCase(resolved, one, std::move(model), options, caveats));
    if (one.plan.policy == core::UnitPolicy::Fsdp && !one.plan.fsdp.wrap.root) {
        SHARDSCOPE_ASSIGN(plan.missingRoot, withoutRoot(plan, resolved, options));
    }
    return plan;
}

}  // namespace

const ClassReport& PlanReport::tightest() const {
    return *std::min_element(classes.begin(), classes.end(), [](const ClassReport& a, const ClassReport& b) {
        return a.memory.left() < b.memory.left();
    });
}

Result<Report> evaluate(const core::Resolved& resolved, const std::string& source, const EvaluateOptions& options) {
    Report report;
    report.source = source;
    report.title = resolved.title;
    report.cluster = resolved.cluster;
    report.model = resolved.model;
    report.globalBatch = resolved.globalBatch;
    report.notes = resolved.notes;
    report.stepKind = resolved.stepKind;
    report.unused = resolved.unused;
    report.refused = resolved.refused;
    // Stages are told of by one thread at a time.
    std::mutex telling;
    EvaluateOptions together = options;
    if (options.work.entered)
        together.work.entered = [&](core::WorkStage stage, std::string_view of) {
            const std::scoped_lock lock(telling);
            options.work.entered(stage, of);
        };
    SHARDSCOPE_ASSIGN(const auto models, modelsOf(resolved, together));
    struct Evaluated {
        std::optional<Result<PlanReport>> plan;
        std::vector<std::string> caveats;
    };
    std::vector<Evaluated> cases(resolved.cases.size());
    core::parallelFor(cases.size(), [&](std::size_t c) {
        const core::Case& one = resolved.cases[c];
        cases[c].plan = evaluateWithRoot(resolved, one, models[c], together, cases[c].caveats);
    });
    const auto built = static_cast<std::size_t>(
        std::ranges::count_if(cases, [](const Evaluated& one) { return one.plan->has_value(); }));
    for (std::size_t c = 0; c < cases.size(); ++c) {
        Evaluated& one = cases[c];
        if (!*one.plan && options.partial && built > 1 && one.plan->error().code != core::ErrorCode::Cancelled) {
            report.refused.push_back({resolved.cases[c].plan.name, one.plan->error()});
            continue;
        }
        SHARDSCOPE_ASSIGN(PlanReport plan, std::move(*one.plan));
        report.plans.push_back(std::move(plan));
        std::move(one.caveats.begin(), one.caveats.end(), std::back_inserter(report.caveats));
    }
    const core::Model& model = *models.front();
    report.modelName = model.name;
    report.modelFamily = model.family;
    report.sampleWord = model.sampleWord;
    report.parameters = core::parameterCount(model);
    report.tokensPerSample = model.tokensPerSample;
    for (const std::string& caveat : model.caveats) report.caveats.insert(report.caveats.begin(), caveat);
    std::vector<std::string> distinct;
    for (std::string& caveat : report.caveats)
        if (std::find(distinct.begin(), distinct.end(), caveat) == distinct.end())
            distinct.push_back(std::move(caveat));
    report.caveats = std::move(distinct);
    return report;
}

}  // namespace shardscope::cli
