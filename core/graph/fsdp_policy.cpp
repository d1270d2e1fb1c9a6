// FSDP2 (`fully_shard` of PyTorch 2.15), as framework semantics 1.2 to 1.11 describe it. Each method is named after the
// hook of the framework that it stands for, and emits what that hook enqueues, in its order.

#include <algorithm>

#include "core/graph/fsdp_reduction.h"
#include "core/graph/fsdp_state.h"
#include "core/graph/optimizer_state.h"
#include "core/graph/unit_rules.h"

namespace shardscope::core {

namespace {

class FsdpRules final : public UnitRules {
public:
    explicit FsdpRules(ClassContext& context) : m_c(context), m_state(context), m_reduction(context, m_state) {
        makePrefetchLists();
    }

    void beginStep() override { m_state.addPersistentBlocks(); }

    void act(const PassStep& step) override {
        switch (step.kind) {
            case PassStep::Kind::EnterUnit: preForward(step.unit, step.first); break;
            case PassStep::Kind::LeaveUnit: postForward(step.unit); break;
            case PassStep::Kind::PreBackward: preBackward(step.unit); break;
            case PassStep::Kind::EnterRecompute: preRecompute(step.unit); break;
            case PassStep::Kind::LeaveRecompute: postRecompute(step.unit); break;
            case PassStep::Kind::PostBackward: m_reduction.postBackward(step.unit, false); break;
            default: break;
        }
    }

    void beforeCompute(const PassStep& step) override {
        if (step.kernels.backward) m_reduction.allocateGradients(step);
    }

    void afterCompute(const PassStep& step, OpId op) override {
        m_state.useGathered(step, op);
        if (step.kernels.backward) m_reduction.afterCompute(step, op);
    }

    void endBackward() override {
        for (const UnitId root : m_finalOrder) {
            m_c.builder.mark(Mark::FinalBegin);
            if (!m_c.plan.fsdp.manualFinalize) finish(root);
            m_c.builder.mark(Mark::FinalEnd);
        }
        if (!m_c.plan.fsdp.manualFinalize) m_finalOrder.clear();
    }

    void afterBackward() override {
        if (m_finalOrder.empty()) return;
        m_c.builder.mark(Mark::UserFinalize);
        for (const UnitId root : m_finalOrder) finish(root);
        m_finalOrder.clear();
    }

    [[nodiscard]] Bytes tiedGradientBytes(std::span<const ParameterId> tied) const override {
        std::int64_t elements = 0;
        for (ParameterId p : tied) elements += m_state.paddedShard(p);
        return {elements * sizeOf(m_c.plan.precision.original)};
    }

    [[nodiscard]] UnitId tiedUnit(std::span<const ParameterId> tied) const override {
        for (std::size_t u = 0; u < m_c.units.size(); ++u)
            for (ParameterId p : m_c.units[u].parameters)
                if (p == tied.front()) return UnitId(m_c.firstUnit.index() + u);
        return {};
    }

    void useGradients(UnitId unit, OpId op) override { m_c.builder.use(m_state[unit].shardedGradient, op); }

    [[nodiscard]] Bytes gradientBytes() const override { return m_state.ownGradientBytes(); }
    void useAllGradients(OpId op) override { m_state.useAllGradients(op); }
    [[nodiscard]] std::uint8_t gradientStream() const override {
        return m_state.offloads() ? m_state.hostStream() : m_c.computeStream;
    }
    [[nodiscard]] std::optional<ShardsOfGradients> shardsOfGradients() override {
        if (m_state.ranks() == 1) return std::nullopt;
        return ShardsOfGradients{m_state.shardGroup(), m_state.contexts().front().reduce};
    }

    void endStep() override { m_state.endStep(); }
    void endEvaluation() override { m_state.endEvaluation(); }

private:
    // Explicit lists in the order in which units run forward (framework semantics 1.4, 1.5); the root has lists of its
    // own depth and stands in nobody's.
    void makePrefetchLists() {
        std::vector<UnitId> order;
        UnitId root;
        for (UnitId unit : m_c.script.forwardOrder) {
            if (m_c.unit(unit).isRoot)
                root = unit;
            else if (m_state.communicates(unit))
                order.push_back(unit);
        }
        const FsdpKnobs& knobs = m_c.plan.fsdp;
        const auto depth = [](std::int64_t d) { return static_cast<std::size_t>(std::max<std::int64_t>(d, 0)); };
        for (std::size_t i = 0; i < order.size(); ++i) {
            for (std::size_t d = 1; d <= depth(knobs.forwardPrefetch) && i + d < order.size(); ++d)
                m_state[order[i]].forwardList.push_back(order[i + d]);
            for (std::size_t d = 1; d <= depth(knobs.backwardPrefetch) && d <= i; ++d)
                m_state[order[i]].backwardList.push_back(order[i - d]);
        }
        if (!root.valid()) return;
        for (std::size_t d = 0; d < depth(knobs.rootPrefetch) && d < order.size(); ++d) {
            m_state[root].forwardList.push_back(order[d]);
            m_state[root].backwardList.push_back(order[order.size() - 1 - d]);
        }
    }

    void preForward(UnitId unit, bool first) {
        FsdpContext& context = m_state.contextOf(unit);
        if (m_state[unit].root == unit && first) {
            // Once per iteration the gathers wait for whatever still changes parameters (1.2).
            if (context.copyIn != m_c.computeStream) m_c.builder.waitStream(context.copyIn, m_c.computeStream);
            m_c.builder.waitStream(context.gather, m_c.computeStream);
            if (unit == m_c.script.forwardOrder.front() || !m_c.plan.fsdp.shareContext) context.order.clear();
        }
        unshard(unit, GatherReason::Demand, Phase::Forward);
        waitForUnshard(unit, Phase::Forward);
        if (!first) return;
        for (UnitId target : m_state[unit].forwardList) unshard(target, GatherReason::ExplicitForward, Phase::Forward);
    }

    void postForward(UnitId unit) {
        FsdpContext& context = m_state.contextOf(unit);
        if (m_state.communicates(unit)) {
            const Reshard& reshard = m_c.unit(unit).reshard;
            if (reshard.kind == Reshard::Kind::True) m_state.reshard(unit);
            if (reshard.kind == Reshard::Kind::Group) keepSlice(unit, reshard.group);
            m_state[unit].forwardPosition = context.order.size();
            context.order.push_back(unit);
        }
        if (m_state[unit].root == unit) dropPendingBuffer(context);
    }

    void preBackward(UnitId unit) {
        FsdpContext& context = m_state.contextOf(unit);
        FsdpUnitState& root = m_state[m_state[unit].root];
        if (!root.finalQueued) {
            root.finalQueued = true;
            m_finalOrder.push_back(m_state[unit].root);
        }
        if (!m_state.communicates(unit)) return;
        m_c.builder.mark(Mark::PreBackward, unit);
        m_state[unit].inBackward = true;
        unshard(unit, GatherReason::Demand, Phase::Backward);
        waitForUnshard(unit, Phase::Backward);
        const FsdpUnitState& state = m_state[unit];
        if (state.backwardList.empty()) {
            // Roots that share a context have its order from their second step on (1.2).
            if (m_c.plan.fsdp.shareContext && m_c.plan.firstStep) return;
            if (state.forwardPosition > 0 && state.forwardPosition <= context.order.size())
                unshard(context.order[state.forwardPosition - 1], GatherReason::ImplicitBackward, Phase::Backward);
            return;
        }
        for (UnitId target : state.backwardList) unshard(target, GatherReason::ExplicitBackward, Phase::Backward);
    }

    // A unit inside a checkpointed block whose backward has not begun is gathered early, and stays whole (5.1): the
    // forward hooks that run do so as in a pass of their own.
    void preRecompute(UnitId unit) {
        FsdpUnitState& state = m_state[unit];
        if (state.inBackward || !m_state.communicates(unit)) return;
        state.recomputing = true;
        unshard(unit, GatherReason::Demand, Phase::Forward);
        waitForUnshard(unit, Phase::Forward);
    }

    void postRecompute(UnitId unit) {
        if (!m_state[unit].recomputing) return;
        m_state[unit].recomputing = false;
        dropPendingBuffer(m_state.contextOf(unit));
    }

    // Copy-in and all-gather, unless the unit is whole already or on its way (1.4).
    void unshard(UnitId id, GatherReason why, Phase phase) {
        FsdpUnitState& state = m_state[id];
        if (!m_state.communicates(id) || state.unsharded.valid() || state.gatherIssued) return;
        if (phase == Phase::Backward && !state.gatheredInBackward) return;
        FsdpContext& context = m_state.contextOf(id);
        GraphBuilder& b = m_c.builder;
        if (state.keepSlice.valid()) {
            b.waitOp(context.copyIn, state.keepSlice, EdgeReason::Data);
            b.waitOp(context.gather, state.keepSlice, EdgeReason::Data);
            state.keepSlice = {};
        }
        HostAction mark;
        mark.mark = Mark::GatherIssued;
        mark.unit = id;
        mark.why = why;
        b.mark(mark);
        state.gatherIssued = true;
        if (m_state.ranks() == 1) return;  // the copy-out reads the shard itself (1.14)

        const bool fromSlice = state.slice.valid();
        const std::int64_t ranks = fromSlice ? m_c.unit(id).reshard.group : m_state.ranks();
        const GroupId group = fromSlice ? m_state.subgroup(ranks) : m_state.shardGroup();
        const Bytes whole = m_state.gatheredBytes(id);
        const Bytes part{whole.value / ranks};
        const std::int64_t castShare = fromSlice ? 0 : m_state.castElements(id) / m_state.ranks();
        const bool cast = castShare > 0;
        const Bytes castBytes{castShare * sizeOf(m_c.plan.precision.compute())};

        const BlockId staged = fromSlice ? BlockId() : stage(id, context.copyIn, phase);
        BlockId castBuffer;
        if (cast) castBuffer = m_state.allocate(MemoryCategory::Workspace, id, castBytes, context.copyIn);
        state.buffer = m_state.allocate(MemoryCategory::GatherBuffers, id, whole, context.copyIn);
        Op copyIn = m_state.op(OpKind::GatherCopyIn, id, context.copyIn, phase);
        copyIn.group = group;
        copyIn.dtype = m_state.gatheredType(id);
        copyIn.bytes = part;
        copyIn.read = part + Bytes{castShare * sizeOf(m_c.plan.precision.original)};
        copyIn.written = part + castBytes;
        copyIn.launches = cast ? 2 : 1;
        const OpId copied = b.addOp(copyIn);
        b.use(state.buffer, copied);
        b.use(fromSlice ? state.slice : staged.valid() ? staged : state.parameters, copied);
        if (staged.valid()) b.release(staged);
        if (cast) {
            b.use(castBuffer, copied);
            b.release(castBuffer);
        }
        b.waitStream(context.gather, context.copyIn, EdgeReason::Data);
        Op gather = m_state.op(OpKind::AllGather, id, context.gather, phase);
        gather.group = group;
        gather.dtype = copyIn.dtype;
        gather.bytes = whole;
        state.gather = b.addOp(gather);
        b.use(state.buffer, state.gather);
    }

    // CPU offload: the own shard comes from the host in the original dtype, one copy a parameter (1.13).
    BlockId stage(UnitId id, std::uint8_t stream, Phase phase) {
        if (!m_state.offloads()) return {};
        const BlockId staged = m_state.allocate(MemoryCategory::Workspace, id, m_state.shardBytes(id), stream);
        Op copy = m_state.op(OpKind::CopyToDevice, id, stream, phase);
        copy.dtype = m_c.plan.precision.original;
        copy.bytes = copy.written = m_state.shardBytes(id);
        copy.launches = m_state.tensorsOf(id);
        m_c.builder.use(staged, m_c.builder.addOp(copy));
        return staged;
    }

    // The compute stream waits for the gather and copies out. In forward the buffer stays until the next unit's turn,
    // so that the next gather can overlap; in backward it goes at once (1.3, edge 3).
    void waitForUnshard(UnitId id, Phase phase) {
        FsdpUnitState& state = m_state[id];
        if (!state.gatherIssued) return;
        state.gatherIssued = false;
        FsdpContext& context = m_state.contextOf(id);
        GraphBuilder& b = m_c.builder;
        b.mark(Mark::GatherWaited, id);
        const bool local = m_state.ranks() == 1;
        if (phase == Phase::Forward && !local) dropPendingBuffer(context);
        state.unsharded =
            m_state.allocate(MemoryCategory::UnshardedParameters, id, m_state.gatheredBytes(id), m_c.computeStream);
        if (!local) b.waitOp(m_c.computeStream, state.gather, EdgeReason::Data);
        const BlockId staged = local ? stage(id, m_c.computeStream, phase) : BlockId();
        Op copyOut = m_state.op(OpKind::CopyOut, id, m_c.computeStream, phase);
        copyOut.dtype = m_state.gatheredType(id);
        copyOut.bytes = copyOut.written = m_state.gatheredBytes(id);
        copyOut.read = local ? m_state.shardBytes(id) : copyOut.bytes;
        // Parts along dim 1 are copied out, then put side by side.
        const Bytes apart{local ? 0 : m_state.elementsOnDim1(id, false) * sizeOf(copyOut.dtype)};
        BlockId scratch;
        if (apart.value > 0) scratch = m_state.allocate(MemoryCategory::Workspace, id, apart, m_c.computeStream);
        copyOut.read += apart;
        copyOut.written += apart;
        const OpId copied = b.addOp(copyOut);
        if (scratch.valid()) {
            b.use(scratch, copied);
            b.release(scratch);
        }
        b.use(state.unsharded, copied);
        b.use(!local ? state.buffer : staged.valid() ? staged : state.parameters, copied);
        if (staged.valid()) b.release(staged);
        if (state.slice.valid()) {
            b.release(state.slice);
            state.slice = {};
        }
        if (phase == Phase::Forward && !local && !m_c.plan.fsdp.asyncUnshard) {
            context.pending = {id, state.buffer, copied};
        } else {
            m_state.gatherStreamsWait(context, copied);
            b.mark(Mark::GatherFreed, id);
            if (!local) b.release(state.buffer);
        }
        state.buffer = {};
        state.gather = {};
    }

    void dropPendingBuffer(FsdpContext& context) {
        if (!context.pending.unit.valid()) return;
        m_state.gatherStreamsWait(context, context.pending.copyOut);
        m_c.builder.mark(Mark::GatherFreed, context.pending.unit);
        m_c.builder.release(context.pending.buffer);
        context.pending = {};
    }

    // An int reshard keeps a slice of the gathered parameters, padding of the full group included (1.9).
    void keepSlice(UnitId id, std::int64_t ranks) {
        FsdpUnitState& state = m_state[id];
        GraphBuilder& b = m_c.builder;
        b.mark(Mark::ReshardedPartly, id);
        const Bytes slice{m_state.gatheredBytes(id).value / ranks};
        state.slice = m_state.allocate(MemoryCategory::UnshardedParameters, id, slice, m_c.computeStream);
        Op keep = m_state.op(OpKind::KeepSlice, id, m_c.computeStream, Phase::Forward);
        keep.dtype = m_state.gatheredType(id);
        keep.bytes = keep.read = keep.written = slice;
        state.keepSlice = b.addOp(keep);
        b.use(state.slice, state.keepSlice);
        b.use(state.unsharded, state.keepSlice);
        b.release(state.unsharded);
        state.unsharded = {};
    }

    // The end-of-backward callback of one root: units whose post-backward did not come by autograd, the root first;
    // gathers that nobody used; then compute waits for the last reduction (1.5, 1.3 edge 7).
    void finish(UnitId root) {
        GraphBuilder& b = m_c.builder;
        FsdpContext& context = m_state.contextOf(root);
        std::vector<UnitId> units = m_c.script.moduleOrder;
        std::erase_if(units, [&](UnitId unit) { return m_state[unit].root != root; });
        if (m_c.plan.fsdp.manualFinalize) std::reverse(units.begin(), units.end());
        for (const UnitId unit : units)
            if (m_state.communicates(unit) && !m_state[unit].reduced) m_reduction.postBackward(unit, true);
        const bool last = m_state.lastMicroBatch() || !m_c.plan.fsdp.lastBackwardOnly;
        for (const UnitId unit : units) {
            FsdpUnitState& state = m_state[unit];
            state.reduced = false;
            if (!state.gatherIssued || !last) continue;
            b.mark(Mark::UnusedPrefetchDropped, unit);
            b.waitOp(m_c.computeStream, state.gather);
            if (state.buffer.valid()) b.release(state.buffer);
            state.buffer = {};
            state.gather = {};
            state.gatherIssued = false;
        }
        if (last) m_reduction.finish(context);
        m_state[root].finalQueued = false;
    }

    ClassContext& m_c;
    FsdpState m_state;
    FsdpReduction m_reduction;
    std::vector<UnitId> m_finalOrder;  // roots, in the order of their first pre-backward
};

}  // namespace

std::unique_ptr<UnitRules> makeFsdpRules(ClassContext& context) {
    return std::make_unique<FsdpRules>(context);
}

}  // namespace shardscope::core
