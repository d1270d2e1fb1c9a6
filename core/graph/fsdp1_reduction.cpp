// FSDP1's reduction of a flat gradient (framework semantics 1.18; the copies and their streams as PyTorch 2.6.0 has
// them, seen in runs on CPUs).

#include "core/graph/fsdp_reduction.h"

namespace shardscope::core {

void FsdpReduction::flatten(UnitId unit) {
    GraphBuilder& b = m_c.builder;
    FsdpUnitState& state = m_state[unit];
    addMissing(unit);
    const DType type = gradientType();
    const Bytes bytes{m_c.unit(unit).trainedElements * sizeOf(type)};
    Op cat = m_state.op(OpKind::KeepGradients, unit, m_c.computeStream, Phase::Backward);
    cat.dtype = type;
    cat.bytes = cat.read = cat.written = bytes;
    cat.accumulate = state.accumulated.valid();
    BlockId fresh;
    if (cat.accumulate) {
        // Of this micro-batch alone, then added.
        fresh = m_state.allocate(MemoryCategory::Workspace, unit, bytes, m_c.computeStream);
        cat.read += bytes + bytes;
        cat.written += bytes;
        cat.launches = 2;
    } else {
        state.accumulated = m_state.allocate(MemoryCategory::UnshardedGradients, unit, bytes, m_c.computeStream);
    }
    const OpId done = b.addOp(cat);
    b.use(state.accumulated, done);
    if (fresh.valid()) {
        b.use(fresh, done);
        b.release(fresh);
    }
    for (const BlockId gradient : state.gradients) {
        b.use(gradient, done);
        b.release(gradient);
    }
    state.gradients.clear();
    state.gradientElements = state.gradientOriginal = 0;
}

void FsdpReduction::reduceFlat(UnitId unit) {
    GraphBuilder& b = m_c.builder;
    FsdpContext& context = m_state.contextOf(unit);
    FsdpUnitState& state = m_state[unit];
    const Unit& described = m_c.unit(unit);
    const DType made = gradientType(), reduceType = m_c.plan.precision.reduction();
    const DType original = m_c.plan.precision.original;
    const Bytes whole{described.trainedPadded * sizeOf(reduceType)};
    const Bytes share{whole.value / m_state.ranks()};
    const bool cast = made != reduceType, pads = described.trainedPadded != described.trainedElements;
    b.waitStream(context.reduce, m_c.computeStream, EdgeReason::Data);

    BlockId input = state.accumulated, between;
    if (cast || pads) {
        b.mark(Mark::ReduceCopyIn, unit);
        const Bytes unpadded{described.trainedElements * sizeOf(reduceType)};
        Op copyIn = m_state.op(OpKind::ReduceCopyIn, unit, context.reduce, Phase::Reduction);
        copyIn.dtype = reduceType;
        copyIn.bytes = copyIn.written = whole;
        copyIn.read = {described.trainedElements * sizeOf(made)};
        if (cast && pads) {
            between = m_state.allocate(MemoryCategory::Workspace, unit, unpadded, context.reduce);
            copyIn.read += unpadded;
            copyIn.written += unpadded;
            copyIn.launches = 2;
        }
        input = m_state.allocate(MemoryCategory::ReduceBuffers, unit, whole, context.reduce);
        const OpId copied = b.addOp(copyIn);
        b.use(state.accumulated, copied);
        b.use(input, copied);
        if (between.valid()) b.use(between, copied);
    }
    const bool views = reduceType == original && !state.shardedGradient.valid();
    const Division divide = division();
    if (divide.pre > 1) b.use(input, this->divide(OpKind::PreDivide, unit, context.reduce, divide.pre, whole));
    const BlockId output = m_state.allocate(views ? MemoryCategory::ShardedGradients : MemoryCategory::ReduceBuffers,
                                            unit, share, context.reduce);
    b.mark(Mark::ReduceIssued, unit);
    Op scatter = m_state.op(OpKind::ReduceScatter, unit, context.reduce, Phase::Reduction);
    scatter.group = m_state.reduceGroup();
    scatter.dtype = reduceType;
    scatter.bytes = whole;
    const OpId reduced = b.addOp(scatter);
    b.use(input, reduced);
    b.use(output, reduced);

    std::uint8_t post = context.reduce;
    if (m_state.hybrid()) {
        post = context.allReduce;
        b.mark(Mark::AllReduceIssued, unit);
        b.waitStream(post, context.reduce, EdgeReason::Data);
        Op allReduce = m_state.op(OpKind::AllReduce, unit, post, Phase::Reduction);
        allReduce.group = m_state.replicateGroup();
        allReduce.dtype = reduceType;
        allReduce.bytes = share;
        b.use(output, b.addOp(allReduce));
    }
    if (divide.post > 1) b.use(output, this->divide(OpKind::PostDivide, unit, post, divide.post, share));
    const bool accumulate = copyOut(unit, post, output, views);
    b.mark(accumulate ? Mark::GradientAdded : Mark::GradientSet, unit);
    if (!views && m_state.hybrid()) m_allReduced.push_back(output);
    if (!views && !m_state.hybrid()) b.release(output);
    if (input != state.accumulated) b.release(input);
    if (between.valid()) b.release(between);
    m_held.push_back(state.accumulated);
    state.accumulated = {};
    ++m_flatReductions;
}

// PyTorch frees a block that another stream still uses and lets the allocator wait for that stream (record_stream).
void FsdpReduction::releaseFlat(std::size_t reductions) {
    for (; m_releasedReductions < reductions; ++m_releasedReductions) {
        m_c.builder.release(m_held.front());
        m_held.pop_front();
    }
    if (reductions < m_flatReductions) return;
    for (const BlockId output : m_allReduced) m_c.builder.release(output);
    m_allReduced.clear();
}

}  // namespace shardscope::core
