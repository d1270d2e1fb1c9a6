#include <fmt/format.h>

#include "core/graph/export.h"

namespace shardscope::core {

namespace {

template <class Tag>
Document idOf(Id<Tag> id) {
    return id.valid() ? Document::of(static_cast<std::int64_t>(id.value)) : Document{};
}

Document text(std::string_view value) {
    return Document::of(std::string(value));
}

Document number(std::int64_t value) {
    return Document::of(value);
}

void setIf(Document& table, const char* key, Document value, bool wanted) {
    if (wanted) table.set(key, std::move(value));
}

std::string_view nameOf(Group::Kind kind) {
    switch (kind) {
        case Group::Kind::Shard: return "shard";
        case Group::Kind::ShardSubgroup: return "shard subgroup";
        case Group::Kind::Replicate: return "replicate";
        case Group::Kind::Pair: return "pair";
    }
    return "?";
}

std::string reshardText(const Reshard& reshard) {
    switch (reshard.kind) {
        case Reshard::Kind::Unset: return "unset";
        case Reshard::Kind::True: return "true";
        case Reshard::Kind::False: return "false";
        case Reshard::Kind::Group: return std::to_string(reshard.group);
    }
    return "?";
}

std::string_view nameOf(Mark mark) {
    switch (mark) {
        case Mark::MicroBegin: return "micro-batch begins";
        case Mark::ForwardBegin: return "forward begins";
        case Mark::ForwardEnd: return "forward ends";
        case Mark::GatherIssued: return "gather issued";
        case Mark::GatherWaited: return "gather waited for";
        case Mark::GatherFreed: return "gather buffer dropped";
        case Mark::Resharded: return "resharded";
        case Mark::ReshardedPartly: return "resharded partly";
        case Mark::LossBackward: return "backward starts";
        case Mark::PreBackward: return "pre-backward";
        case Mark::BackwardBegin: return "backward begins";
        case Mark::BackwardEnd: return "backward ends";
        case Mark::RecomputeBegin: return "recomputation begins";
        case Mark::RecomputeEnd: return "recomputation ends";
        case Mark::RecomputeStopped: return "recomputation stops early";
        case Mark::PostBackward: return "post-backward";
        case Mark::ReduceCopyIn: return "gradients packed";
        case Mark::Divided: return "divided";
        case Mark::ReduceIssued: return "reduction issued";
        case Mark::AllReduceIssued: return "all-reduce issued";
        case Mark::GradientKept: return "gradient kept unsharded";
        case Mark::PartialSet: return "partial sum set";
        case Mark::PartialAdded: return "partial sum added to";
        case Mark::ReduceFreed: return "reduction input dropped";
        case Mark::GradientSet: return "gradient set";
        case Mark::GradientAdded: return "gradient added";
        case Mark::UnusedPrefetchDropped: return "unused prefetch dropped";
        case Mark::FinalBegin: return "final callback begins";
        case Mark::FinalEnd: return "final callback ends";
        case Mark::BackwardReturned: return "backward returned";
        case Mark::UserFinalize: return "caller ends backward";
        case Mark::ClipGradients: return "gradients clipped";
        case Mark::OptimizerStep: return "optimizer step";
        case Mark::ZeroGradients: return "gradients dropped";
    }
    return "?";
}

Document opDocument(const StepGraph& graph, const Model& model, OpId id) {
    const Op& op = graph.ops[id.index()];
    Document table = Document::table();
    table.set("id", idOf(id));
    table.set("label", text(labelOf(graph, model, id)));
    table.set("kind", text(core::nameOf(op.kind)));
    table.set("phase", text(core::nameOf(op.phase)));
    table.set("stream", text(graph.streams[op.stream].name));
    table.set("micro_batch", number(op.microBatch));
    setIf(table, "unit", idOf(op.unit), op.unit.valid());
    setIf(table, "group", idOf(op.group), op.group.valid());
    setIf(table, "match", number(op.match), op.match != 0xffffffffu);
    if (op.kind == OpKind::Compute) {
        Document kernels = Document::table();
        kernels.set("layer", idOf(op.kernels.layer));
        kernels.set("first", number(op.kernels.first));
        kernels.set("count", number(op.kernels.count));
        kernels.set("backward", Document::of(op.kernels.backward));
        table.set("kernels", std::move(kernels));
    } else {
        table.set("bytes", number(op.bytes.value));
        table.set("dtype", text(core::nameOf(op.dtype)));
        setIf(table, "read", number(op.read.value), op.read.value != 0);
        setIf(table, "written", number(op.written.value), op.written.value != 0);
        setIf(table, "factor", Document::of(op.factor), op.factor != 1);
        setIf(table, "average", Document::of(true), op.average);
        setIf(table, "accumulate", Document::of(true), op.accumulate);
    }
    Document waits = Document::list();
    for (const Edge& edge : graph.waitsOf(id)) {
        Document pair = Document::list();
        pair.items = {idOf(edge.from), text(core::nameOf(edge.reason))};
        waits.items.push_back(std::move(pair));
    }
    table.set("waits", std::move(waits));
    return table;
}

Document actionDocument(const Model& model, const HostAction& action) {
    Document table = Document::table();
    switch (action.kind) {
        case HostActionKind::Launch: table.set("launch", idOf(action.op)); break;
        case HostActionKind::Allocate: table.set("allocate", idOf(action.block)); break;
        case HostActionKind::Release: table.set("release", idOf(action.block)); break;
        case HostActionKind::Mark:
            table.set("mark", text(nameOf(action.mark)));
            setIf(table, "unit", idOf(action.unit), action.unit.valid());
            if (action.module.valid()) table.set("module", Document::of(model.modules[action.module.index()].name));
            setIf(table, "index", number(action.index), action.index != 0);
            setIf(table, "final", Document::of(true), action.final);
            break;
    }
    return table;
}

Document blockDocument(const Block& block, BlockId id) {
    Document table = Document::table();
    table.set("id", idOf(id));
    table.set("category", text(core::nameOf(block.category)));
    table.set("bytes", number(block.bytes.value));
    setIf(table, "unit", idOf(block.unit), block.unit.valid());
    setIf(table, "layer", idOf(block.layer), block.layer.valid());
    setIf(table, "persistent", Document::of(true), block.persistent);
    setIf(table, "found", Document::of(true), block.found);
    setIf(table, "left", Document::of(true), block.left);
    table.set("first_use", idOf(block.firstUse));
    table.set("last_use", idOf(block.lastUse));
    return table;
}

}  // namespace

Document toDocument(const StepGraph& graph, const Model& model) {
    Document out = Document::table();
    out.set("schema", Document::of("shardscope.step_graph"));
    out.set("version", number(1));
    out.set("model", Document::of(model.name));
    out.set("plan", Document::of(graph.plan.name));
    out.set("hash", text(fmt::format("{:016x}", graph.hash)));

    Document streams = Document::list(), groups = Document::list(), units = Document::list(),
             classes = Document::list();
    for (const Stream& stream : graph.streams) streams.items.push_back(Document::of(stream.name));
    for (const Group& group : graph.groups) {
        Document table = Document::table();
        table.set("name", Document::of(group.name));
        table.set("kind", text(nameOf(group.kind)));
        table.set("size", number(group.size));
        table.set("stride", number(group.stride));
        table.set("communicator", number(group.communicator));
        groups.items.push_back(std::move(table));
    }
    for (const Unit& unit : graph.units) {
        Document table = Document::table(), parameters = Document::list();
        table.set("name", Document::of(unit.name));
        table.set("elements", number(unit.elements));
        table.set("padded_elements", number(unit.paddedElements));
        table.set("reshard_after_forward", text(reshardText(unit.reshard)));
        for (ParameterId p : unit.parameters)
            parameters.items.push_back(Document::of(model.parameters[p.index()].name));
        table.set("parameters", std::move(parameters));
        units.items.push_back(std::move(table));
    }
    std::vector<Document> blocks(graph.classes.size(), Document::list());
    for (std::size_t b = 0; b < graph.blocks.size(); ++b)
        blocks[graph.blocks[b].rankClass.index()].items.push_back(blockDocument(graph.blocks[b], BlockId(b)));
    for (std::size_t c = 0; c < graph.classes.size(); ++c) {
        const RankClass& rankClass = graph.classes[c];
        Document table = Document::table(), ops = Document::list(), actions = Document::list();
        table.set("name", Document::of(rankClass.name));
        table.set("stage", number(rankClass.stage));
        table.set("ranks", number(rankClass.multiplicity));
        for (std::uint32_t i = rankClass.opBegin; i < rankClass.opEnd; ++i)
            ops.items.push_back(opDocument(graph, model, OpId(i)));
        for (const HostAction& action : graph.actionsOf(rankClass))
            actions.items.push_back(actionDocument(model, action));
        table.set("ops", std::move(ops));
        table.set("actions", std::move(actions));
        table.set("blocks", std::move(blocks[c]));
        classes.items.push_back(std::move(table));
    }
    out.set("streams", std::move(streams));
    out.set("groups", std::move(groups));
    out.set("units", std::move(units));
    out.set("classes", std::move(classes));
    return out;
}

}  // namespace shardscope::core
