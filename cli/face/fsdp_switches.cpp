#include "cli/face/fsdp_switches.h"

#include <fmt/format.h>

namespace shardscope::cli {

namespace {

/// As the items of a Python list.
std::string quoted(const std::vector<std::string>& names) {
    std::string text;
    for (const std::string& name : names) text += fmt::format("{}\"{}\"", text.empty() ? "" : ", ", name);
    return text;
}

}  // namespace

std::string policyArguments(const core::Plan& plan) {
    std::string text;
    if (plan.fsdp.cpuOffload) text += ", offload_policy=offload";
    if (!plan.fsdp.shardedOnDim1.empty()) text += ", shard_placement_fn=placement";
    return text;
}

std::string placementFunction(const core::Plan& plan) {
    if (plan.fsdp.shardedOnDim1.empty()) return "";
    const std::string names = quoted(plan.fsdp.shardedOnDim1);
    return fmt::format(
        "   second = {{p for n, p in model.named_parameters() if p.dim() > 1\n"
        "             and any((n + \".\").startswith(name + \".\") for name in [{}])}}\n"
        "   def placement(p): return Shard(1) if p in second else None\n",
        names);
}

std::string overrideFunction(const core::Plan& plan) {
    if (plan.fsdp.originalDtype.empty()) return "";
    const std::string names = quoted(plan.fsdp.originalDtype);
    return fmt::format(
        "   names = [{}]\n"
        "   kept = {{p for m_name, m in model.named_modules() for n, p in m.named_parameters(recurse=False)\n"
        "           if type(m).__name__ in names or any((m_name + \".\" + n + \".\").startswith(k + \".\") for k in "
        "names)}}\n"
        "   def override(p): return p.dtype if p in kept else None\n",
        names);
}

std::string fsdp1Calls(const core::Model& model, const core::StepGraph& graph) {
    const core::Plan& p = graph.plan;
    const core::FsdpKnobs& knobs = p.fsdp;
    const bool keeps = knobs.reshardAfterForward.kind == core::Reshard::Kind::False;
    const bool hybrid = p.mesh.dpReplicate > 1;
    const auto torchName = [](core::DType type) { return fmt::format("torch.{}", core::nameOf(type)); };
    const auto strategyOf = [&](bool keep) {
        return hybrid ? (keep ? "_HYBRID_SHARD_ZERO2" : "HYBRID_SHARD") : (keep ? "SHARD_GRAD_OP" : "FULL_SHARD");
    };
    std::vector<std::string> ofModel, ofOther;  // with the model's strategy, with the other one
    for (const core::Unit& unit : graph.units) {
        if (unit.isRoot) continue;
        const core::Module& module = model.modules[unit.modules.front().index()];
        ((unit.reshard.kind == core::Reshard::Kind::False) == keeps ? ofModel : ofOther).push_back(module.name);
    }
    const std::string wrapped = quoted(ofModel), apart = quoted(ofOther);
    using Prefetch = core::FsdpKnobs::FlatPrefetch;
    std::string text =
        "   import torch\n"
        "   from torch.distributed.device_mesh import init_device_mesh\n"
        "   from torch.distributed.fsdp import (BackwardPrefetch, FullyShardedDataParallel as FSDP, MixedPrecision,\n"
        "                                       ShardingStrategy)\n";
    text += hybrid ? fmt::format(
                         "   mesh = init_device_mesh(\"cuda\", ({}, {}), mesh_dim_names=(\"dp_replicate\", "
                         "\"dp_shard\"))\n",
                         p.mesh.dpReplicate, p.mesh.dpShard)
                   : fmt::format("   mesh = init_device_mesh(\"cuda\", ({},))\n", p.mesh.dpShard);
    if (p.precision.original != core::DType::F32)
        text += fmt::format("   model.to({})\n", torchName(p.precision.original));
    text += fmt::format(
        "   options = dict(device_mesh=mesh, mixed_precision=MixedPrecision(param_dtype={}, reduce_dtype={}),\n"
        "                  backward_prefetch={}, limit_all_gathers={}{})\n",
        torchName(p.precision.compute()), torchName(p.precision.reduction()),
        knobs.flatPrefetch == Prefetch::Before  ? "BackwardPrefetch.BACKWARD_PRE"
        : knobs.flatPrefetch == Prefetch::After ? "BackwardPrefetch.BACKWARD_POST"
                                                : "None",
        knobs.limitAllGathers ? "True" : "False", p.compiled ? ", use_orig_params=True" : "");
    if (apart.empty()) {
        text += fmt::format(
            "   units = [model.get_submodule(name) for name in [{}]]\n"
            "   model = FSDP(model, auto_wrap_policy=lambda module, recurse, **_: recurse or module in units,\n"
            "                sharding_strategy=ShardingStrategy.{}, **options)\n",
            wrapped, strategyOf(keeps));
    } else {
        text += fmt::format(
            "   strategies = dict.fromkeys([{}], ShardingStrategy.{})\n"
            "   strategies.update(dict.fromkeys([{}], ShardingStrategy.{}))\n"
            "   for name in sorted(strategies, key=lambda name: -name.count(\".\")):  # the innermost first\n"
            "       parent, _, child = name.rpartition(\".\")\n"
            "       unit = FSDP(model.get_submodule(name), sharding_strategy=strategies[name], **options)\n"
            "       setattr(model.get_submodule(parent), child, unit)\n"
            "   model = FSDP(model, sharding_strategy=ShardingStrategy.{}, **options)\n",
            wrapped, strategyOf(keeps), apart, strategyOf(!keeps), strategyOf(keeps));
    }
    if (p.microBatches > 1 && p.gradientSync == core::GradientSync::LastMicroBatch)
        text +=
            "   with model.no_sync():  # every micro-batch but the last\n"
            "       loss = criterion(model(x), y)\n"
            "       loss.backward()\n";
    return text;
}

std::string stepCalls(const core::Plan& plan) {
    if (plan.evaluation)
        return "   model.eval()\n"
               "   with torch.no_grad():\n"
               "       loss = criterion(model(x), y)\n";
    if (plan.clipNorm > 0 && plan.policy == core::UnitPolicy::Fsdp && plan.fsdp.flat)
        return fmt::format("   model.clip_grad_norm_({:.1f})  # after backward\n", plan.clipNorm);
    if (plan.clipNorm > 0)
        return fmt::format("   torch.nn.utils.clip_grad_norm_(model.parameters(), {:.1f})  # after backward\n",
                           plan.clipNorm);
    return "";
}

std::string switchCalls(const core::Plan& plan) {
    const core::FsdpKnobs& fsdp = plan.fsdp;
    std::string text;
    // Switches of one module's communication group, to be set on all of them.
    std::string ofEach;
    const auto each = [&](const std::string& call) { ofEach += "           module." + call + "\n"; };
    if (fsdp.reduceInputs != 1) each(fmt::format("set_reduce_scatter_max_input_buffers({})", fsdp.reduceInputs));
    if (fsdp.separateReduceGroup) each("set_separate_reduce_scatter_group()");
    if (fsdp.divideFactor) each(fmt::format("set_gradient_divide_factor({:.1f})", *fsdp.divideFactor));
    if (fsdp.forceSum) each("set_force_sum_reduction_for_comms(True)");
    if (fsdp.asyncUnshard) each("_set_unshard_async_op(True)");
    if (!ofEach.empty())
        text += "   for module in model.modules():\n       if isinstance(module, FSDPModule):\n" + ofEach;
    for (const std::string& unit : fsdp.notGatheredInBackward)
        text += fmt::format("   {}.set_unshard_in_backward(False)\n",
                            unit == "root" ? "model" : fmt::format("model.get_submodule(\"{}\")", unit));
    if (fsdp.shareContext)
        text += "   share_comm_ctx([module for module in model.modules() if isinstance(module, FSDPModule)])\n";
    if (fsdp.manualFinalize) text += "   model.set_manual_backward_finalization(True)\n";

    std::string before;
    const auto call = [&](const char* name) { before += fmt::format("       model.{}(last)\n", name); };
    if (plan.gradientSync == core::GradientSync::LastMicroBatch) call("set_requires_gradient_sync");
    if (plan.gradientSync == core::GradientSync::AllReduceLast) call("set_requires_all_reduce");
    if (fsdp.keepBetweenMicroBatches) call("set_reshard_after_backward");
    if (fsdp.lastBackwardOnly) call("set_is_last_backward");
    const bool several = plan.microBatches > 1 && !before.empty();
    if (!several && !fsdp.manualFinalize) return text;
    text += fmt::format("   for i in range({}):  # micro-batches\n", plan.microBatches);
    if (several) text += fmt::format("       last = i == {}\n", plan.microBatches - 1) + before;
    text += "       loss(i).backward()\n";
    if (fsdp.manualFinalize) text += "       model.finalize_backward()\n";
    return text;
}

std::string checkpointCalls(const core::Model& model, const core::Plan& plan) {
    using Mode = core::Checkpointing::Mode;
    const core::Checkpointing& how = plan.checkpointing;
    std::string frozen;
    for (const std::string& name : model.workload.frozen)
        frozen += fmt::format(
            "   for name, p in model.named_parameters():\n"
            "       if name == \"{0}\" or name.startswith(\"{0}.\"): p.requires_grad_(False)\n",
            name);
    if (how.mode == Mode::None) return frozen;
    std::string type;
    for (const core::Layer& layer : model.layers)
        if (layer.kind == core::LayerKind::Block && layer.module.valid())
            type = model.modules[layer.module.index()].type;
    std::string arguments = how.earlyStop ? "" : ", early_stop=False";
    if (how.mode == Mode::Selective) arguments += ", context_fn=keep";
    std::string text = frozen +
                       "   from torch.distributed.algorithms._checkpoint.checkpoint_wrapper import (\n"
                       "       apply_activation_checkpointing, checkpoint_wrapper)\n";
    if (how.mode == Mode::Selective)
        text +=
            "   from torch.utils.checkpoint import CheckpointPolicy, create_selective_checkpoint_contexts\n"
            "   def keep():  # attention, and every other product without a bias; one count a pass\n"
            "       count = {False: 0, True: 0}\n"
            "       def policy(context, op, *args, **kwargs):\n"
            "           name = str(op)\n"
            "           if name.startswith((\"aten.mm\", \"aten.linear\")):\n"
            "               count[context.is_recompute] += 1\n"
            "               kept = count[context.is_recompute] % 2 == 1\n"
            "           else:\n"
            "               kept = name.startswith(\"aten.addmm\") or \"_attention\" in name\n"
            "           return CheckpointPolicy.MUST_SAVE if kept else CheckpointPolicy.PREFER_RECOMPUTE\n"
            "       return create_selective_checkpoint_contexts(policy)\n";
    text += fmt::format("   blocks = [m for m in model.modules() if type(m).__name__ == \"{}\"]{}\n", type,
                        how.mode == Mode::EveryNth ? fmt::format("[{}::{}]", how.everyNth - 1, how.everyNth) : "");
    text += fmt::format(
        "   apply_activation_checkpointing(model, check_fn=lambda m: m in blocks,\n"
        "                                  checkpoint_wrapper_fn=lambda m: checkpoint_wrapper(m{}))\n",
        arguments);
    return text;
}

}  // namespace shardscope::cli
