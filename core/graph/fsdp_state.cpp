#include "core/graph/fsdp_state.h"

#include <algorithm>
#include <cassert>

#include <fmt/format.h>

#include "core/graph/optimizer_state.h"
#include "core/plan/sharding.h"

namespace shardscope::core {

FsdpState::FsdpState(ClassContext& context) : m_c(context), m_units(context.units.size()) {
    makeContexts();
    if (offloads()) m_hostStream = context.builder.streamNamed(StreamKind::Host, std::string(nameOf(StreamKind::Host)));
}

void FsdpState::makeContexts() {
    // The outermost unit above each unit: itself, or one of which a module contains its first module.
    std::vector<int> unitOfModule(m_c.model.modules.size(), -1);
    for (std::size_t u = 0; u < m_c.units.size(); ++u)
        for (ModuleId module : m_c.units[u].modules) unitOfModule[module.index()] = static_cast<int>(u);
    std::vector<int> contextOfRoot(m_c.units.size(), -1);
    std::vector<std::size_t> outermost(m_c.units.size());
    for (std::size_t u = 0; u < m_c.units.size(); ++u) {
        outermost[u] = u;
        for (ModuleId m = m_c.units[u].modules.front(); m.valid(); m = m_c.model.modules[m.index()].parent)
            if (unitOfModule[m.index()] >= 0) outermost[u] = static_cast<std::size_t>(unitOfModule[m.index()]);
    }
    // Streams are numbered in the order in which the roots first run.
    const bool async = m_c.plan.fsdp.asyncUnshard;
    for (UnitId id : m_c.script.forwardOrder) {
        const std::size_t root = outermost[m_c.local(id)];
        if (m_c.plan.fsdp.shareContext && !m_contexts.empty()) contextOfRoot[root] = 0;
        if (contextOfRoot[root] < 0) {
            contextOfRoot[root] = static_cast<int>(m_contexts.size());
            FsdpContext made;
            const std::string suffix = m_contexts.empty() ? "" : fmt::format("#{}", m_contexts.size() + 1);
            const auto stream = [&](StreamKind kind) {
                return m_c.builder.streamNamed(kind, std::string(nameOf(kind)) + suffix);
            };
            made.copyIn = async ? m_c.computeStream : stream(StreamKind::AllGatherCopyIn);
            made.gather = stream(StreamKind::AllGather);
            made.reduce = stream(StreamKind::ReduceScatter);
            if (hybrid()) made.allReduce = stream(StreamKind::AllReduce);
            m_contexts.push_back(made);
        }
        FsdpUnitState& unit = m_units[m_c.local(id)];
        unit.context = static_cast<std::size_t>(contextOfRoot[root]);
        unit.root = UnitId(m_c.firstUnit.index() + root);
        const auto& names = m_c.plan.fsdp.notGatheredInBackward;
        unit.gatheredInBackward = std::find(names.begin(), names.end(), m_c.unit(id).name) == names.end();
    }
}

std::int64_t FsdpState::paddedShard(ParameterId parameter) const {
    const Parameter& described = m_c.model.parameters[parameter.index()];
    return paddedElements(m_c.plan, described.name, described.shape) / ranks();
}

// With a communicator, a queue, of its own.
GroupId FsdpState::addGroup(Group::Kind kind, std::int64_t size, std::int64_t stride, const std::string& name) {
    Group group;
    group.kind = kind;
    group.size = size;
    group.stride = stride;
    group.communicator = static_cast<std::uint32_t>(m_c.builder.groupCount());
    group.name = m_c.stage.count == 1 ? name : fmt::format("{} (stage {})", name, m_c.stage.index);
    return m_c.builder.addGroup(group);
}

GroupId FsdpState::shardGroup() {
    if (!m_shardGroup.valid() && ranks() > 1) m_shardGroup = addGroup(Group::Kind::Shard, ranks(), 1, "dp_shard");
    return m_shardGroup;
}

GroupId FsdpState::reduceGroup() {
    if (!m_c.plan.fsdp.separateReduceGroup) return shardGroup();
    if (!m_reduceGroup.valid() && ranks() > 1)
        m_reduceGroup = addGroup(Group::Kind::Shard, ranks(), 1, "dp_shard reduce");
    return m_reduceGroup;
}

GroupId FsdpState::replicateGroup() {
    if (!m_replicateGroup.valid())
        m_replicateGroup = addGroup(Group::Kind::Replicate, replicas(), ranks(), "dp_replicate");
    return m_replicateGroup;
}

GroupId FsdpState::subgroup(std::int64_t size) {
    for (const auto& [known, group] : m_subgroups)
        if (known == size) return group;
    // Its gathers do not queue behind the reduce-scatters (1.3).
    m_subgroups.emplace_back(size, addGroup(Group::Kind::ShardSubgroup, size, 1, fmt::format("dp_shard/{}", size)));
    return m_subgroups.back().second;
}

Op FsdpState::op(OpKind kind, UnitId unit, std::uint8_t stream, Phase phase) const {
    Op made;
    made.kind = kind;
    made.unit = unit;
    made.stream = stream;
    made.phase = phase;
    made.microBatch = m_c.microBatch;
    return made;
}

BlockId FsdpState::allocate(MemoryCategory category, UnitId unit, Bytes bytes, std::uint8_t pool) {
    Block block;
    block.category = category;
    block.unit = unit;
    block.bytes = bytes;
    block.pool = pool;
    block.microBatch = m_c.microBatch;
    return m_c.builder.allocate(block);
}

void FsdpState::gatherStreamsWait(FsdpContext& context, OpId copyOut) {
    if (context.copyIn != m_c.computeStream) m_c.builder.waitOp(context.copyIn, copyOut, EdgeReason::MemoryLimit);
    m_c.builder.waitOp(context.gather, copyOut, EdgeReason::MemoryLimit);
}

void FsdpState::useGathered(const PassStep& step, OpId op) {
    for (const TouchedUnit& touched : m_c.touched(step)) {
        const FsdpUnitState& state = (*this)[touched.unit];
        assert((state.unsharded.valid() || !touched.reads) && "a kernel reads a unit that is not gathered");
        if (state.unsharded.valid()) m_c.builder.use(state.unsharded, op);
    }
}

void FsdpState::reshard(UnitId unit) {
    FsdpUnitState& state = (*this)[unit];
    if (!state.unsharded.valid()) return;
    m_c.builder.mark(Mark::Resharded, unit);
    m_c.builder.release(state.unsharded);
    state.unsharded = {};
}

void FsdpState::addPersistentBlocks() {
    for (std::size_t u = 0; u < m_units.size(); ++u) {
        const UnitId id(m_c.firstUnit.index() + u);
        if (!communicates(id)) continue;
        Block block;
        block.category = MemoryCategory::ShardedParameters;
        block.unit = id;
        block.bytes = shardBytes(id);
        block.pool = m_c.computeStream;
        if (!offloads()) m_units[u].parameters = m_c.builder.addPersistent(block);
        if (!m_c.plan.afterEvaluation) continue;
        const Reshard& reshard = m_c.unit(id).reshard;
        block.category = MemoryCategory::UnshardedParameters;
        block.bytes = gatheredBytes(id);
        if (reshard.kind == Reshard::Kind::False) m_units[u].unsharded = m_c.builder.addFound(block);
        if (reshard.kind != Reshard::Kind::Group) continue;
        block.bytes = {gatheredBytes(id).value / reshard.group};
        m_units[u].slice = m_c.builder.addFound(block);
    }
    if (const std::int64_t elements = elementsNotWrapped(m_c.model, m_c.units, m_c.plan); elements > 0) {
        Block block;
        block.category = MemoryCategory::UnshardedParameters;
        block.bytes = {elements * sizeOf(m_c.plan.precision.original)};
        block.pool = m_c.computeStream;
        m_notWrapped.unsharded = m_notWrapped.parameters = m_c.builder.addPersistent(block);
    }
    const Bytes state = optimizerStateBytes(m_c.model, m_c.units, m_c.plan, 0);
    if (m_c.plan.firstStep || state.value == 0 || offloads()) return;
    Block block;
    block.category = MemoryCategory::OptimizerState;
    block.bytes = state;
    block.pool = m_c.computeStream;
    m_optimizerState = m_c.builder.addPersistent(block);
}

std::int64_t FsdpState::elementsOnDim1(UnitId unit, bool trained) const {
    std::int64_t sum = 0;
    if (m_c.plan.fsdp.shardedOnDim1.empty()) return sum;
    for (const ParameterId p : m_c.unit(unit).parameters) {
        const Parameter& parameter = m_c.model.parameters[p.index()];
        if (trained && parameter.frozen) continue;
        if (cutOnDim1(m_c.plan, parameter.name, parameter.shape)) sum += elementsOf(parameter.shape);
    }
    return sum;
}

std::uint16_t FsdpState::tensorsOf(UnitId unit) const {
    return static_cast<std::uint16_t>(std::clamp<std::size_t>(m_c.unit(unit).parameters.size(), 1, 65535));
}

Bytes FsdpState::ownGradientBytes(UnitId unit) const {
    const std::span<const Unit> one(&m_c.unit(unit), 1);
    const std::int64_t elements =
        ownElements(m_c.model, one, m_c.plan, 0) - elementsNotWrapped(m_c.model, one, m_c.plan);
    return {elements * sizeOf(m_c.plan.precision.original)};
}

Bytes FsdpState::ownGradientBytes() const {
    return {ownElements(m_c.model, m_c.units, m_c.plan, 0) * sizeOf(m_c.plan.precision.original)};
}

void FsdpState::useAllGradients(OpId op) {
    for (BlockId gradient : m_notWrapped.gradients) m_c.builder.use(gradient, op);
    for (const FsdpUnitState& unit : m_units)
        if (unit.shardedGradient.valid()) m_c.builder.use(unit.shardedGradient, op);
}

void FsdpState::endEvaluation() {
    for (const FsdpUnitState& unit : m_units) {
        if (unit.unsharded.valid()) m_c.builder.leave(unit.unsharded);
        if (unit.slice.valid()) m_c.builder.leave(unit.slice);
    }
}

void FsdpState::endStep() {
    GraphBuilder& b = m_c.builder;
    b.mark(Mark::OptimizerStep);
    if (m_c.plan.optimizer != OptimizerKind::None) {
        const Bytes bytes = optimizerStateBytes(m_c.model, m_c.units, m_c.plan, 0);
        if (m_c.plan.firstStep && bytes.value > 0 && !offloads()) {
            m_optimizerState = allocate(MemoryCategory::OptimizerState, {}, bytes, m_c.computeStream);
            b.leave(m_optimizerState);
        }
        Op step = optimizerOp(m_c.model, m_c.units, m_c.plan);
        step.stream = offloads() ? m_hostStream : m_c.computeStream;
        step.microBatch = m_c.microBatch;
        const OpId op = b.addOp(step);
        if (m_optimizerState.valid()) b.use(m_optimizerState, op);
        if (m_notWrapped.parameters.valid()) b.use(m_notWrapped.parameters, op);
        for (const FsdpUnitState& unit : m_units)
            if (unit.parameters.valid()) b.use(unit.parameters, op);
        useAllGradients(op);
    }
    b.mark(Mark::ZeroGradients);
    for (BlockId gradient : m_notWrapped.gradients) b.release(gradient);
    m_notWrapped.gradients.clear();
    for (FsdpUnitState& unit : m_units) {
        if (unit.shardedGradient.valid()) b.release(unit.shardedGradient);
        unit.shardedGradient = {};
    }
}

}  // namespace shardscope::core
