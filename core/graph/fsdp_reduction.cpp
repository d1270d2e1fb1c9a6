#include "core/graph/fsdp_reduction.h"

#include <algorithm>
#include <optional>

#include "core/plan/sharding.h"

namespace shardscope::core {

DType FsdpReduction::gradientType() const {
    const Precision& p = m_c.plan.precision;
    if (m_c.plan.fsdp.flat) return p.compute();
    return sizeOf(p.reduction()) < sizeOf(p.compute()) ? p.reduction() : p.compute();
}

Bytes FsdpReduction::gradientBytes(std::int64_t elements, std::int64_t original) const {
    const Precision& p = m_c.plan.precision;
    return {(elements - original) * sizeOf(gradientType()) +
            original * std::min(sizeOf(p.reduction()), sizeOf(p.original))};
}

TouchedUnit FsdpReduction::shareOf(const TouchedUnit& touched) const {
    // Gradients that were not reduced are still there in the next micro-batch.
    const bool there = touched.unit.valid() ? m_state[touched.unit].keptGradients : m_c.microBatch > 0;
    if (!there) return touched;
    TouchedUnit share = touched;
    share.gradientElements = 0;
    share.repeatedElements += touched.gradientElements;
    share.gradientOriginal = 0;
    share.repeatedOriginal += touched.gradientOriginal;
    return share;
}

void FsdpReduction::allocateGradients(const PassStep& step) {
    for (const TouchedUnit& each : m_c.touched(step)) {
        const TouchedUnit touched = shareOf(each);
        FsdpUnitState& state = m_state[touched.unit];
        if (touched.gradientElements > 0) {
            state.gradients.push_back(
                m_state.allocate(MemoryCategory::UnshardedGradients, touched.unit,
                                 gradientBytes(touched.gradientElements, touched.gradientOriginal), m_c.computeStream));
            state.gradientElements += touched.gradientElements;
            state.gradientOriginal += touched.gradientOriginal;
            m_fresh.push_back(state.gradients.back());
        }
        if (touched.repeatedElements > 0)
            m_workspace.push_back(m_state.allocate(MemoryCategory::Workspace, touched.unit,
                                                   gradientBytes(touched.repeatedElements, touched.repeatedOriginal),
                                                   m_c.computeStream));
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

void FsdpReduction::dropReduceInputs(FsdpContext& context, std::size_t most) {
    while (context.reductions.size() > most) {
        const FsdpContext::Reduction oldest = context.reductions.front();
        context.reductions.erase(context.reductions.begin());
        // An input is dropped only when its reduce-scatter is done (1.5).
        m_c.builder.mark(Mark::ReduceFreed, oldest.unit);
        m_c.builder.waitOp(m_c.computeStream, oldest.reduce, EdgeReason::MemoryLimit);
        m_c.builder.release(oldest.input);
    }
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
    m_state[unit].inBackward = false;
    if (m_state.lastMicroBatch() || !m_c.plan.fsdp.keepBetweenMicroBatches) m_state.reshard(unit);
    if (m_c.plan.gradientSync == GradientSync::LastMicroBatch && !m_state.lastMicroBatch()) {
        if (m_c.unit(unit).trainedElements > 0) keep(unit);
        return;
    }
    dropReduceInputs(context, static_cast<std::size_t>(std::max<std::int64_t>(m_c.plan.fsdp.reduceInputs, 1)) - 1);
    if (m_c.unit(unit).trainedElements > 0) reduce(unit, context);
}

bool FsdpReduction::keepsInReduceType(UnitId unit) const {
    const Precision& p = m_c.plan.precision;
    const Unit& described = m_c.unit(unit);
    const bool original = described.originalTrained > 0 && sizeOf(p.original) < sizeOf(p.reduction());
    return original || (described.originalTrained < described.trainedElements && gradientType() != p.reduction());
}

void FsdpReduction::addMissing(UnitId unit) {
    FsdpUnitState& state = m_state[unit];
    const std::int64_t missing = m_c.unit(unit).trainedElements - state.gradientElements;
    if (missing <= 0) return;
    const Bytes bytes = gradientBytes(missing, m_c.unit(unit).originalTrained - state.gradientOriginal);
    state.gradients.push_back(m_state.allocate(MemoryCategory::UnshardedGradients, unit, bytes, m_c.computeStream));
    state.gradientElements += missing;
    state.gradientOriginal = m_c.unit(unit).originalTrained;
}

void FsdpReduction::keep(UnitId unit) {
    addMissing(unit);
    m_c.builder.mark(Mark::GradientKept, unit);
    if (keepsInReduceType(unit))
        accumulate(unit);
    else
        m_state[unit].keptGradients = true;
}

void FsdpReduction::accumulate(UnitId unit) {
    FsdpUnitState& state = m_state[unit];
    GraphBuilder& b = m_c.builder;
    const std::int64_t elements = m_c.unit(unit).trainedElements;
    const DType reduceType = m_c.plan.precision.reduction();
    const Bytes accumulated{elements * sizeOf(reduceType)};
    Op keep = m_state.op(OpKind::KeepGradients, unit, m_c.computeStream, Phase::Backward);
    keep.accumulate = state.accumulated.valid();
    keep.dtype = reduceType;
    keep.bytes = keep.written = accumulated;
    keep.read = gradientBytes(elements, m_c.unit(unit).originalTrained);
    if (keep.accumulate) keep.read += accumulated;
    if (!keep.accumulate)
        state.accumulated = m_state.allocate(MemoryCategory::UnshardedGradients, unit, accumulated, m_c.computeStream);
    const OpId kept = b.addOp(keep);
    b.use(state.accumulated, kept);
    for (BlockId gradient : state.gradients) {
        b.use(gradient, kept);
        b.release(gradient);
    }
    state.gradients.clear();
    state.gradientElements = state.gradientOriginal = 0;
}

FsdpReduction::Division FsdpReduction::division() const {
    const std::int64_t ranks = m_state.ranks(), all = ranks * m_state.replicas();
    const std::optional<double>& given = m_c.plan.fsdp.divideFactor;
    Division division;
    if (m_c.plan.fsdp.flat || m_c.plan.precision.reduction() == DType::F16) {
        const ReductionDivisors divisors = fp16Divisors(given.value_or(static_cast<double>(all)));
        division.pre = divisors.pre;
        division.post = divisors.post;
    } else if (m_c.plan.fsdp.forceSum) {
        division.post = given.value_or(static_cast<double>(all));
    } else if (!given) {
        division.scatterAverage = division.allReduceAverage = all > 1;
    } else if (ranks > 1 && *given == static_cast<double>(ranks)) {
        division.scatterAverage = true;
    } else {
        (ranks > 1 ? division.scatter : division.pre) = *given;  // NCCL's pre-multiplied sum
    }
    return division;
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
    const DType reduceType = m_c.plan.precision.reduction();
    const Bytes whole{described.trainedPadded * sizeOf(reduceType)};
    const Bytes share{whole.value / ranks};

    // Parameters of which no kernel is known (models read from their shapes alone) have gradients all the same.
    addMissing(unit);
    if (state.accumulated.valid()) {
        accumulate(unit);
        state.gradients.push_back(state.accumulated);
    }
    const DType kept = state.accumulated.valid() ? reduceType : gradientType();
    const Bytes packed = state.accumulated.valid()
                             ? Bytes{described.trainedElements * sizeOf(reduceType)}
                             : gradientBytes(described.trainedElements, described.originalTrained);
    state.accumulated = {};
    state.keptGradients = false;

    const BlockId input = m_state.allocate(MemoryCategory::ReduceBuffers, unit, whole, m_c.computeStream);
    b.mark(Mark::ReduceCopyIn, unit);
    Op copyIn = m_state.op(OpKind::ReduceCopyIn, unit, m_c.computeStream, Phase::Reduction);
    copyIn.dtype = reduceType;
    copyIn.bytes = copyIn.written = whole;
    copyIn.read = packed;
    // Gradients of parameters cut along dim 1 are put part after part first.
    const Bytes apart{ranks == 1 ? 0 : m_state.elementsOnDim1(unit, true) * sizeOf(kept)};
    BlockId scratch;
    if (apart.value > 0) scratch = m_state.allocate(MemoryCategory::Workspace, unit, apart, m_c.computeStream);
    copyIn.read += apart;
    copyIn.written += apart;
    const OpId copied = b.addOp(copyIn);
    b.use(input, copied);
    if (scratch.valid()) {
        b.use(scratch, copied);
        b.release(scratch);
    }
    for (BlockId gradient : state.gradients) {
        b.use(gradient, copied);
        b.release(gradient);
    }
    state.gradients.clear();
    state.gradientElements = state.gradientOriginal = 0;

    b.waitStream(context.reduce, m_c.computeStream, EdgeReason::Data);
    const bool partly = m_c.plan.gradientSync == GradientSync::AllReduceLast && m_state.hybrid();
    const bool replicated = m_state.hybrid() && (!partly || m_state.lastMicroBatch());
    // Without a cast the sharded gradients are views into the output of the reduction.
    const bool views =
        reduceType == m_c.plan.precision.original && !state.shardedGradient.valid() && (!partly || replicated);
    const BlockId output = m_state.allocate(views ? MemoryCategory::ShardedGradients : MemoryCategory::ReduceBuffers,
                                            unit, share, context.reduce);
    const Division divide = division();
    if (divide.pre != 1) b.use(input, this->divide(OpKind::PreDivide, unit, context.reduce, divide.pre, whole));
    OpId reduced = copied;
    if (ranks > 1) {
        b.mark(Mark::ReduceIssued, unit);
        Op scatter = m_state.op(OpKind::ReduceScatter, unit, context.reduce, Phase::Reduction);
        scatter.group = m_state.reduceGroup();
        scatter.dtype = reduceType;
        scatter.bytes = whole;
        scatter.average = divide.scatterAverage;
        scatter.factor = divide.scatter;
        reduced = b.addOp(scatter);
        b.use(input, reduced);
        b.use(output, reduced);
    }
    const auto addPartial = [&](BlockId into, BlockId from) {
        Op add = m_state.op(OpKind::AddPartial, unit, context.reduce, Phase::Reduction);
        add.dtype = reduceType;
        add.bytes = add.written = share;
        add.read = share + share;
        const OpId added = b.addOp(add);
        b.use(into, added);
        b.use(from, added);
        b.release(from);
        context.postReduce = added;
    };
    if (partly && !replicated) {
        b.mark(state.partial.valid() ? Mark::PartialAdded : Mark::PartialSet, unit);
        context.postReduce = reduced;
        if (state.partial.valid())
            addPartial(state.partial, output);
        else
            state.partial = output;
        context.reductions.push_back({unit, input, reduced});
        return;
    }
    if (state.partial.valid()) {
        addPartial(output, state.partial);
        state.partial = {};
    }
    const std::uint8_t post = replicated ? context.allReduce : context.reduce;
    if (replicated) {
        b.mark(Mark::AllReduceIssued, unit);
        b.waitStream(context.allReduce, context.reduce, EdgeReason::Data);
        if (ranks == 1) b.waitOp(context.allReduce, copied, EdgeReason::Data);
        Op allReduce = m_state.op(OpKind::AllReduce, unit, context.allReduce, Phase::Reduction);
        allReduce.group = m_state.replicateGroup();
        allReduce.dtype = reduceType;
        allReduce.bytes = share;
        allReduce.average = divide.allReduceAverage;
        const OpId summed = b.addOp(allReduce);
        b.use(ranks == 1 ? input : output, summed);
    }
    if (divide.post != 1)
        b.use(ranks == 1 ? input : output, this->divide(OpKind::PostDivide, unit, post, divide.post, share));
    if (ranks == 1) b.mark(Mark::ReduceIssued, unit);

    const bool accumulate = copyOut(unit, post, output, views);
    if (ranks == 1) {
        b.use(input, context.postReduce);
        reduced = context.postReduce;
    }
    if (!views && replicated) {
        // Of an earlier micro-batch whose backward was not told to be the last: this one takes its place.
        if (state.summed.valid()) b.release(state.summed);
        state.summed = output;
    } else if (!views) {
        b.release(output);
    }
    b.mark(accumulate || state.gradientOnHost ? Mark::GradientAdded : Mark::GradientSet, unit);
    if (m_state.offloads()) copyToHost(unit, context, post);
    context.reductions.push_back({unit, input, reduced});
}

bool FsdpReduction::copyOut(UnitId unit, std::uint8_t stream, BlockId output, bool views) {
    GraphBuilder& b = m_c.builder;
    FsdpUnitState& state = m_state[unit];
    const bool accumulate = state.shardedGradient.valid();
    const Bytes shard = m_state.gradientShardBytes(unit), share = b.block(output).bytes;
    if (!views && !accumulate)
        state.shardedGradient = m_state.allocate(MemoryCategory::ShardedGradients, unit, shard, stream);
    Op copy = m_state.op(OpKind::ReduceCopyOut, unit, stream, Phase::Reduction);
    copy.dtype = m_c.plan.precision.original;
    copy.accumulate = accumulate;
    copy.bytes = shard;
    // One rank's share is not in the output yet: nothing was scattered into it.
    if (!views || m_state.ranks() == 1) {
        copy.read = accumulate ? share + shard : share;
        copy.written = shard;
    } else {
        copy.launches = 0;
    }
    const OpId done = b.addOp(copy);
    b.use(output, done);
    if (views)
        state.shardedGradient = output;
    else
        b.use(state.shardedGradient, done);
    m_state.contextOf(unit).postReduce = done;
    return accumulate;
}

void FsdpReduction::copyToHost(UnitId unit, FsdpContext& context, std::uint8_t stream) {
    FsdpUnitState& state = m_state[unit];
    Op copy = m_state.op(OpKind::CopyToHost, unit, stream, Phase::Reduction);
    copy.dtype = m_c.plan.precision.original;
    copy.bytes = copy.read = m_state.ownGradientBytes(unit);
    copy.accumulate = state.gradientOnHost;
    copy.launches = m_state.tensorsOf(unit);
    context.postReduce = m_c.builder.addOp(copy);
    m_c.builder.use(state.shardedGradient, context.postReduce);
    if (m_c.builder.block(state.shardedGradient).pool == stream) {
        m_c.builder.release(state.shardedGradient);
    } else {
        // All-reduced where the reduce-scatter put it: its pool must not hand it out before the end of backward.
        if (state.summed.valid()) m_c.builder.release(state.summed);
        state.summed = state.shardedGradient;
    }
    state.shardedGradient = {};
    state.gradientOnHost = true;
}

void FsdpReduction::finish(FsdpContext& context) {
    // Of the reductions only the latest is waited for: the stream keeps their order (1.3, edge 7).
    if (context.postReduce.valid()) {
        m_c.builder.waitOp(m_c.computeStream, context.postReduce, EdgeReason::Data);
        if (m_state.offloads()) m_c.builder.waitOp(m_state.hostStream(), context.postReduce, EdgeReason::Data);
    }
    dropReduceInputs(context, 0);
    context.postReduce = {};
    for (std::size_t u = 0; u < m_c.units.size(); ++u) {
        FsdpUnitState& unit = m_state[UnitId(m_c.firstUnit.index() + u)];
        if (&m_state.contexts()[unit.context] != &context || !unit.summed.valid()) continue;
        m_c.builder.release(unit.summed);
        unit.summed = {};
    }
}

}  // namespace shardscope::core
