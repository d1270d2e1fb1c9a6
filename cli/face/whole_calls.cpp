#include "cli/face/whole_calls.h"

#include <fmt/format.h>

#include <fmt/ranges.h>

#include "cli/face/fsdp_switches.h"
#include "cli/face/running_names.h"

namespace shardscope::cli {

namespace {

/// Forward and backward, where they stand inside of something.
std::string passCalls(const core::Model& model, const core::Plan& plan, bool noSync) {
    std::string text, indent = "   ";
    // Forward has to stand inside as well: it is there that DDP decides whether to reduce.
    if (noSync) {
        text += indent + "with model.no_sync():  # every micro-batch but the last\n";
        indent += "    ";
    }
    const bool autocast = model.workload.autocast;
    if (autocast)
        text += fmt::format("{}with torch.autocast(\"{}\", dtype={}):\n", indent,
                            model.workload.cpuRules ? "cpu" : "cuda", torchName(plan.precision.compute()));
    if (autocast || noSync)
        text += fmt::format("{}{}loss = criterion(model(x), y)\n{}loss.backward()\n", indent, autocast ? "    " : "",
                            indent);
    return text;
}

bool computesInAnother(const core::Model& model, const core::Plan& plan) {
    return !model.workload.autocast && plan.precision.compute() != plan.precision.original;
}

std::string castOfModel(const core::Plan& plan) {
    return plan.precision.original == core::DType::F32
               ? std::string()
               : fmt::format("   model.to({})\n", torchName(plan.precision.original));
}

std::string evaluationCalls(const core::Model& model, const core::Plan& plan) {
    if (!model.workload.autocast) return stepCalls(plan);
    return fmt::format(
        "   model.eval()\n"
        "   with torch.no_grad(), torch.autocast(\"{}\", dtype={}):\n"
        "       loss = criterion(model(x), y)\n",
        model.workload.cpuRules ? "cpu" : "cuda", torchName(plan.precision.compute()));
}

}  // namespace

std::string torchName(core::DType type) {
    return "torch." + std::string(core::nameOf(type));
}

std::string compileCalls(const core::Model& model, const core::Plan& plan) {
    if (!plan.compiled) return "";
    std::vector<std::string> names;
    for (const core::Layer& layer : model.layers)
        if (layer.kind == core::LayerKind::Block && layer.module.valid() &&
            !model.modules[layer.module.index()].name.empty())
            names.push_back(model.modules[layer.module.index()].name);
    if (names.empty()) return "   model.compile()\n";
    // With stages a rank has some of the modules only.
    const auto guard = [&](const std::string& name, const char* indent) {
        if (plan.mesh.pp == 1) return std::string(indent);
        return fmt::format("{}if {}\"{}\" in dict(model.named_modules()): ", indent,
                           name.find('{') == std::string::npos ? "" : "f", name);
    };
    std::string text;
    for (std::size_t i = 0; i < names.size();) {
        const auto [running, count] = runningFrom(names, i);
        if (count > 1)
            text += fmt::format("   for i in range({}):\n{}{}.compile()\n", count, guard(running, "       "),
                                submodule(running));
        else
            text += fmt::format("{}{}.compile()\n", guard(names[i], "   "), submodule(names[i]));
        i += count;
    }
    return text;
}

std::string ddpCalls(const core::Model& model, const core::Plan& plan) {
    std::string text = "   import torch\n   from torch.nn.parallel import DistributedDataParallel as DDP\n";
    const bool mixed = computesInAnother(model, plan);
    if (mixed) text += "   from torch.nn.parallel.distributed import _MixedPrecision  # private in PyTorch\n";
    text += castOfModel(plan) + checkpointCalls(model, plan) + compileCalls(model, plan) + "   model = DDP(model";
    if (plan.ddp.bucketCap) text += fmt::format(", bucket_cap_mb={:g}", *plan.ddp.bucketCap);
    if (!plan.ddp.bucketCapList.empty())
        text += fmt::format(", bucket_cap_mb_list=[{}]", fmt::join(plan.ddp.bucketCapList, ", "));
    if (plan.ddp.findUnusedParameters) text += ", find_unused_parameters=True";
    if (plan.ddp.staticGraph) text += ", static_graph=True";
    if (plan.ddp.gradientAsBucketView) text += ", gradient_as_bucket_view=True";
    if (mixed)
        text += fmt::format(", mixed_precision=_MixedPrecision(param_dtype={}, reduce_dtype={})",
                            torchName(plan.precision.compute()), torchName(plan.precision.original));
    text += ")\n";
    if (plan.evaluation) return text + evaluationCalls(model, plan);
    const bool noSync = plan.microBatches > 1 && plan.gradientSync == core::GradientSync::LastMicroBatch;
    return text + passCalls(model, plan, noSync) + stepCalls(plan);
}

std::string singleCalls(const core::Model& model, const core::Plan& plan) {
    std::string text =
        "   import torch\n" + castOfModel(plan) + checkpointCalls(model, plan) + compileCalls(model, plan);
    if (computesInAnother(model, plan))
        text += fmt::format(
            "   # no call of PyTorch computes all of it in {} from {} parameters; torch.autocast is the nearest\n"
            "   # (precision.autocast = true)\n",
            torchName(plan.precision.compute()), torchName(plan.precision.original));
    if (plan.evaluation) return text + evaluationCalls(model, plan);
    return text + passCalls(model, plan, false) + stepCalls(plan);
}

}  // namespace shardscope::cli
