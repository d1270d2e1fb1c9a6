// A report as JSON. Members are only ever added within a version.

#include "cli/face/report.h"

namespace shardscope::cli {
namespace {

using core::Document;

Document object(std::vector<std::pair<std::string, Document>> members) {
    Document out = Document::table();
    out.members = std::move(members);
    return out;
}

Document of(std::int64_t n) {
    return Document::of(n);
}
Document of(const std::string& text) {
    return Document::of(text);
}

Document texts(const std::vector<std::string>& all) {
    Document list = Document::list();
    for (const std::string& text : all) list.items.push_back(Document::of(text));
    return list;
}

Document timesDocument(const timeline::Breakdown& t) {
    return object({{"compute_ns", of(t.compute)},
                   {"exposed_transfer_ns", of(t.transfer)},
                   {"exposed_copy_ns", of(t.copy)},
                   {"waiting_ns", of(t.waiting)},
                   {"idle_ns", of(t.idle)},
                   {"step_ns", of(t.step)},
                   {"transfer_total_ns", of(t.totalTransfer)},
                   {"transfer_hidden_ns", of(t.hiddenTransfer())},
                   {"copy_total_ns", of(t.totalCopy)}});
}

Document workDocument(const timeline::ComputeWork& work) {
    return object({{"forward_ns", of(work.forward)},
                   {"backward_ns", of(work.backward)},
                   {"recompute_ns", of(work.recompute)},
                   {"accumulation_ns", of(work.accumulation)},
                   {"copies_ns", of(work.copies)},
                   {"optimizer_ns", of(work.optimizer)},
                   {"other_ns", of(work.other)}});
}

Document causesDocument(const std::vector<timeline::CauseTotal>& causes, const timeline::Timeline& timeline) {
    Document list = Document::list();
    for (const timeline::CauseTotal& cause : causes)
        list.items.push_back(object({{"cause", of(std::string(timeline::nameOf(cause.cause)))},
                                     {"unit", of(timeline.strings[cause.unit])},
                                     {"time_ns", of(cause.time)}}));
    return list;
}

Document categoriesDocument(const core::CategoryBytes& bytes) {
    Document out = Document::table();
    for (std::size_t c = 0; c < core::kMemoryCategories; ++c)
        out.members.emplace_back(std::string(core::nameOf(static_cast<core::MemoryCategory>(c))), of(bytes.bytes[c]));
    return out;
}

Document peakDocument(const sim::MemoryPeak& peak) {
    Document parts = Document::list();
    for (const sim::MemoryPart& part : peak.parts)
        parts.items.push_back(object({{"category", of(std::string(core::nameOf(part.category)))},
                                      {"owner", of(part.owner)},
                                      {"tensors", of(part.tensors)},
                                      {"count", of(part.count)},
                                      {"bytes", of(part.bytes.value)}}));
    return object({{"bytes", of(peak.total.value)},
                   {"moment", of(peak.moment)},
                   {"by_category", categoriesDocument(peak.byCategory)},
                   {"parts", std::move(parts)}});
}

Document memoryDocument(const MemoryVerdict& memory) {
    return object({{"fits", Document::of(memory.fits())},
                   {"needed_bytes", of(memory.needed())},
                   {"usable_bytes", of(memory.reserve.usable.value)},
                   {"left_bytes", of(memory.left())},
                   {"reserved_bytes", of(memory.step.reserved.value)},
                   {"context_bytes", of(memory.reserve.context.value)},
                   {"communication_bytes", of(memory.reserve.communication.value)},
                   {"at_start_bytes", of(memory.step.atStart.total().value)},
                   {"at_end_bytes", of(memory.step.atEnd.total().value)},
                   {"allocated_peak", peakDocument(memory.step.hostOrder)},
                   {"in_use_peak", peakDocument(memory.step.deviceTime)},
                   {"in_use_peak_at_ns", of(memory.step.deviceTimePeakAt)},
                   {"sources", texts(memory.reserve.sources)}});
}

Document transfersDocument(const TransferCounts& c) {
    return object({{"all_gathers", of(c.allGathers)},
                   {"reduce_scatters", of(c.reduceScatters)},
                   {"all_reduces", of(c.allReduces)},
                   {"sends", of(c.sends)},
                   {"receives", of(c.receives)},
                   {"all_gather_bytes", of(c.gatherBytes)},
                   {"reduce_scatter_bytes", of(c.reduceBytes)},
                   {"all_reduce_bytes", of(c.allReduceBytes)},
                   {"send_bytes", of(c.sendBytes)},
                   {"wire_bytes", of(c.bytes())}});
}

Document planDocument(const PlanReport& plan) {
    Document classes = Document::list();
    for (const ClassReport& one : plan.classes)
        classes.items.push_back(object({{"name", of(one.name)},
                                        {"first_rank", of(one.firstRank)},
                                        {"ranks", of(one.ranks)},
                                        {"times", timesDocument(one.times)},
                                        {"compute_work", workDocument(one.work)},
                                        {"causes", causesDocument(one.causes, plan.timeline)},
                                        {"transfers", transfersDocument(one.transfers)},
                                        {"memory", memoryDocument(one.memory)}}));
    const core::Plan& p = plan.setup.plan;
    Document document = object({{"name", of(plan.name)},
                                {"what", of(plan.what)},
                                {"ranks", of(plan.ranks)},
                                {"pipeline_parallel_degree", of(p.mesh.pp)},
                                {"data_parallel_replicate_degree", of(p.mesh.dpReplicate)},
                                {"data_parallel_shard_degree", of(p.mesh.dpShard)},
                                {"micro_batches", of(p.microBatches)},
                                {"micro_batch_size", of(plan.setup.workload.batch)},
                                {"step_ns", of(plan.stepNs)},
                                {"samples_per_second", Document::of(plan.samplesPerSecond)},
                                {"tokens_per_second", Document::of(plan.tokensPerSecond)},
                                {"mfu", Document::of(plan.mfu)},
                                {"model_flops", Document::of(plan.modelFlops)},
                                {"fits", Document::of(plan.fits())},
                                {"times_all_ranks", timesDocument(plan.allRanks)},
                                {"compute_work_all_ranks", workDocument(plan.allRanksWork)},
                                {"causes_all_ranks", causesDocument(plan.causes, plan.timeline)},
                                {"classes", std::move(classes)}});
    if (plan.hostMemory.value > 0) document.set("host_memory_bytes", of(plan.hostMemory.value));
    if (plan.missingRoot)
        document.members.emplace_back(
            "missing_root", object({{"step_with_root_ns", of(plan.missingRoot->stepWithRootNs)},
                                    {"peak_with_root_bytes", of(plan.missingRoot->peakWithRoot.value)},
                                    {"borrowed_bytes", of(plan.missingRoot->borrowed.value)},
                                    {"borrowed_with_root_bytes", of(plan.missingRoot->borrowedWithRoot.value)}}));
    return document;
}

}  // namespace

Document reportDocument(const Report& report) {
    Document plans = Document::list(), refused = Document::list();
    for (const PlanReport& plan : report.plans) plans.items.push_back(planDocument(plan));
    for (const core::RefusedCase& one : report.refused)
        refused.items.push_back(object({{"strategy", of(one.strategy)},
                                        {"message", of(one.error.message)},
                                        {"where", of(one.error.where)},
                                        {"hint", of(one.error.hint)}}));
    return object({{"schema", Document::of("shardscope.report")},
                   {"version", of(1)},
                   {"title", of(report.title)},
                   {"source", of(report.source)},
                   {"model", object({{"name", of(report.modelName)},
                                     {"family", of(report.modelFamily)},
                                     {"parameters", of(report.parameters)},
                                     {"tokens_per_sample", of(report.tokensPerSample)}})},
                   {"cluster", object({{"name", of(report.cluster.name)},
                                       {"gpu", of(report.cluster.gpu.name)},
                                       {"node", of(report.cluster.node.name)},
                                       {"nodes", of(report.cluster.nodes)},
                                       {"gpus_per_node", of(report.cluster.gpusPerNode)}})},
                   {"global_batch_size", of(report.globalBatch)},
                   {"step_kind", of(report.stepKind)},
                   {"plans", std::move(plans)},
                   {"refused", std::move(refused)},
                   {"unused", texts(report.unused)},
                   {"notes", texts(report.notes)},
                   {"caveats", texts(report.caveats)}});
}

}  // namespace shardscope::cli
