#include "core/graph/fsdp1_checks.h"

#include <algorithm>

#include <fmt/format.h>

namespace shardscope::core {

namespace {

constexpr const char* kVersion = "[parallelism] fsdp_version";
constexpr const char* kUseVersion2 = "leave it out, or use fsdp_version = 2";

}  // namespace

Result<void> checkFsdp1(const Plan& plan) {
    const FsdpKnobs& k = plan.fsdp;
    const std::pair<bool, const char*> ofFsdp2[] = {
        {k.rootReshardAfterForward.kind == Reshard::Kind::True ||
             k.rootReshardAfterForward.kind == Reshard::Kind::Group,
         "[parallelism] fsdp_root_reshard_after_forward"},
        {k.reshardAfterForward.kind == Reshard::Kind::Group, "[parallelism] fsdp_reshard_after_forward"},
        {std::ranges::any_of(k.reshardOf, [](const auto& of) { return of.second.kind == Reshard::Kind::Group; }),
         "[parallelism] fsdp_unit_reshard_after_forward"},
        {k.backwardPrefetch > 0, "[parallelism] fsdp_backward_prefetch"},
        {k.rootPrefetch > 0, "[parallelism] fsdp_root_prefetch"},
        {!k.notGatheredInBackward.empty(), "[parallelism] fsdp_no_unshard_in_backward"},
        {k.asyncUnshard, "[parallelism] fsdp_unshard_async_op"},
        {k.shareContext, "[parallelism] fsdp_share_context"},
        {k.keepBetweenMicroBatches, "[parallelism] fsdp_reshard_after_backward"},
        {k.lastBackwardOnly, "[parallelism] fsdp_last_backward_only"},
        {k.reduceInputs > 1, "[parallelism] fsdp_reduce_scatter_inputs"},
        {k.separateReduceGroup, "[parallelism] fsdp_separate_reduce_scatter_group"},
        {k.hybridMesh && plan.mesh.dpReplicate == 1, "[parallelism] fsdp_hybrid_mesh"},
        {k.divideFactor.has_value(), "[parallelism] fsdp_divide_factor"},
        {k.forceSum, "[parallelism] fsdp_force_sum"},
        {k.manualFinalize, "[parallelism] fsdp_manual_finalize"},
        {!k.shardedOnDim1.empty(), "[parallelism] fsdp_shard_dim1"},
        {!k.originalDtype.empty(), "[parallelism] fsdp_original_dtype"},
        {plan.gradientSync == GradientSync::AllReduceLast, "[training] gradient_sync"},
    };
    for (const auto& [given, key] : ofFsdp2)
        if (given)
            return fail(ErrorCode::Input, "found a setting of FSDP2 that FSDP1 does not have", key, kUseVersion2);
    const std::pair<bool, const char*> notSimulated[] = {
        {k.forwardPrefetch > 0, "[parallelism] fsdp_forward_prefetch"},
        {k.cpuOffload, "[training] enable_cpu_offload"},
        {!k.wrap.root, "[parallelism] fsdp_wrap_root"},
        {plan.mesh.pp > 1, "[parallelism] pipeline_parallel_degree"},
    };
    for (const auto& [given, key] : notSimulated)
        if (given)
            return fail(ErrorCode::Unsupported, "found a setting that is not simulated with FSDP1", key, kUseVersion2);
    if (plan.mesh.dpShard == 1)
        return fail(ErrorCode::Unsupported, "found 1 with one shard, which FSDP1 runs as NO_SHARD", kVersion,
                    "use the strategy ddp or single, or a data_parallel_shard_degree above 1");
    return {};
}

Result<void> checkFsdp1Units(const std::vector<Unit>& units) {
    for (const Unit& unit : units) {
        if (unit.modules.size() > 1)
            return fail(ErrorCode::Input,
                        fmt::format("unit '{}' has {} modules; FSDP1 wraps one", unit.name, unit.modules.size()),
                        "[parallelism] fsdp_wrap, fsdp_units, fsdp_blocks_per_unit",
                        "name single modules in fsdp_wrap, or use fsdp_version = 2");
        if (unit.trainedElements > 0 && unit.trainedElements < unit.elements)
            return fail(ErrorCode::Input,
                        fmt::format("a part of unit '{}' is frozen, which a flat parameter cannot be", unit.name),
                        "[training] frozen",
                        "freeze whole units, wrap the frozen modules apart (fsdp_wrap), or use "
                        "fsdp_version = 2");
    }
    return {};
}

Result<void> checkFsdp1Recompute(const ClassContext& context) {
    std::vector<bool> inBackward(context.units.size(), false);
    for (const PassStep& step : context.script.backward) {
        if (step.kind == PassStep::Kind::PreBackward) inBackward[context.local(step.unit)] = true;
        if (step.kind != PassStep::Kind::EnterRecompute || inBackward[context.local(step.unit)]) continue;
        return fail(ErrorCode::Unsupported,
                    fmt::format("unit '{}' lies inside a checkpointed block: its hooks would run again",
                                context.unit(step.unit).name),
                    kVersion, "wrap the whole block, turn checkpointing off, or use fsdp_version = 2");
    }
    return {};
}

}  // namespace shardscope::core
