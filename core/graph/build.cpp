#include "core/graph/build.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/graph/form_units.h"
#include "core/graph/fsdp1_checks.h"
#include "core/graph/graph_builder.h"
#include "core/graph/stage_schedule.h"
#include "core/graph/unit_rules.h"
#include "core/plan/autocast.h"

namespace shardscope::core {

namespace {

struct PolicyRow {
    UnitPolicy policy;
    const char* name;
    bool dataParallel;
    // Ops of one micro-batch, about; counted in built graphs.
    std::int64_t opsOfLayer, opsOfUnit;
    std::unique_ptr<UnitRules> (*make)(ClassContext& context);
};

constexpr std::int64_t kOpsOfCuts = 9;  // of a stage, about: the second part and what it adds to gradients

constexpr PolicyRow kPolicies[] = {
    {UnitPolicy::None, "none", false, 3, 0, makeNoneRules},
    {UnitPolicy::Fsdp, "fsdp", true, 2, 10, makeFsdpRules},
    {UnitPolicy::Ddp, "ddp", true, 4, 5, makeDdpRules},
};

const PolicyRow& rowOf(UnitPolicy policy) {
    return *std::find_if(std::begin(kPolicies), std::end(kPolicies),
                         [&](const PolicyRow& row) { return row.policy == policy; });
}

Result<void> checkDdp(const Plan& plan) {
    if (plan.mesh.dpShard > 1 || plan.mesh.pp > 1)
        return fail(
            ErrorCode::Unsupported,
            fmt::format("DDP on {} stages of {} shards, expected replicas alone", plan.mesh.pp, plan.mesh.dpShard),
            "[parallelism] pipeline_parallel_degree, data_parallel_shard_degree",
            "give the ranks as data_parallel_replicate_degree");
    std::vector<double> caps = plan.ddp.bucketCapList;
    if (plan.ddp.bucketCap) caps.push_back(*plan.ddp.bucketCap);
    for (const double cap : caps)
        if (!(cap > 0) || cap > 1 << 20)
            return fail(ErrorCode::Input, fmt::format("a bucket of {} MiB, expected more than 0 and at most 2^20", cap),
                        "[parallelism] ddp_bucket_cap_mb", "PyTorch's default is 25");
    // Recorded: DDP raises in that iteration.
    if (plan.firstStep && plan.ddp.staticGraph && plan.gradientSync == GradientSync::LastMicroBatch &&
        plan.microBatches > 1)
        return fail(ErrorCode::Input, "static_graph with the first iteration under no_sync, which DDP refuses",
                    "[parallelism] ddp_static_graph", "leave it out, or set training.gradient_sync = \"every\"");
    return {};
}

Result<void> checkFsdp(const Plan& plan) {
    const FsdpKnobs& knobs = plan.fsdp;
    if (knobs.flat) return checkFsdp1(plan);
    if (knobs.reduceInputs < 1 || knobs.reduceInputs > 1000)
        return fail(ErrorCode::Input,
                    fmt::format("{} reduce-scatter inputs in flight, expected 1 to 1000", knobs.reduceInputs),
                    "[parallelism] fsdp_reduce_scatter_inputs", "PyTorch's default is 1");
    if (knobs.divideFactor && !(*knobs.divideFactor > 0 && std::isfinite(*knobs.divideFactor)))
        return fail(ErrorCode::Input,
                    fmt::format("a gradient divide factor of {}, expected more than 0", *knobs.divideFactor),
                    "[parallelism] fsdp_divide_factor", "leave it out to divide by the data-parallel ranks");
    if (knobs.shareContext && knobs.wrap.root)
        return fail(ErrorCode::Input, "found true with a root above all units, expected units without a root",
                    "[parallelism] fsdp_share_context", "leave it out, or set fsdp_wrap_root = false");
    if (knobs.cpuOffload && !knobs.wrap.root)
        return fail(ErrorCode::Unsupported, "found true with parameters that no unit holds, expected a wrapped root",
                    "[training] enable_cpu_offload", "set parallelism.fsdp_wrap_root = true");
    if (knobs.cpuOffload && plan.mesh.pp > 1)
        return fail(ErrorCode::Unsupported,
                    fmt::format("found true with pipeline_parallel_degree = {}, expected one stage", plan.mesh.pp),
                    "[training] enable_cpu_offload", "leave one of the two out");
    if (!knobs.originalDtype.empty() && !knobs.shardedOnDim1.empty())
        return fail(ErrorCode::Unsupported, "found beside fsdp_shard_dim1, expected one of the two",
                    "[parallelism] fsdp_original_dtype", "leave one of the two out");
    if (plan.gradientSync != GradientSync::AllReduceLast || plan.microBatches == 1) return {};
    if (plan.mesh.dpReplicate == 1 && !knobs.hybridMesh)
        return fail(ErrorCode::Input, "found \"all_reduce_last\" without replicas, expected an all-reduce to put off",
                    "[training] gradient_sync", "use \"last\", or a data_parallel_replicate_degree above 1");
    if (plan.mesh.dpShard == 1)
        return fail(ErrorCode::Unsupported, "found \"all_reduce_last\" with one shard, expected 2 or more",
                    "[training] gradient_sync", "use \"last\", or a data_parallel_shard_degree above 1");
    // Refused by PyTorch 2.15 as well (framework semantics 1.19).
    if (knobs.manualFinalize)
        return fail(ErrorCode::Input, "found true with all-reduces that are put off to the last micro-batch",
                    "[parallelism] fsdp_manual_finalize", "leave it out, or use another training.gradient_sync");
    return {};
}

Result<void> checkPlan(const Plan& plan) {
    const Mesh& mesh = plan.mesh;
    const std::pair<std::int64_t, const char*> degrees[] = {
        {mesh.pp, "pipeline_parallel_degree"},
        {mesh.dpReplicate, "data_parallel_replicate_degree"},
        {mesh.dpShard, "data_parallel_shard_degree"},
    };
    for (const auto& [degree, key] : degrees)
        if (degree < 1 || degree > (std::int64_t{1} << 20))
            return fail(ErrorCode::Input, fmt::format("{} ranks, expected 1 to 2^20", degree),
                        fmt::format("[parallelism] {}", key), "choose a degree in this range");
    if (mesh.size() > (std::int64_t{1} << 32))
        return fail(
            ErrorCode::Input,
            fmt::format("{} x {} x {} ranks, expected at most 2^32 together", mesh.pp, mesh.dpReplicate, mesh.dpShard),
            "[parallelism] pipeline_parallel_degree, data_parallel_replicate_degree, "
            "data_parallel_shard_degree",
            "choose smaller degrees");
    if (!(plan.clipNorm >= 0 && std::isfinite(plan.clipNorm)))
        return fail(ErrorCode::Input, fmt::format("gradients clipped at {}, expected more than 0", plan.clipNorm),
                    "[training] clip_grad_norm", "0 clips nothing");
    if (plan.microBatches < 1 || plan.microBatches > 65535)
        return fail(ErrorCode::Input, fmt::format("{} micro-batches, expected 1 to 65535", plan.microBatches),
                    "[training] global_batch_size, local_batch_size",
                    "choose larger local batches or a smaller global one");
    const std::pair<std::int64_t, const char*> depths[] = {{plan.fsdp.forwardPrefetch, "fsdp_forward_prefetch"},
                                                           {plan.fsdp.backwardPrefetch, "fsdp_backward_prefetch"},
                                                           {plan.fsdp.rootPrefetch, "fsdp_root_prefetch"}};
    for (const auto& [depth, key] : depths)
        if (depth < 0)
            return fail(ErrorCode::Input, fmt::format("a prefetch depth of {}, expected 0 or more", depth),
                        fmt::format("[parallelism] {}", key), "0 is the implicit prefetch");
    if (plan.policy == UnitPolicy::Fsdp && !plan.fsdp.wrap.root && mesh.pp > 1)
        return fail(
            ErrorCode::Unsupported,
            fmt::format("found false with pipeline_parallel_degree = {}, expected true with more than one stage",
                        mesh.pp),
            "[parallelism] fsdp_wrap_root", "wrap the root too: fsdp_wrap_root = true");
    if (plan.checkpointing.mode == Checkpointing::Mode::EveryNth && plan.checkpointing.everyNth < 1)
        return fail(ErrorCode::Input,
                    fmt::format("every {}th block is checkpointed, expected 1 or more", plan.checkpointing.everyNth),
                    "[training] checkpoint_every", "2 is every second block");
    const PolicyRow& row = rowOf(plan.policy);
    if (!row.dataParallel && mesh.dpShard * mesh.dpReplicate > 1)
        return fail(ErrorCode::Unsupported,
                    fmt::format("unit policy '{}' on {} data-parallel ranks: nothing would average their gradients",
                                row.name, mesh.dpShard * mesh.dpReplicate),
                    "[parallelism] data_parallel_shard_degree, data_parallel_replicate_degree",
                    "use policy 'fsdp', or data-parallel degrees of 1");
    if (plan.policy != UnitPolicy::Fsdp && plan.gradientSync == GradientSync::AllReduceLast)
        return fail(ErrorCode::Input,
                    fmt::format("found \"all_reduce_last\" under '{}', expected fsdp with replicas", plan.name),
                    "[training] gradient_sync", "use \"every\" or \"last\", or compare fsdp alone: --strategy fsdp");
    if (plan.policy == UnitPolicy::Ddp) return checkDdp(plan);
    if (plan.policy == UnitPolicy::Fsdp) SHARDSCOPE_TRY(checkFsdp(plan));
    return checkSchedule(plan);
}

Result<void> checkCheckpointing(const Model& model, const Plan& plan) {
    if (plan.checkpointing.mode != Checkpointing::Mode::EveryNth) return {};
    const auto blocks = std::count_if(model.layers.begin(), model.layers.end(),
                                      [](const Layer& layer) { return layer.kind == LayerKind::Block; });
    if (plan.checkpointing.everyNth <= blocks) return {};
    return fail(
        ErrorCode::Input,
        fmt::format("every {}th of {} blocks is checkpointed, which is none", plan.checkpointing.everyNth, blocks),
        "[training] checkpoint_every",
        fmt::format("use at most {}, or set training.activation_checkpoint = \"none\"", blocks));
}

Result<void> checkFrozen(const Model& model, const Plan& plan, const std::vector<Stage>& stages) {
    if (std::none_of(model.parameters.begin(), model.parameters.end(), [](const Parameter& p) { return p.frozen; }))
        return {};
    constexpr const char* kPlace = "[training] frozen";
    if (plan.policy == UnitPolicy::Ddp)
        return fail(ErrorCode::Unsupported, "frozen parameters under ddp, expected single, naive or fsdp", kPlace,
                    "choose another strategy, or leave nothing frozen");
    for (const Stage& stage : stages) {
        const Program& first = model.programOf(model.layers[stage.begin.index()]);
        const bool sends = std::any_of(first.backward.begin(), first.backward.end(), [&](const Kernel& kernel) {
            return std::any_of(kernel.outputs.begin(), kernel.outputs.end(), [&](TensorId output) {
                const Tensor& tensor = first.tensor(output);
                return first.tensor(tensor.storage.valid() ? tensor.storage : output).role == TensorRole::InputGradient;
            });
        });
        if (!stage.first() && !sends)
            return fail(ErrorCode::Unsupported,
                        fmt::format("all parameters before '{}' are frozen: under '{}' no gradient reaches stage {}",
                                    model.layers[stage.begin.index()].name, plan.name, stage.index - 1),
                        kPlace, "use fewer stages, train a parameter of the first one, or choose --strategy fsdp");
    }
    return {};
}

// Every stage looks through all modules for its own: a second or two.
constexpr std::int64_t kMostModuleLooks = std::int64_t{1} << 25;

// What passes both is simulated in about two seconds and takes less than 1 GB. The memory of every class of ranks is
// followed over the ops of all.
constexpr std::int64_t kMostOps = 400'000;
constexpr std::int64_t kMostOpLooks = std::int64_t{1} << 25;

Result<void> checkModules(const Model& model, const Plan& plan) {
    const auto modules = static_cast<std::int64_t>(model.modules.size());
    if (modules <= kMostModuleLooks / plan.mesh.pp) return {};
    return fail(ErrorCode::Unsupported,
                fmt::format("{} layers with {} modules on {} stages, expected at most {} modules x stages",
                            model.layers.size(), modules, plan.mesh.pp, kMostModuleLooks),
                plan.policy == UnitPolicy::None ? "[cluster] nodes and gpus_per_node"
                                                : "[parallelism] pipeline_parallel_degree",
                "use fewer stages or fewer layers");
}

// Before anything of the graph is there: what cannot be simulated in time is not begun.
Result<void> checkSize(const Model& model, const Plan& plan, std::size_t units) {
    const PolicyRow& row = rowOf(plan.policy);
    const auto layers = static_cast<std::int64_t>(model.layers.size());
    const std::int64_t stages = plan.mesh.pp;
    // A message down and one up between neighbours, each an op at both of its ends; cuts where a stage peaks.
    const std::int64_t ofMicroBatch = layers * row.opsOfLayer + static_cast<std::int64_t>(units) * row.opsOfUnit +
                                      (stages - 1) * 4 + stages * kOpsOfCuts;
    const std::int64_t most = std::min(kMostOps, kMostOpLooks / stages);
    if (ofMicroBatch <= most / plan.microBatches) return {};
    const char* hint = "lower training.global_batch_size, or raise training.local_batch_size";
    if (plan.schedule == StageSchedule::Naive && plan.policy == UnitPolicy::None)
        hint =
            "lower training.global_batch_size, use fewer GPUs (cluster.nodes, cluster.gpus_per_node), or raise "
            "training.naive_micro_batch";
    else if (stages > 1)
        hint =
            "lower training.global_batch_size or parallelism.pipeline_parallel_degree, or raise "
            "training.local_batch_size";
    return fail(
        ErrorCode::Unsupported,
        fmt::format("the graph of {} layers on {} {} with {} {} has about {} ops, expected at most {}", layers, stages,
                    stages == 1 ? "stage" : "stages", plan.microBatches,
                    plan.microBatches == 1 ? "micro-batch" : "micro-batches", ofMicroBatch * plan.microBatches, most),
        fmt::format("strategy {}", plan.name), hint);
}

// PyTorch does as it is told and fails on a parameter without memory.
Result<void> checkGathered(const Plan& plan, const ClassContext& context) {
    if (plan.fsdp.notGatheredInBackward.empty()) return {};
    for (const PassStep& step : context.script.backward)
        for (const TouchedUnit& touched : context.touched(step)) {
            if (!touched.reads || !touched.unit.valid()) continue;
            const Unit& unit = context.unit(touched.unit);
            const auto& names = plan.fsdp.notGatheredInBackward;
            if (unit.reshard.kind == Reshard::Kind::False ||
                std::find(names.begin(), names.end(), unit.name) == names.end())
                continue;
            return fail(
                ErrorCode::Input,
                fmt::format("backward reads the parameters of '{}', which is resharded after forward", unit.name),
                "[parallelism] fsdp_no_unshard_in_backward",
                "name only units whose backward needs no parameters (an embedding), or do not reshard them");
        }
    return {};
}

// What a unit holds after forward goes with its backward, or with that of the root above it. Where neither comes,
// PyTorch leaves it as forward and the prefetches of others left it, into the next step: parameters stay whole, a
// gather is used a step later. The slice of an int reshard goes with the unit's own gather alone.
Result<void> checkReached(const Plan& plan, const ClassContext& context) {
    if (plan.evaluation) return {};
    std::vector<UnitId> unitOf(context.model.modules.size());
    for (std::size_t u = 0; u < context.units.size(); ++u)
        for (const ModuleId module : context.units[u].modules)
            unitOf[module.index()] = UnitId(context.firstUnit.index() + u);
    const auto outermost = [&](UnitId unit) {
        for (ModuleId m = context.unit(unit).modules.front(); m.valid(); m = context.model.modules[m.index()].parent)
            if (unitOf[m.index()].valid()) unit = unitOf[m.index()];
        return unit;
    };
    std::vector<bool> reached(context.units.size(), false), reachedBelow(context.units.size(), false);
    for (const PassStep& step : context.script.backward) {
        if (step.kind != PassStep::Kind::PreBackward) continue;
        reached[context.local(step.unit)] = true;
        reachedBelow[context.local(outermost(step.unit))] = true;
    }
    const bool prefetched = plan.fsdp.shareContext || plan.fsdp.backwardPrefetch > 0;
    for (std::size_t u = 0; u < context.units.size(); ++u) {
        const Unit& unit = context.units[u];
        if (unit.parameters.empty()) continue;
        if (unit.reshard.kind == Reshard::Kind::Group && !reached[u])
            return fail(
                ErrorCode::Unsupported,
                fmt::format("backward does not reach '{}': the slice that it keeps after forward would stay from "
                            "one step to the next",
                            unit.name),
                "[parallelism] fsdp_reshard_after_forward",
                fmt::format("free it after forward: fsdp_unit_reshard_after_forward = {{ \"{}\" = true }}", unit.name));
        const bool ends = unit.reshard.kind == Reshard::Kind::True && !prefetched;
        if (plan.fsdp.wrap.root || ends ||
            reachedBelow[context.local(outermost(UnitId(context.firstUnit.index() + u)))])
            continue;
        return fail(ErrorCode::Unsupported,
                    fmt::format("backward does not reach '{}', whose parameters are frozen: without a root it would "
                                "stay gathered from one step to the next",
                                unit.name),
                    "[parallelism] fsdp_wrap_root", "wrap the root too: fsdp_wrap_root = true");
    }
    return {};
}

Result<void> checkAutocastOf(const Model& model, const Plan& plan) {
    if (!model.workload.autocast) return {};
    if (plan.policy == UnitPolicy::Fsdp)
        return fail(
            ErrorCode::Unsupported,
            fmt::format("found true under FSDP{}, whose mixed precision casts by itself", plan.fsdp.flat ? 1 : 2),
            "[precision] autocast", "leave it out, or choose the strategy single, naive or ddp");
    return checkAutocast(plan.precision);
}

Result<void> checkStreams(const Plan& plan, std::size_t units) {
    // Every root has three streams of its own, and a graph numbers at most 255.
    if (plan.policy == UnitPolicy::Fsdp && !plan.fsdp.wrap.root && units > 80)
        return fail(ErrorCode::Unsupported,
                    fmt::format("found false with {} units, expected true with more than 80", units),
                    "[parallelism] fsdp_wrap_root",
                    "wrap the root too (fsdp_wrap_root = true), or put more blocks into a unit (fsdp_blocks_per_unit)");
    return {};
}

}  // namespace

Result<StepGraph> buildStepGraph(const Model& model, const Plan& plan, const Work& work) {
    SHARDSCOPE_TRY(checkPlan(plan));
    SHARDSCOPE_TRY(checkAutocastOf(model, plan));
    SHARDSCOPE_TRY(checkCheckpointing(model, plan));
    SHARDSCOPE_ASSIGN(const auto stages, stagesOf(model, plan));
    SHARDSCOPE_TRY(checkFrozen(model, plan, stages));
    SHARDSCOPE_TRY(checkModules(model, plan));
    std::vector<std::vector<Unit>> units;
    std::size_t unitCount = 0;
    for (const Stage& stage : stages) {
        SHARDSCOPE_ASSIGN(auto ofStage, unitsOfStage(model, plan, stage));
        SHARDSCOPE_TRY(checkStreams(plan, ofStage.size()));
        if (plan.policy == UnitPolicy::Fsdp && plan.fsdp.flat) SHARDSCOPE_TRY(checkFsdp1Units(ofStage));
        units.push_back(std::move(ofStage));
        unitCount += units.back().size();
    }

    if (plan.policy == UnitPolicy::Fsdp) SHARDSCOPE_TRY(checkUnitNames(plan, units));
    SHARDSCOPE_TRY(checkSize(model, plan, unitCount));

    const RecomputeTable recompute(model, plan);
    GraphBuilder builder(plan);
    const std::uint8_t compute = builder.addStream(StreamKind::Compute);
    SHARDSCOPE_ASSIGN(const StageLinks links, makeLinks(builder, model, plan, units));
    for (std::size_t s = 0; s < stages.size(); ++s) {
        SHARDSCOPE_TRY(work.goOn());
        RankClass rankClass;
        rankClass.name = stages.size() == 1 ? "all ranks" : fmt::format("stage {}", s);
        rankClass.stage = static_cast<std::int64_t>(s);
        rankClass.multiplicity = plan.mesh.dpReplicate * plan.mesh.dpShard;
        rankClass.layerBegin = stages[s].begin;
        rankClass.layerEnd = stages[s].end;
        UnitId firstUnit;
        for (const Unit& unit : units[s]) {
            const UnitId added = builder.addUnit(unit);
            if (!firstUnit.valid()) firstUnit = added;
        }
        builder.beginClass(rankClass);
        ClassContext context{
            builder,   model,    plan,      stages[s],
            firstUnit, units[s], recompute, makePassScript(model, stages[s], units[s], firstUnit, recompute, plan),
            compute,   0};
        if (plan.policy == UnitPolicy::Fsdp) {
            SHARDSCOPE_TRY(checkGathered(plan, context));
            SHARDSCOPE_TRY(checkReached(plan, context));
        }
        const bool fsdp1 = plan.policy == UnitPolicy::Fsdp && plan.fsdp.flat;
        if (fsdp1) SHARDSCOPE_TRY(checkFsdp1Recompute(context));
        const std::unique_ptr<UnitRules> rules = fsdp1 ? makeFsdp1Rules(context) : rowOf(plan.policy).make(context);
        runStage(context, *rules, links);
    }
    SHARDSCOPE_TRY(work.goOn());
    return builder.freeze();
}

}  // namespace shardscope::core
