// What a plan does, step by step, with its sizes, and the PyTorch that would do the same.

#include <fmt/format.h>

#include <algorithm>

#include "cli/face/fsdp_switches.h"
#include "cli/face/report.h"
#include "cli/face/running_names.h"
#include "cli/face/text_picture.h"
#include "cli/face/text_table.h"
#include "cli/face/whole_calls.h"
#include "core/plan/sharding.h"

namespace shardscope::cli {
namespace {

std::string wordOf(const core::Reshard& reshard) {
    switch (reshard.kind) {
        case core::Reshard::Kind::Unset: return "None";
        case core::Reshard::Kind::True: return "True";
        case core::Reshard::Kind::False: return "False";
        case core::Reshard::Kind::Group: return std::to_string(reshard.group);
    }
    return "";
}

std::string rankList(std::int64_t first, std::int64_t count) {
    return count == 1 ? fmt::format("rank {}", first) : fmt::format("ranks {} to {}", first, first + count - 1);
}

std::string meshText(const Report& report, const core::Plan& plan) {
    const core::Cluster& cluster = report.cluster;
    std::string text = "1. The mesh\n";
    const std::pair<const char*, std::int64_t> dimensions[] = {
        {"pp", plan.mesh.pp}, {"dp_replicate", plan.mesh.dpReplicate}, {"dp_shard", plan.mesh.dpShard}};
    for (const auto& [name, size] : dimensions)
        if (size > 1) text += fmt::format("   {:<13} {}\n", name, size);
    if (plan.mesh.size() == 1) text += "   one rank: nothing to gather, to reduce or to send\n";
    const std::int64_t ranks = plan.mesh.size();
    const std::int64_t nodes = (ranks + cluster.gpusPerNode - 1) / cluster.gpusPerNode;
    constexpr std::int64_t kMostNodes = 6;
    for (std::int64_t node = 0; node < nodes; ++node) {
        if (nodes > kMostNodes && node == kMostNodes - 1 && node != nodes - 1) {
            text += fmt::format("   ... {} nodes more, the same way\n", nodes - node);
            break;
        }
        const std::int64_t first = node * cluster.gpusPerNode;
        text += fmt::format("   node {}: {}\n", node, rankList(first, std::min(cluster.gpusPerNode, ranks - first)));
    }
    return text;
}

/// Units that are alike in all the figures shown and follow each other, in one line.
std::string unitTable(const PlanReport& plan) {
    const core::StepGraph& graph = *plan.graph;
    const core::Plan& p = graph.plan;
    const std::int64_t ranks = p.mesh.dpShard;
    TextTable table({"unit", "parameters", "padded shard", "gathers", "reduces", "reshard"},
                    {Align::Left, Align::Right, Align::Right, Align::Right, Align::Right, Align::Left});
    const auto same = [](const core::Unit& a, const core::Unit& b) {
        return a.elements == b.elements && a.paddedElements == b.paddedElements &&
               a.originalPadded == b.originalPadded && a.reshard == b.reshard && a.isRoot == b.isRoot;
    };
    for (std::size_t i = 0; i < graph.units.size();) {
        std::size_t end = i + 1;
        while (end < graph.units.size() && same(graph.units[i], graph.units[end]) &&
               follows(graph.units[end - 1].name, graph.units[end].name))
            ++end;
        const core::Unit& unit = graph.units[i];
        const std::string name =
            end - i > 1 ? fmt::format("{} .. {} ({})", unit.name, graph.units[end - 1].name, end - i) : unit.name;
        const auto onTheWire = [&](core::DType type, std::int64_t original) {
            const std::int64_t bytes =
                (unit.paddedElements - original) * core::sizeOf(type) + original * core::sizeOf(p.precision.original);
            return ranks > 1 ? bytesText(bytes) : std::string("-");
        };
        table.row({name, groupedDigits(unit.elements),
                   groupedDigits(unit.paddedElements / std::max<std::int64_t>(ranks, 1)),
                   onTheWire(p.precision.compute(), unit.originalPadded), onTheWire(p.precision.reduction(), 0),
                   wordOf(unit.reshard)});
        i = end;
    }
    return table.text(3);
}

std::string missingRootText(const PlanReport& plan) {
    std::string text =
        "   no root: every unit is a root of its own, nothing is prefetched in backward, and each unit's "
        "reduce-scatter\n"
        "   buffer stays until the end of backward\n";
    if (!plan.missingRoot) return text;
    const MissingRoot& root = *plan.missingRoot;
    const core::Bytes peak = plan.tightest().memory.step.hostOrder.total;
    const auto gigabytes = [](core::Bytes without, core::Bytes with) {
        return fmt::format("{:+.3f} GB ({} instead of {})", static_cast<double>(without.value - with.value) * 1e-9,
                           bytesText(without.value), bytesText(with.value));
    };
    std::vector<bool> held(plan.model->parameters.size(), false);
    for (const core::Unit& unit : plan.graph->units)
        for (const core::ParameterId id : unit.parameters) held[id.index()] = true;
    std::int64_t whole = 0;
    for (std::size_t i = 0; i < held.size(); ++i)
        if (!held[i]) whole += core::elementsOf(plan.model->parameters[i].shape);
    if (whole > 0)
        text += fmt::format(
            "   {} parameters belong to no unit: they stay whole on every rank, and nobody averages their gradients,\n"
            "   so that the ranks drift apart\n",
            groupedDigits(whole));
    text += fmt::format("   what leaving it out changes: {:+.3f} ms a step ({} instead of {}),\n",
                        static_cast<double>(plan.stepNs - root.stepWithRootNs) * 1e-6, durationText(plan.stepNs),
                        durationText(root.stepWithRootNs));
    text += fmt::format("     {} at the peak,\n     {} at most of gathered parameters, gradients and buffers\n",
                        gigabytes(peak, root.peakWithRoot), gigabytes(root.borrowed, root.borrowedWithRoot));
    return text;
}

std::string rootText(const PlanReport& plan) {
    const core::StepGraph& graph = *plan.graph;
    if (!graph.plan.fsdp.wrap.root) return missingRootText(plan);
    std::string text;
    std::size_t stage = 0;
    for (const core::Unit& root : graph.units) {
        if (!root.isRoot) continue;
        text +=
            fmt::format("   the root{} owns {} parameters in {} {}:\n",
                        graph.plan.mesh.pp > 1 ? fmt::format(" of stage {}", stage) : "", groupedDigits(root.elements),
                        root.parameters.size(), root.parameters.size() == 1 ? "tensor" : "tensors");
        constexpr std::size_t kMostShown = 12;
        for (std::size_t i = 0; i < std::min(kMostShown, root.parameters.size()); ++i) {
            const core::Parameter& parameter = plan.model->parameters[root.parameters[i].index()];
            text += fmt::format("     {} {}\n", parameter.name, core::toString(parameter.shape));
        }
        if (root.parameters.size() > kMostShown)
            text += fmt::format("     ... {} more\n", root.parameters.size() - kMostShown);
        if (root.paddedElements > root.elements)
            text += fmt::format(
                "     padded to {} for {} ranks: a leading dimension that the ranks do not divide is filled up\n",
                groupedDigits(root.paddedElements), graph.plan.mesh.dpShard);
        ++stage;
    }
    return text.empty() ? "   it owns no parameters of its own\n" : text;
}

std::vector<const core::Unit*> unitsBelowRoot(const core::StepGraph& graph) {
    std::vector<const core::Unit*> units;
    for (const core::Unit& unit : graph.units)
        if (!unit.isRoot) units.push_back(&unit);
    return units;
}

/// One fully_shard a unit, in the graph's order, which is that of the calls; units of equally many modules whose names
/// count up make a loop.
std::string unitCalls(const core::Model& model, const core::StepGraph& graph) {
    const auto nameOf = [&](const core::Unit& unit, std::size_t m) -> const std::string& {
        return model.modules[unit.modules[m].index()].name;
    };
    const std::vector<const core::Unit*> units = unitsBelowRoot(graph);
    // With stages a rank has some of the modules only.
    const bool staged = graph.plan.mesh.pp > 1;
    const auto guard = [&](const std::string& name, const char* indent) {
        if (!staged) return std::string(indent);
        return fmt::format("{0}if {1}\"{2}\" in own:\n{0}    ", indent, name.find('{') == std::string::npos ? "" : "f",
                           name);
    };
    std::string text = staged ? "   own = dict(model.named_modules())  # of this rank's stage\n" : "";
    for (std::size_t i = 0; i < units.size();) {
        const std::size_t size = units[i]->modules.size();
        std::vector<std::string> names;
        std::size_t end = i;
        for (; end < units.size() && units[end]->modules.size() == size && units[end]->reshard == units[i]->reshard;
             ++end)
            for (std::size_t m = 0; m < size; ++m) names.push_back(nameOf(*units[end], m));
        const std::string arguments = fmt::format("mesh=mesh, mp_policy=policy{}, reshard_after_forward={}",
                                                  policyArguments(graph.plan), wordOf(units[i]->reshard));
        if (const std::string running = runningName(names); !running.empty() && end - i > 1 && (size == 1 || !staged)) {
            if (size == 1)
                text += fmt::format("   for i in range({}):\n{}fully_shard({}, {})\n", names.size(),
                                    guard(running, "       "), submodule(running), arguments);
            else
                text += fmt::format(
                    "   for first in range(0, {0}, {1}):\n"
                    "       fully_shard([{2} for i in range(first, first + {1})], {3})\n",
                    names.size(), size, submodule(running), arguments);
            i = end;
            continue;
        }
        std::string target;
        for (std::size_t m = 0; m < size; ++m) target += (m > 0 ? ", " : "") + submodule(nameOf(*units[i], m));
        text += fmt::format("{}fully_shard({}, {})\n", guard(nameOf(*units[i], 0), "   "),
                            size > 1 ? "[" + target + "]" : target, arguments);
        ++i;
    }
    return text;
}

/// Over `units`, in the order of forward.
std::string prefetchLists(const core::FsdpKnobs& fsdp) {
    std::string text;
    if (fsdp.forwardPrefetch > 0)
        text += fmt::format(
            "   for i, unit in enumerate(units):\n"
            "       unit.set_modules_to_forward_prefetch(units[i + 1 : i + {}])\n",
            fsdp.forwardPrefetch + 1);
    if (fsdp.backwardPrefetch > 0)
        text += fmt::format(
            "   for i, unit in enumerate(units):\n"
            "       unit.set_modules_to_backward_prefetch(units[max(0, i - {}) : i][::-1])\n",
            fsdp.backwardPrefetch);
    if (fsdp.rootPrefetch > 0)
        text += fmt::format(
            "   model.set_modules_to_forward_prefetch(units[:{0}])\n"
            "   model.set_modules_to_backward_prefetch(units[-{0}:][::-1])\n",
            fsdp.rootPrefetch);
    return text;
}

/// The explicit lists (framework semantics 1.4, 1.5); a unit of several modules is known by its first.
std::string prefetchCalls(const core::Model& model, const core::StepGraph& graph) {
    const core::FsdpKnobs& fsdp = graph.plan.fsdp;
    if (fsdp.forwardPrefetch == 0 && fsdp.backwardPrefetch == 0 && fsdp.rootPrefetch == 0) return "";
    std::vector<std::string> names;
    for (const core::Unit* unit : unitsBelowRoot(graph)) names.push_back(model.modules[unit->modules[0].index()].name);
    if (graph.plan.mesh.pp > 1) {
        std::string text = "   names = [";
        for (std::size_t i = 0; i < names.size(); ++i) text += fmt::format("{}\"{}\"", i > 0 ? ", " : "", names[i]);
        return text + "]\n   units = [own[name] for name in names if name in own]\n" + prefetchLists(fsdp);
    }
    std::string text = "   units = [";
    for (std::size_t i = 0; i < names.size();) {
        const auto [running, count] = runningFrom(names, i);
        text += i > 0 ? ",\n            " : "";
        text += count > 1 ? fmt::format("*({} for i in range({}))", submodule(running), count) : submodule(names[i]);
        i += count;
    }
    text += "]\n";
    return text + prefetchLists(fsdp);
}

std::string fsdpCalls(const PlanReport& plan) {
    const core::StepGraph& graph = *plan.graph;
    const core::Plan& p = graph.plan;
    if (p.fsdp.flat)
        return checkpointCalls(*plan.model, p) + compileCalls(*plan.model, p) + fsdp1Calls(*plan.model, graph) +
               stepCalls(p);
    std::string text =
        "   import torch\n"
        "   from torch.distributed.device_mesh import init_device_mesh\n"
        "   from torch.distributed.fsdp import MixedPrecisionPolicy, fully_shard\n";
    if (p.fsdp.cpuOffload) text += "   from torch.distributed.fsdp import CPUOffloadPolicy\n";
    if (!p.fsdp.shardedOnDim1.empty()) text += "   from torch.distributed.tensor import Shard\n";
    const std::string switches = switchCalls(p);
    for (const char* name : {"FSDPModule", "share_comm_ctx"})
        if (switches.find(name) != std::string::npos)
            text += fmt::format("   from torch.distributed.fsdp import {}\n", name);
    text += "\n";
    std::string sizes, names, used;
    const auto dimension = [](std::string& list, const std::string& item) {
        list += (list.empty() ? "" : ", ") + item;
    };
    for (const auto& [name, size] : {std::pair{"pp", p.mesh.pp}, std::pair{"dp_replicate", p.mesh.dpReplicate},
                                     std::pair{"dp_shard", p.mesh.dpShard}}) {
        const bool isShard = std::string_view(name) == "dp_shard";
        const bool isReplicate = std::string_view(name) == "dp_replicate";
        if (size == 1 && !isShard && !(isReplicate && p.fsdp.hybridMesh)) continue;
        dimension(sizes, std::to_string(size));
        dimension(names, fmt::format("\"{}\"", name));
        if (std::string_view(name) != "pp") dimension(used, fmt::format("\"{}\"", name));
    }
    if (p.mesh.pp > 1) text += "   # every rank builds, and wraps, the layers of its own stage alone\n";
    const bool one = names == used && p.mesh.dpReplicate == 1 && !p.fsdp.hybridMesh;
    text += fmt::format("   mesh = init_device_mesh(\"cuda\", ({}{}), mesh_dim_names=({}{})){}\n", sizes,
                        one ? "," : "", names, one ? "," : "", names == used ? "" : fmt::format("[{}]", used));
    const auto optional = [](const std::optional<core::DType>& type) {
        return type ? torchName(*type) : std::string("None");
    };
    text += overrideFunction(p);
    text += fmt::format("   policy = MixedPrecisionPolicy(param_dtype={}, reduce_dtype={}{})\n",
                        optional(p.precision.param), optional(p.precision.reduce),
                        p.fsdp.originalDtype.empty() ? "" : ", param_dtype_override_fn=override");
    if (p.precision.original != core::DType::F32)
        text += fmt::format("   model.to({})\n", torchName(p.precision.original));
    if (p.fsdp.cpuOffload)
        text += fmt::format("   offload = CPUOffloadPolicy(pin_memory={})\n", p.fsdp.pinMemory ? "True" : "False");
    text += placementFunction(p);
    text += checkpointCalls(*plan.model, p) + compileCalls(*plan.model, p);
    text += unitCalls(*plan.model, graph);
    if (p.fsdp.wrap.root) {
        const core::Reshard& given = p.fsdp.rootReshardAfterForward;
        text += fmt::format("   fully_shard(model, mesh=mesh, mp_policy=policy{}{})\n", policyArguments(p),
                            given.kind == core::Reshard::Kind::Unset ? "" : ", reshard_after_forward=" + wordOf(given));
    }
    return text + prefetchCalls(*plan.model, graph) + switches + stepCalls(p);
}

std::string stageText(const PlanReport& plan) {
    const core::StepGraph& graph = *plan.graph;
    const core::Model& model = *plan.model;
    TextTable table({"stage", "layers", "parameters"}, {Align::Left, Align::Left, Align::Right});
    for (const core::RankClass& stage : graph.classes) {
        std::int64_t elements = 0;
        std::vector<bool> counted(model.parameters.size(), false);  // layers of one stage may share a weight
        for (std::size_t l = stage.layerBegin.index(); l < stage.layerEnd.index(); ++l)
            for (const core::ParameterId id : model.layers[l].parameters) {
                if (counted[id.index()]) continue;
                counted[id.index()] = true;
                elements += core::elementsOf(model.parameters[id.index()].shape);
            }
        const std::string first = model.layers[stage.layerBegin.index()].name;
        const std::string last = model.layers[stage.layerEnd.index() - 1].name;
        table.row({std::to_string(stage.stage), first == last ? first : fmt::format("{} .. {}", first, last),
                   groupedDigits(elements)});
    }
    return table.text(3);
}

std::string peakText(const PlanReport& plan) {
    const ClassReport& one = plan.tightest();
    const sim::MemoryPeak& peak = one.memory.step.hostOrder;
    std::string text =
        fmt::format("The peak of {}: {} allocated at {}\n", one.name, bytesText(peak.total.value), peak.moment);
    TextTable table({"what", "tensors", "whose", "bytes"}, {Align::Left, Align::Left, Align::Left, Align::Right});
    constexpr std::size_t kMostRows = 20;
    for (std::size_t i = 0; i < std::min(kMostRows, peak.parts.size()); ++i) {
        const sim::MemoryPart& part = peak.parts[i];
        table.row({std::string(core::nameOf(part.category)), part.tensors,
                   part.count == 1
                       ? part.owner
                       : fmt::format("{}, {} x {}", part.owner, part.count, bytesText(part.bytes.value / part.count)),
                   bytesText(part.bytes.value)});
    }
    if (peak.parts.size() > kMostRows) table.row({fmt::format("... {} more", peak.parts.size() - kMostRows)});
    return text + table.text(3);
}

std::string bucketTable(const PlanReport& plan) {
    TextTable table({"bucket", "parameters", "size", "first gradient", "last gradient"},
                    {Align::Left, Align::Right, Align::Right, Align::Left, Align::Left});
    const std::int64_t size = core::sizeOf(plan.graph->plan.precision.original);
    const auto name = [&](core::ParameterId p) { return plan.model->parameters[p.index()].name; };
    for (const core::Unit& unit : plan.graph->units)
        table.row({unit.name, std::to_string(unit.parameters.size()), bytesText(unit.elements * size),
                   name(unit.parameters.front()), name(unit.parameters.back())});
    return table.text(3);
}

std::string syncText(const core::Plan& plan) {
    if (plan.evaluation) return "Forward alone: no gradients, nothing to average";
    if (plan.microBatches == 1) return "The end of backward waits for all of them, then the optimizer steps";
    return plan.gradientSync == core::GradientSync::EveryMicroBatch
               ? fmt::format("So after each of {} micro-batches, then the optimizer steps", plan.microBatches)
               : fmt::format("So after the last of {} micro-batches, then the optimizer steps", plan.microBatches);
}

}  // namespace

std::string explanation(const Report& report, const PlanReport& plan) {
    const core::Plan& p = plan.graph->plan;
    std::string text = fmt::format("How {} does it\n", plan.name);
    text += meshText(report, p);
    if (p.policy == core::UnitPolicy::Fsdp) {
        const bool freed = std::any_of(plan.graph->units.begin(), plan.graph->units.end(), [](const core::Unit& unit) {
            return !unit.isRoot && unit.reshard.kind != core::Reshard::Kind::False;
        });
        text += p.evaluation
                    ? fmt::format("2. Every unit: gathered before it computes, {}; no gradients\n",
                                  freed ? "freed after" : "kept for the next step")
                    : fmt::format(
                          "2. Every unit: gathered before it computes, {}, its gradients reduced and kept as a shard\n",
                          freed ? "freed after" : "kept from forward to the end of its backward");
        text += unitTable(plan);
        text += "3. The root takes what is left\n" + rootText(plan);
        text += fmt::format("   dtypes: {} kept, {} gathered and computed, {} reduced\n",
                            core::nameOf(p.precision.original), core::nameOf(p.precision.compute()),
                            core::nameOf(p.precision.reduction()));
        if (p.fsdp.cpuOffload)
            text +=
                "   on the host: shards, their gradients and the optimizer; every gather copies the own shard to the "
                "GPU,\n"
                "   every reduction copies its share back\n";
    } else if (p.policy == core::UnitPolicy::Ddp) {
        text += p.evaluation ? std::string("2. Every rank has the whole model\n")
                             : "2. Every rank has the whole model; gradients are averaged in buckets, in this order\n" +
                                   bucketTable(plan);
        text += fmt::format("3. {}\n", syncText(p));
    } else {
        const bool alone = p.mesh.pp == 1;
        text += (alone ? "2. All layers on one GPU\n" : "2. Contiguous layers on every stage\n") + stageText(plan);
        text += fmt::format("3. {} {}, {}: {}\n", p.microBatches, p.microBatches == 1 ? "micro-batch" : "micro-batches",
                            p.evaluation && !alone ? "each stage taking the next once it is free" : "one at a time",
                            p.evaluation ? (alone ? "forward alone" : "activations go to the next stage")
                            : alone      ? "their gradients are added up, then the optimizer steps"
                                         : "activations go to the next stage, their gradients come back");
    }
    text += peakText(plan);
    if (p.policy == core::UnitPolicy::Fsdp) text += "The same in PyTorch\n" + fsdpCalls(plan);
    if (p.policy == core::UnitPolicy::Ddp) text += "The same in PyTorch\n" + ddpCalls(*plan.model, p);
    if (p.policy == core::UnitPolicy::None && p.mesh.pp == 1)
        text += "The same in PyTorch\n" + singleCalls(*plan.model, p);
    return text;
}

}  // namespace shardscope::cli
