#include "core/graph/fsdp_reduction.h"

#include "core/plan/sharding.h"

namespace shardscope::core {

DType FsdpReduction::gradientType() const {
    const Precision& p = m_c.plan.precision;
    return sizeOf(p.reduction()) < sizeOf(p.compute()) ? p.reduction() : p.compute();
}

TouchedUnit FsdpReduction::shareOf(const TouchedUnit& touched) const {
    // Gradients that nobody reduces are still there in the next micro-batch.
    if (touched.unit.valid() || m_c.microBatch == 0) return touched;
    return {touched.unit, 0, touched.gradientElements + touched.repeatedElements};
}

void FsdpReduction::allocateGradients(const PassStep& step) {
    for (const TouchedUnit& each : m_c.touched(step)) {
        const TouchedUnit touched = shareOf(each);
        const std::int64_t size = sizeOf(gradientType());
        FsdpUnitState& state = m_state[touched.unit];
        if (touched.gradientElements > 0) {
            state.gradients.push_back(m_state.allocate(MemoryCategory::UnshardedGradients, touched.unit,
                                                       {touched.gradientElements * size}, m_c.computeStream));
            state.gradientElements += touched.gradientElements;
            m_fresh.push_back(state.gradients.back());
        }
        if (touched.repeatedElements > 0)
            m_workspace.push_back(m_state.allocate(MemoryCategory::Workspace, touched.unit,
                                                   {touched.repeatedElements * size}, m_c.computeStream));
    }
}

void FsdpReduction::afterCompute(const PassStep& step, OpId op) {
    GraphBuilder& b = m_c.builder;
    for (BlockId block : m_fresh) b.use(block, op);
    m_fresh.clear();
    std::size_t next = 0;
    for (const TouchedUnit& each : m_c.touched(step)) {
        const TouchedUnit touched = shareOf(each);
        if (touched.repeatedElements == 0) continue;
        const BlockId repeated = m_workspace[next++];
        Op add = m_state.op(OpKind::AddGradient, touched.unit, m_c.computeStream, Phase::Backward);
        add.kernels = step.kernels;
        add.dtype = gradientType();
        add.bytes = add.written = m_c.builder.block(repeated).bytes;
        add.read = add.bytes + add.bytes;
        const OpId added = b.addOp(add);
        b.use(repeated, op);
        b.use(repeated, added);
        for (BlockId gradient : m_state[touched.unit].gradients) b.use(gradient, added);
        b.release(repeated);
    }
    m_workspace.clear();
}

void FsdpReduction::dropReduceInput(FsdpContext& context) {
    if (!context.reduction.unit.valid()) return;
    // One reduce-scatter outstanding: its input is dropped only when it is done (1.5).
    m_c.builder.mark(Mark::ReduceFreed, context.reduction.unit);
    m_c.builder.waitOp(m_c.computeStream, context.reduction.reduce, EdgeReason::MemoryLimit);
    m_c.builder.release(context.reduction.input);
    context.reduction = {};
}

void FsdpReduction::postBackward(UnitId unit, bool final) {
    if (!m_state.communicates(unit)) return;
    FsdpContext& context = m_state.contextOf(unit);
    HostAction mark;
    mark.mark = Mark::PostBackward;
    mark.unit = unit;
    mark.final = final;
    m_c.builder.mark(mark);
    m_state[unit].reduced = true;
    m_state.reshard(unit);
    dropReduceInput(context);
    reduce(unit, context);
}

OpId FsdpReduction::divide(OpKind kind, UnitId unit, std::uint8_t stream, double factor, Bytes bytes) {
    HostAction mark;
    mark.mark = Mark::Divided;
    mark.unit = unit;
    mark.index = kind == OpKind::PreDivide ? 0 : 1;
    m_c.builder.mark(mark);
    Op op = m_state.op(kind, unit, stream, Phase::Reduction);
    op.dtype = m_c.plan.precision.reduction();
    op.factor = factor;
    op.bytes = op.read = op.written = bytes;
    return m_c.builder.addOp(op);
}

void FsdpReduction::reduce(UnitId unit, FsdpContext& context) {
    GraphBuilder& b = m_c.builder;
    FsdpUnitState& state = m_state[unit];
    const Unit& described = m_c.unit(unit);
    const std::int64_t ranks = m_state.ranks();
    const DType reduceType = m_c.plan.precision.reduction(), original = m_c.plan.precision.original;
    const Bytes whole{described.paddedElements * sizeOf(reduceType)};
    const Bytes share{whole.value / ranks};
    const Bytes gradients{described.elements * sizeOf(gradientType())};

    // Parameters of which no kernel is known (models read from their shapes alone) have gradients all the same.
    if (state.gradientElements < described.elements)
        state.gradients.push_back(m_state.allocate(
            MemoryCategory::UnshardedGradients, unit,
            {(described.elements - state.gradientElements) * sizeOf(gradientType())}, m_c.computeStream));

    const BlockId input = m_state.allocate(MemoryCategory::ReduceBuffers, unit, whole, m_c.computeStream);
    b.mark(Mark::ReduceCopyIn, unit);
    Op copyIn = m_state.op(OpKind::ReduceCopyIn, unit, m_c.computeStream, Phase::Reduction);
    copyIn.dtype = reduceType;
    copyIn.bytes = copyIn.written = whole;
    copyIn.read = gradients;
    const OpId copied = b.addOp(copyIn);
    b.use(input, copied);
    for (BlockId gradient : state.gradients) {
        b.use(gradient, copied);
        b.release(gradient);
    }
    state.gradients.clear();
    state.gradientElements = 0;

    b.waitStream(context.reduce, m_c.computeStream, EdgeReason::Data);
    // Without a cast the sharded gradients are views into the output of the reduction.
    const bool views = reduceType == original && !state.shardedGradient.valid();
    const BlockId output = m_state.allocate(views ? MemoryCategory::ShardedGradients : MemoryCategory::ReduceBuffers,
                                            unit, share, context.reduce);
    const std::int64_t all = ranks * m_state.replicas();
    const bool sum = reduceType == DType::F16 || all == 1;
    const ReductionDivisors divisors = reduceType == DType::F16 && all > 1 ? fp16Divisors(all) : ReductionDivisors{};
    if (divisors.pre != 1) b.use(input, divide(OpKind::PreDivide, unit, context.reduce, divisors.pre, whole));
    OpId reduced = copied;
    if (ranks > 1) {
        b.mark(Mark::ReduceIssued, unit);
        Op scatter = m_state.op(OpKind::ReduceScatter, unit, context.reduce, Phase::Reduction);
        scatter.group = m_state.shardGroup();
        scatter.dtype = reduceType;
        scatter.bytes = whole;
        scatter.average = !sum;
        reduced = b.addOp(scatter);
        b.use(input, reduced);
        b.use(output, reduced);
    }
    const bool replicated = m_state.replicas() > 1;
    const std::uint8_t post = replicated ? context.allReduce : context.reduce;
    if (replicated) {
        b.mark(Mark::AllReduceIssued, unit);
        b.waitStream(context.allReduce, context.reduce, EdgeReason::Data);
        if (ranks == 1) b.waitOp(context.allReduce, copied, EdgeReason::Data);
        Op allReduce = m_state.op(OpKind::AllReduce, unit, context.allReduce, Phase::Reduction);
        allReduce.group = m_state.replicateGroup();
        allReduce.dtype = reduceType;
        allReduce.bytes = share;
        allReduce.average = !sum;
        const OpId summed = b.addOp(allReduce);
        b.use(ranks == 1 ? input : output, summed);
    }
    if (divisors.post != 1)
        b.use(ranks == 1 ? input : output, divide(OpKind::PostDivide, unit, post, divisors.post, share));
    if (ranks == 1) b.mark(Mark::ReduceIssued, unit);

    const bool accumulate = state.shardedGradient.valid();
    const Bytes shard = m_state.shardBytes(unit);
    if (!views && !accumulate)
        state.shardedGradient = m_state.allocate(MemoryCategory::ShardedGradients, unit, shard, post);
    Op copyOut = m_state.op(OpKind::ReduceCopyOut, unit, post, Phase::Reduction);
    copyOut.dtype = original;
    copyOut.accumulate = accumulate;
    copyOut.bytes = shard;
    if (!views || ranks == 1) {
        copyOut.read = accumulate ? share + shard : share;
        copyOut.written = shard;
    } else {
        copyOut.launches = 0;
    }
    context.postReduce = b.addOp(copyOut);
    b.use(output, context.postReduce);
    if (ranks == 1) {
        b.use(input, context.postReduce);
        reduced = context.postReduce;
    }
    if (views) {
        state.shardedGradient = output;
    } else {
        b.use(state.shardedGradient, context.postReduce);
        if (replicated)
            state.summed = output;
        else
            b.release(output);
    }
    b.mark(accumulate ? Mark::GradientAdded : Mark::GradientSet, unit);
    context.reduction = {unit, input, reduced};
}

void FsdpReduction::finish(FsdpContext& context) {
    // Of the reductions only the latest is waited for: the stream keeps their order (1.3, edge 7).
    m_c.builder.waitOp(m_c.computeStream, context.postReduce, EdgeReason::Data);
    dropReduceInput(context);
    context.postReduce = {};
    for (std::size_t u = 0; u < m_c.units.size(); ++u) {
        FsdpUnitState& unit = m_state[UnitId(m_c.firstUnit.index() + u)];
        if (&m_state.contexts()[unit.context] != &context || !unit.summed.valid()) continue;
        m_c.builder.release(unit.summed);
        unit.summed = {};
    }
}

}  // namespace shardscope::core
