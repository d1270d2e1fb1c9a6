#include "cli/face/why_memory.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "cli/face/text_picture.h"
#include "cli/face/text_table.h"
#include "cli/face/words.h"

namespace shardscope::cli {
namespace {

using core::Document;
using core::HostAction;
using core::HostActionKind;
using core::Mark;
using core::MemoryCategory;
using core::Result;

/// When the host had enqueued `op` on the class's row of the timeline; 0 where it shows no such op.
std::int64_t issuedAt(const PlanReport& plan, core::OpId op) {
    const timeline::Spans& spans = plan.timeline.spans;
    for (std::size_t i = 0; i < spans.size(); ++i)
        if (spans.op[i] == op.value && spans.issued[i] != timeline::kNotIssued) return spans.issued[i];
    return 0;
}

PeakAt peakAt(const PlanReport& plan, const sim::MemoryPeak& peak) {
    PeakAt at{peak.total.value, peak.moment, "", "", 0};
    if (!peak.op.valid()) return at;
    at.op = core::labelOf(*plan.graph, *plan.model, peak.op);
    at.phase = core::nameOf(plan.graph->ops[peak.op.index()].phase);
    return at;
}

/// Where a unit that was gathered stands at a later action.
struct Gathering {
    core::GatherReason reason = core::GatherReason::Demand;
    bool waitedFor = false, sinceForward = false, left = false;
};

std::string wordsOf(const Gathering& gathering, const core::Unit& unit) {
    if (gathering.left) return "left whole by the evaluation before";
    if (gathering.sinceForward)
        return unit.reshard.kind == core::Reshard::Kind::False
                   ? "whole since forward, as it is not resharded after forward"
                   : "whole since forward";
    if (gathering.waitedFor) return "its own turn";
    switch (gathering.reason) {
        case core::GatherReason::Demand: return "gathered for its own turn, which comes next";
        case core::GatherReason::ImplicitBackward: return "prefetched by backward beside the unit whose turn it is";
        case core::GatherReason::ExplicitForward: return "prefetched in forward, as a list says";
        case core::GatherReason::ExplicitBackward: return "prefetched in backward, as a list says";
    }
    return "";
}

std::vector<GatheredUnit> gatheredAt(const PlanReport& plan, core::ClassId rankClass, std::uint32_t actions) {
    const core::StepGraph& graph = *plan.graph;
    if (graph.plan.policy != core::UnitPolicy::Fsdp) return {};
    std::map<std::uint32_t, Gathering> gatherings;  // by unit
    for (const core::Block& block : graph.blocks)
        if (block.found && block.rankClass == rankClass) gatherings[block.unit.value].left = true;
    for (const HostAction& action : graph.actionsOf(graph.classes[rankClass.index()]).first(actions)) {
        if (action.kind != HostActionKind::Mark) continue;
        if (action.mark == Mark::GatherIssued) gatherings[action.unit.value] = {action.why, false, false};
        if (action.mark == Mark::GatherWaited) gatherings[action.unit.value].waitedFor = true;
        if (action.mark == Mark::LossBackward)
            for (auto& [unit, gathering] : gatherings) gathering.sinceForward = true;
    }
    std::map<std::uint32_t, std::int64_t> bytes;
    for (const core::BlockId id : sim::blocksAt(graph, rankClass, actions)) {
        const core::Block& block = graph.blocks[id.index()];
        const bool isGathered =
            block.category == MemoryCategory::UnshardedParameters || block.category == MemoryCategory::GatherBuffers;
        if (isGathered && !block.persistent && block.unit.valid()) bytes[block.unit.value] += block.bytes.value;
    }
    std::vector<GatheredUnit> units;
    for (const auto& [unit, size] : bytes)
        units.push_back({graph.units[unit].name, size, wordsOf(gatherings[unit], graph.units[unit])});
    std::stable_sort(units.begin(), units.end(),
                     [](const GatheredUnit& a, const GatheredUnit& b) { return a.bytes > b.bytes; });
    return units;
}

struct Candidate {
    std::vector<std::string> set;
    std::string strategy;  ///< empty: the plan's own
};

/// Settings that may hold less and leave the training what it is: the same batch, dtypes and optimizer.
std::vector<Candidate> candidatesFor(const Report& report, const PlanReport& plan) {
    const core::Plan& p = plan.graph->plan;
    std::vector<Candidate> all;
    const auto add = [&](std::vector<std::string> set, std::string strategy = "") {
        all.push_back({std::move(set), std::move(strategy)});
    };
    using Mode = core::Checkpointing::Mode;
    if (p.checkpointing.mode == Mode::None) add({"training.activation_checkpoint=selective"});
    if (p.checkpointing.mode != Mode::Full) add({"training.activation_checkpoint=full"});
    add({"model.attention=flash"});
    if (const std::int64_t batch = plan.setup.workload.batch; batch > 1) {
        if (plan.name == "naive")
            add({fmt::format("training.naive_micro_batch={}", batch / 2)});
        else
            add({fmt::format("training.local_batch_size={}", batch / 2),
                 fmt::format("training.global_batch_size={}", report.globalBatch)});
    }
    if (!p.fusedOptimizer) add({"training.optimizer_implementation=fused"});
    if (p.gradientSync != core::GradientSync::EveryMicroBatch) add({"training.gradient_sync=every"});
    if (p.policy == core::UnitPolicy::Fsdp) {
        const auto kept = [](const core::Unit& unit) { return unit.reshard.kind != core::Reshard::Kind::True; };
        const std::vector<core::Unit>& units = plan.graph->units;
        if (std::any_of(units.begin(), units.end(), [&](const core::Unit& u) { return !u.isRoot && kept(u); }))
            add({"parallelism.fsdp_reshard_after_forward=always", "parallelism.fsdp_keep_last_unit=false"});
        if (std::any_of(units.begin(), units.end(), [&](const core::Unit& u) { return u.isRoot && kept(u); }))
            add({"parallelism.fsdp_root_reshard_after_forward=always"});
        if (p.fsdp.flat && !p.fsdp.limitAllGathers) add({"parallelism.fsdp1_limit_all_gathers=true"});
        if (p.fsdp.keepBetweenMicroBatches) add({"parallelism.fsdp_reshard_after_backward=true"});
        if (p.fsdp.reduceInputs > 1) add({"parallelism.fsdp_reduce_scatter_inputs=1"});
        if (p.fsdp.lastBackwardOnly) add({"parallelism.fsdp_last_backward_only=false"});
        if (p.fsdp.forwardPrefetch > 0) add({"parallelism.fsdp_forward_prefetch=0"});
        if (p.fsdp.backwardPrefetch > 1) add({"parallelism.fsdp_backward_prefetch=0"});
        if (!p.fsdp.wrap.root) add({"parallelism.fsdp_wrap_root=true"});
    } else if (plan.ranks > 1) {
        add({"parallelism.strategy=fsdp"}, "fsdp");
    }
    if (p.policy == core::UnitPolicy::Ddp && !p.ddp.gradientAsBucketView)
        add({"parallelism.ddp_gradient_as_bucket_view=true"});
    return all;
}

Result<Report> evaluateWith(const Loaded& loaded, const Report& report, const Candidate& candidate) {
    core::Scenario scenario = loaded.scenario;
    for (const std::string& assignment : candidate.set) SHARDSCOPE_TRY(core::applyOverride(scenario, assignment));
    const std::vector<std::string> strategies{candidate.strategy.empty() ? report.plans.front().name
                                                                         : candidate.strategy};
    SHARDSCOPE_ASSIGN(const core::Resolved resolved, core::resolve(scenario, loaded.inputs, strategies));
    EvaluateOptions options;
    options.timelineMemory = false;
    options.before = &report;
    return evaluate(resolved, loaded.source, options);
}

Remedy remedyOf(std::vector<std::string> set, const PlanReport& plan) {
    const MemoryVerdict& memory = plan.tightest().memory;
    return {std::move(set), memory.needed(), memory.step.hostOrder.total.value, plan.stepNs, memory.fits()};
}

/// Nothing where the hardware is given, or is not sharded over.
std::optional<OnMoreGpus> onMoreGpus(const Loaded& loaded, const Report& report) {
    const PlanReport& plan = report.plans.front();
    const core::Plan& p = plan.graph->plan;
    if (p.policy != core::UnitPolicy::Fsdp) return {};
    const Candidate wider{{fmt::format("parallelism.data_parallel_shard_degree={}", 2 * p.mesh.dpShard)}, ""};
    const Result<Report> other = evaluateWith(loaded, report, wider);
    if (!other || other->plans.front().ranks != 2 * plan.ranks) return {};
    return OnMoreGpus{remedyOf(wider.set, other->plans.front()), other->plans.front().ranks, other->globalBatch};
}

Result<std::vector<Remedy>> remediesFor(const Loaded& loaded, const Report& report) {
    const PlanReport& plan = report.plans.front();
    const std::int64_t needed = plan.tightest().memory.needed();
    std::vector<Remedy> remedies;
    for (Candidate& candidate : candidatesFor(report, plan)) {
        const Result<Report> other = evaluateWith(loaded, report, candidate);
        if (!other && other.error().code == core::ErrorCode::Cancelled) return tl::unexpected(other.error());
        if (!other || other->globalBatch != report.globalBatch || other->plans.front().ranks != plan.ranks) continue;
        Remedy remedy = remedyOf(std::move(candidate.set), other->plans.front());
        if (remedy.neededBytes < needed) remedies.push_back(std::move(remedy));
    }
    std::stable_sort(remedies.begin(), remedies.end(),
                     [](const Remedy& a, const Remedy& b) { return a.neededBytes < b.neededBytes; });
    return remedies;
}

std::string shareText(std::int64_t part, std::int64_t whole) {
    return whole > 0 ? percentText(static_cast<double>(part) / static_cast<double>(whole)) : "-";
}

/// "+57.1 ms", "-3.20 ms", "as now": what a step of `after` takes more than one of `before`.
std::string differenceText(std::int64_t before, std::int64_t after) {
    if (after == before) return "as now";
    return (after > before ? "+" : "-") + durationText(std::abs(after - before));
}

std::string whenText(const PlanReport& plan, const WhyMemory& why) {
    const auto at = [&](const PeakAt& peak) {
        return fmt::format("{} into the step ({}){}", durationText(peak.atNs), shareText(peak.atNs, plan.stepNs),
                           peak.phase.empty() ? std::string() : fmt::format(", phase {}", peak.phase));
    };
    std::string text = fmt::format("  PyTorch counts most as allocated, {}, at: {}.\n", bytesText(why.allocated.bytes),
                                   why.allocated.moment);
    text += fmt::format("    The host, which enqueues ahead of the device, gets there {}.\n", at(why.allocated));
    text += fmt::format("  The device has most in use at one instant, {}, as {}.\n    That is {}.\n",
                        bytesText(why.inUse.bytes), why.inUse.moment, at(why.inUse));
    return text;
}

std::string categoryTable(const sim::MemoryPeak& peak) {
    std::vector<std::pair<std::int64_t, MemoryCategory>> categories;
    for (std::size_t c = 0; c < core::kMemoryCategories; ++c)
        if (peak.byCategory.bytes[c] > 0)
            categories.emplace_back(peak.byCategory.bytes[c], static_cast<MemoryCategory>(c));
    std::stable_sort(categories.begin(), categories.end(),
                     [](const auto& a, const auto& b) { return a.first > b.first; });
    TextTable table({"kind", "bytes", "share"}, {Align::Left, Align::Right, Align::Right});
    for (const auto& [bytes, category] : categories)
        table.row({std::string(core::nameOf(category)), bytesText(bytes), shareText(bytes, peak.total.value)});
    return table.text(2);
}

std::string partTable(const sim::MemoryPeak& peak) {
    constexpr std::size_t kMostRows = 8;
    TextTable table({"tensors", "whose", "kind", "bytes", "share"},
                    {Align::Left, Align::Left, Align::Left, Align::Right, Align::Right});
    for (std::size_t i = 0; i < std::min(kMostRows, peak.parts.size()); ++i) {
        const sim::MemoryPart& part = peak.parts[i];
        table.row({part.tensors,
                   part.count == 1
                       ? part.owner
                       : fmt::format("{}, {} x {}", part.owner, part.count, bytesText(part.bytes.value / part.count)),
                   std::string(core::nameOf(part.category)), bytesText(part.bytes.value),
                   shareText(part.bytes.value, peak.total.value)});
    }
    return table.text(2);
}

std::string gatheredText(const WhyMemory& why) {
    if (why.gathered.empty()) return "";
    constexpr std::size_t kMostUnits = 6;
    std::int64_t all = 0;
    for (const GatheredUnit& unit : why.gathered) all += unit.bytes;
    std::string text =
        fmt::format("\nUnits that are whole at that moment: {}, {} together\n", why.gathered.size(), bytesText(all));
    for (std::size_t i = 0; i < std::min(kMostUnits, why.gathered.size()); ++i)
        text +=
            fmt::format("  {} ({}): {}\n", why.gathered[i].unit, bytesText(why.gathered[i].bytes), why.gathered[i].why);
    if (why.gathered.size() > kMostUnits) text += fmt::format("  ... {} more\n", why.gathered.size() - kMostUnits);
    return text;
}

std::string reservedText(const MemoryVerdict& memory, const WhyMemory& why) {
    const std::int64_t reserved = memory.step.reserved.value;
    const std::int64_t over = reserved - why.allocated.bytes;
    std::string text = fmt::format(
        "\nReserved against allocated\n  The allocator reserves {} for {} at the most: {} ({}) more. What is freed "
        "serves only its own stream\n  again, and only where it is large enough; segments are not given back.\n",
        bytesText(reserved), bytesText(why.allocated.bytes), bytesText(over), shareText(over, why.allocated.bytes));
    text += "  By stream:";
    for (std::size_t i = 0; i < why.reservedOf.size(); ++i)
        text += fmt::format("{} {} {}", i > 0 ? "," : "", why.reservedOf[i].first, bytesText(why.reservedOf[i].second));
    return text + ".\n";
}

std::string remedyText(const Report& report, const WhyMemory& why) {
    const PlanReport& plan = report.plans.front();
    std::string text = "\nWhat would take it down, each simulated anew with everything else as it is\n";
    if (why.remedies.empty()) text += "  None of the settings that leave the training as it is.\n";
    TextTable table({"setting", "needed", "less", "step", "", "fits"},
                    {Align::Left, Align::Right, Align::Right, Align::Right, Align::Right, Align::Left});
    const std::int64_t needed = plan.classes[why.fullest].memory.needed();
    for (const Remedy& remedy : why.remedies) {
        std::string set;
        for (const std::string& one : remedy.set) set += (set.empty() ? "" : " ") + one;
        table.row({set, bytesText(remedy.neededBytes), bytesText(needed - remedy.neededBytes),
                   durationText(remedy.stepNs), differenceText(plan.stepNs, remedy.stepNs),
                   remedy.fits ? "yes" : "NO"});
    }
    if (!why.remedies.empty()) text += table.text(2);
    if (const auto& wide = why.onMoreGpus; wide && wide->remedy.neededBytes < needed)
        text += fmt::format(
            "  On {} GPUs, each with its batch as now ({} {}s a step together): {} needed, {} less; {}.\n", wide->ranks,
            wide->globalBatch, report.sampleWord, bytesText(wide->remedy.neededBytes),
            bytesText(needed - wide->remedy.neededBytes), wide->remedy.fits ? "it fits" : "it does not fit");
    return text;
}

Document remedyDocument(const Remedy& remedy) {
    Document row = Document::table(), set = Document::list();
    for (const std::string& one : remedy.set) set.items.push_back(Document::of(one));
    row.set("set", std::move(set));
    row.set("needed_bytes", Document::of(remedy.neededBytes));
    row.set("allocated_bytes", Document::of(remedy.allocatedBytes));
    row.set("step_ns", Document::of(remedy.stepNs));
    row.set("fits", Document::of(remedy.fits));
    return row;
}

Document peakDocument(const PeakAt& peak) {
    Document out = Document::table();
    out.set("bytes", Document::of(peak.bytes));
    out.set("moment", Document::of(peak.moment));
    out.set("op", Document::of(peak.op));
    out.set("phase", Document::of(peak.phase));
    out.set("at_ns", Document::of(peak.atNs));
    return out;
}

}  // namespace

Result<WhyMemory> whyMemory(const Loaded& loaded, const Report& report) {
    const PlanReport& plan = report.plans.front();
    WhyMemory why;
    const ClassReport& fullest = plan.tightest();
    why.fullest = static_cast<std::size_t>(&fullest - plan.classes.data());
    const sim::StepMemory& step = fullest.memory.step;
    why.allocated = peakAt(plan, step.hostOrder);
    if (step.hostOrder.op.valid()) why.allocated.atNs = issuedAt(plan, step.hostOrder.op);
    why.inUse = peakAt(plan, step.deviceTime);
    why.inUse.atNs = step.deviceTimePeakAt;
    why.stays = step.atStart.total().value;
    const core::ClassId rankClass(static_cast<std::size_t>(plan.timeline.ranks[why.fullest].stage));
    why.gathered = gatheredAt(plan, rankClass, step.peakAction);
    for (std::size_t stream = 0; stream < step.reservedOf.size(); ++stream)
        if (step.reservedOf[stream].value > 0)
            why.reservedOf.emplace_back(plan.graph->streams[stream].name, step.reservedOf[stream].value);
    std::stable_sort(why.reservedOf.begin(), why.reservedOf.end(),
                     [](const auto& a, const auto& b) { return a.second > b.second; });
    SHARDSCOPE_ASSIGN(why.remedies, remediesFor(loaded, report));
    why.onMoreGpus = onMoreGpus(loaded, report);
    return why;
}

std::string whyMemoryText(const Report& report, const WhyMemory& why) {
    const PlanReport& plan = report.plans.front();
    const ClassReport& fullest = plan.classes[why.fullest];
    const MemoryVerdict& memory = fullest.memory;
    std::string text = fmt::format("Why a GPU of {} needs {}\n", plan.name, bytesText(memory.needed()));
    text += fmt::format("  Fullest {}. Of {} that can be used {}.\n", ranksInWords(fullest),
                        bytesText(memory.reserve.usable.value),
                        memory.fits() ? fmt::format("{} stay free", bytesText(memory.left()))
                                      : fmt::format("{} are missing: it does not fit", bytesText(-memory.left())));
    text += fmt::format("  Needed: {} that the allocator reserves, {} of CUDA's context, {} of NCCL's buffers.\n",
                        bytesText(memory.step.reserved.value), bytesText(memory.reserve.context.value),
                        bytesText(memory.reserve.communication.value));
    text += "\nWhen it is fullest\n" + whenText(plan, why);
    text += fmt::format("\nWhat the {} consist of\n", bytesText(why.allocated.bytes)) +
            categoryTable(memory.step.hostOrder);
    text += fmt::format("  {} of it ({}) is there before the step and stays; the rest comes and goes.\n",
                        bytesText(why.stays), shareText(why.stays, why.allocated.bytes));
    text += "\nThe largest tensors\n" + partTable(memory.step.hostOrder);
    text += gatheredText(why) + reservedText(memory, why);
    return text + remedyText(report, why);
}

Document whyMemoryDocument(const Report& report, const WhyMemory& why) {
    const PlanReport& plan = report.plans.front();
    const ClassReport& fullest = plan.classes[why.fullest];
    Document out = Document::table();
    out.set("class", Document::of(fullest.name));
    out.set("first_rank", Document::of(fullest.firstRank));
    out.set("ranks", Document::of(fullest.ranks));
    out.set("needed_bytes", Document::of(fullest.memory.needed()));
    out.set("left_bytes", Document::of(fullest.memory.left()));
    out.set("allocated_peak", peakDocument(why.allocated));
    out.set("in_use_peak", peakDocument(why.inUse));
    out.set("stays_bytes", Document::of(why.stays));
    out.set("reserved_bytes", Document::of(fullest.memory.step.reserved.value));
    Document gathered = Document::list(), streams = Document::list(), remedies = Document::list();
    for (const GatheredUnit& unit : why.gathered) {
        Document& row = gathered.items.emplace_back(Document::table());
        row.set("unit", Document::of(unit.unit));
        row.set("bytes", Document::of(unit.bytes));
        row.set("why", Document::of(unit.why));
    }
    for (const auto& [stream, bytes] : why.reservedOf) {
        Document& row = streams.items.emplace_back(Document::table());
        row.set("stream", Document::of(stream));
        row.set("bytes", Document::of(bytes));
    }
    for (const Remedy& remedy : why.remedies) remedies.items.push_back(remedyDocument(remedy));
    if (const auto& wide = why.onMoreGpus) {
        Document& row = out.set("on_more_gpus", remedyDocument(wide->remedy));
        row.set("ranks", Document::of(wide->ranks));
        row.set("global_batch_size", Document::of(wide->globalBatch));
    }
    out.set("gathered", std::move(gathered));
    out.set("reserved_by_stream", std::move(streams));
    out.set("remedies", std::move(remedies));
    return out;
}

}  // namespace shardscope::cli
