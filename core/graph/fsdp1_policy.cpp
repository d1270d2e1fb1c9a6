// FSDP1 (`FullyShardedDataParallel`, framework semantics 1.18), as PyTorch 2.6.0 runs it. Each method is named after
// the hook that it stands for. What differs from FSDP2 (fsdp_policy.cpp): the gather writes into the flat parameter
// itself, there is no copy-out; the gradient is flat as well, made of the parameters' gradients by autograd; the host
// waits before a gather for units that it has freed; nothing waits for a reduction before the end of backward.

#include <deque>

#include "core/graph/fsdp_reduction.h"
#include "core/graph/fsdp_state.h"
#include "core/graph/unit_rules.h"

namespace shardscope::core {

namespace {

class Fsdp1Rules final : public UnitRules {
public:
    explicit Fsdp1Rules(ClassContext& context)
        : m_c(context), m_state(context), m_reduction(context, m_state), m_flat(context.units.size()) {
        for (const std::vector<PassStep>* steps : {&m_c.script.lossBackward, &m_c.script.backward})
            for (const PassStep& step : *steps)
                for (const TouchedUnit& touched : m_c.touched(step)) flat(touched.unit).expected += touched.finished;
    }

    void beginStep() override {
        m_state.addPersistentBlocks();
        // Which freed units the host has not waited for when the step begins: those of steps like this one.
        if (!m_c.plan.firstStep)
            for (int step = 0; step < 2; ++step) rehearse();
        for (std::size_t u = 0; u < m_flat.size(); ++u) m_flat[u].whole = m_state[idOf(u)].unsharded.valid();
    }

    void act(const PassStep& step) override {
        flushPostBackward();
        if (!step.unit.valid() || !m_state.communicates(step.unit)) {
            if (step.kind == PassStep::Kind::EnterUnit && m_c.unit(step.unit).isRoot) enterRoot(step.unit);
            return;
        }
        switch (step.kind) {
            case PassStep::Kind::EnterUnit: preForward(step.unit); break;
            case PassStep::Kind::LeaveUnit: postForward(step.unit); break;
            case PassStep::Kind::PreBackward: preBackward(step.unit); break;
            case PassStep::Kind::PostBackward:
                // Trained units reduce when their flat gradient is there.
                if (m_c.unit(step.unit).trainedElements == 0) reshardOnly(step.unit);
                break;
            default: break;  // inside the unit's own backward its forward hooks do nothing
        }
    }

    void beforeCompute(const PassStep& step) override {
        flushPostBackward();
        if (step.kernels.backward) m_reduction.allocateGradients(step);
    }

    void afterCompute(const PassStep& step, OpId op) override {
        m_state.useGathered(step, op);
        if (!step.kernels.backward) return;
        m_reduction.afterCompute(step, op);
        noteFinished(step);
    }

    void endBackward() override {
        flushPostBackward();
        if (!m_dry) m_c.builder.mark(Mark::FinalBegin);
        for (const UnitId unit : m_c.script.moduleOrder)
            if (m_state.communicates(unit) && m_c.unit(unit).trainedElements > 0 && flat(unit).expected == 0)
                postBackward(unit);  // no kernel of it is known
        FsdpContext& context = m_state.contexts().front();
        if (!m_dry && context.postReduce.valid()) {
            m_c.builder.waitStream(m_c.computeStream, context.reduce, EdgeReason::Data);
            if (m_state.hybrid()) m_c.builder.waitStream(m_c.computeStream, context.allReduce, EdgeReason::Data);
            context.postReduce = {};
            m_reduction.releaseFlat(m_reduction.flatReductions());
        }
        for (const UnitId unit : m_c.script.moduleOrder)
            if (flat(unit).whole && freesInBackward(unit)) reshard(unit, true);
        for (FlatUnit& unit : m_flat) unit.needsGather = unit.prefetched = false, unit.finished = 0;
        m_order.clear();
        if (m_dry) return;
        releaseFreed();
        m_c.builder.mark(Mark::FinalEnd);
    }

    // FSDP1 is not simulated inside pipeline stages: no weight is tied to another one.
    [[nodiscard]] Bytes tiedGradientBytes(std::span<const ParameterId>) const override { return {}; }
    [[nodiscard]] UnitId tiedUnit(std::span<const ParameterId>) const override { return {}; }
    void useGradients(UnitId unit, OpId op) override { m_c.builder.use(m_state[unit].shardedGradient, op); }

    [[nodiscard]] Bytes gradientBytes() const override { return m_state.ownGradientBytes(); }
    void useAllGradients(OpId op) override { m_state.useAllGradients(op); }
    [[nodiscard]] std::uint8_t gradientStream() const override { return m_c.computeStream; }
    [[nodiscard]] std::optional<ShardsOfGradients> shardsOfGradients() override {
        return ShardsOfGradients{m_state.shardGroup(), m_state.contexts().front().reduce};
    }

    void endStep() override { m_state.endStep(); }
    void endEvaluation() override {
        releaseFreed();
        m_state.endEvaluation();
    }

private:
    struct FlatUnit {
        bool whole = false;                        // gathered, or on its way
        bool onItsWay = false;                     // and not waited for
        bool prefetched = false;                   // for backward
        bool needsGather = false;                  // it has run forward, and its backward is to come
        std::size_t reductionsBefore = 0;          // issued before its gather
        std::size_t position = 0;                  // in m_order
        std::uint32_t expected = 0, finished = 0;  // gradients in a backward pass, and those that are there
    };

    [[nodiscard]] UnitId idOf(std::size_t unit) const { return UnitId(m_c.firstUnit.index() + unit); }
    [[nodiscard]] FlatUnit& flat(UnitId unit) { return m_flat[m_c.local(unit)]; }
    /// FULL_SHARD; the root has the strategy of the others, but is never freed after forward.
    [[nodiscard]] bool isFullyShardedStrategy(UnitId unit) const {
        if (m_c.unit(unit).isRoot) return m_c.plan.fsdp.reshardAfterForward.kind != Reshard::Kind::False;
        return m_c.unit(unit).reshard.kind == Reshard::Kind::True;
    }
    [[nodiscard]] bool synchronizes() const {
        return m_lastMicroBatch || m_c.plan.gradientSync == GradientSync::EveryMicroBatch;
    }
    [[nodiscard]] bool freesInBackward(UnitId unit) const { return synchronizes() || isFullyShardedStrategy(unit); }

    void enterRoot(UnitId root) {
        m_lastMicroBatch = m_dry ? m_lastMicroBatch : m_state.lastMicroBatch();
        if (m_dry) return;
        const FsdpContext& context = m_state.contextOf(root);
        m_c.builder.waitStream(context.copyIn, m_c.computeStream);
        m_c.builder.waitStream(context.gather, m_c.computeStream);
        releaseFreed();
    }

    void preForward(UnitId unit) {
        if (m_c.unit(unit).isRoot) enterRoot(unit);
        unshard(unit, GatherReason::Demand, Phase::Forward);
        waitForGathers(unit);
    }

    void postForward(UnitId unit) {
        FlatUnit& state = flat(unit);
        state.position = m_order.size();
        m_order.push_back(unit);
        reshard(unit, !m_c.unit(unit).isRoot && isFullyShardedStrategy(unit));
        state.needsGather = true;
    }

    void preBackward(UnitId unit) {
        if (!m_dry) m_c.builder.mark(Mark::PreBackward, unit);
        FlatUnit& state = flat(unit);
        if (state.needsGather) {
            if (!state.prefetched) unshard(unit, GatherReason::Demand, Phase::Backward);
            waitForGathers(unit);
        }
        state.needsGather = false;
        if (m_c.plan.fsdp.flatPrefetch == FsdpKnobs::FlatPrefetch::Before) prefetch(unit);
    }

    void noteFinished(const PassStep& step) {
        for (const TouchedUnit& touched : m_c.touched(step)) {
            FlatUnit& state = flat(touched.unit);
            if (touched.finished == 0) continue;
            state.finished += touched.finished;
            if (state.finished == state.expected) m_due.push_back(touched.unit);
        }
    }

    // The hooks of a flat gradient run after the kernels that made its last part, when their activations are gone.
    void flushPostBackward() {
        const std::vector<UnitId> due = std::move(m_due);
        m_due.clear();
        for (const UnitId unit : due) postBackward(unit);
    }

    void postBackward(UnitId unit) {
        if (!m_dry) {
            m_reduction.flatten(unit);
            m_c.builder.mark(Mark::PostBackward, unit);
        }
        reshardOnly(unit);
        if (!m_dry && synchronizes()) m_reduction.reduceFlat(unit);
        if (!m_dry && !synchronizes()) m_c.builder.mark(Mark::GradientKept, unit);
    }

    void reshardOnly(UnitId unit) {
        reshard(unit, freesInBackward(unit));
        if (m_c.plan.fsdp.flatPrefetch == FsdpKnobs::FlatPrefetch::After) prefetch(unit);
    }

    // The unit that ran forward before this one.
    void prefetch(UnitId unit) {
        const std::size_t position = flat(unit).position;
        if (position == 0 || position > m_order.size()) return;
        const UnitId target = m_order[position - 1];
        if (!flat(target).needsGather || flat(target).prefetched) return;
        unshard(target, GatherReason::ImplicitBackward, Phase::Backward);
        flat(target).prefetched = true;
    }

    // Cast on a stream of its own, the limit on what is in flight, and the gather into the flat parameter.
    void unshard(UnitId id, GatherReason why, Phase phase) {
        FlatUnit& unit = flat(id);
        const bool gathers = !unit.whole;
        unit.whole = true;
        GraphBuilder& b = m_c.builder;
        FsdpUnitState& state = m_state[id];
        FsdpContext& context = m_state.contextOf(id);
        BlockId cast;
        if (gathers && !m_dry && m_state.castElements(id) > 0) {
            // Two in turns: the first is there again when its gather is done.
            if (m_casts.size() == 2) releaseCast(context);
            const Bytes part{m_state.gatheredBytes(id).value / m_state.ranks()};
            cast = m_state.allocate(MemoryCategory::Workspace, id, part, context.copyIn);
            Op copyIn = m_state.op(OpKind::GatherCopyIn, id, context.copyIn, phase);
            copyIn.group = m_state.shardGroup();
            copyIn.dtype = m_c.plan.precision.compute();
            copyIn.bytes = copyIn.written = part;
            copyIn.read = m_state.shardBytes(id);
            const OpId copied = b.addOp(copyIn);
            b.use(cast, copied);
            b.use(state.parameters, copied);
            b.waitStream(context.gather, context.copyIn, EdgeReason::Data);
        }
        // The host itself waits: what it enqueues for gathers comes after that, and the unit's memory is free.
        if (m_c.plan.fsdp.limitAllGathers && m_freed.size() >= kMostInFlight) {
            if (!m_dry) {
                b.waitMoment(context.gather, m_freed.front().moment, EdgeReason::MemoryLimit);
                b.waitMoment(context.copyIn, m_freed.front().moment, EdgeReason::MemoryLimit);
                if (m_freed.front().block.valid()) b.release(m_freed.front().block);
            }
            m_freed.pop_front();
        }
        if (!gathers || m_dry) return;
        unit.onItsWay = true;
        HostAction mark;
        mark.mark = Mark::GatherIssued;
        mark.unit = id;
        mark.why = why;
        b.mark(mark);
        const Bytes whole = m_state.gatheredBytes(id);
        state.unsharded = m_state.allocate(MemoryCategory::UnshardedParameters, id, whole, context.gather);
        Op gather = m_state.op(OpKind::AllGather, id, context.gather, phase);
        gather.group = m_state.shardGroup();
        gather.dtype = m_c.plan.precision.compute();
        gather.bytes = whole;
        const OpId gathered = b.addOp(gather);
        b.use(state.unsharded, gathered);
        b.use(cast.valid() ? cast : state.parameters, gathered);
        if (cast.valid()) m_casts.push_back({cast, gathered});
        unit.reductionsBefore = m_reduction.flatReductions();
    }

    void waitForGathers(UnitId unit) {
        if (m_dry) return;
        FlatUnit& state = flat(unit);
        if (state.onItsWay) m_c.builder.mark(Mark::GatherWaited, unit);
        m_c.builder.waitStream(m_c.computeStream, m_state.contextOf(unit).gather, EdgeReason::Data);
        // Reductions that were issued before this gather have ended before it began: they share a communicator.
        if (state.onItsWay) m_reduction.releaseFlat(state.reductionsBefore);
        state.onItsWay = false;
    }

    void releaseCast(const FsdpContext& context) {
        m_c.builder.waitOp(context.copyIn, m_casts.front().gather, EdgeReason::MemoryLimit);
        m_c.builder.release(m_casts.front().block);
        m_casts.pop_front();
    }

    // The memory of a freed unit is handed out again when the gather stream waits for what used it.
    void reshard(UnitId unit, bool frees) {
        flat(unit).prefetched = false;
        if (!frees) return;
        flat(unit).whole = false;
        Freed freed;
        if (!m_dry) {
            m_c.builder.mark(Mark::Resharded, unit);
            freed.moment = m_c.builder.record(m_c.computeStream);
            std::swap(freed.block, m_state[unit].unsharded);
        }
        if (m_c.plan.fsdp.limitAllGathers)
            m_freed.push_back(std::move(freed));
        else if (freed.block.valid())
            m_unlimited.push_back(freed.block);
    }

    // No gather follows before one that waits for all compute.
    void releaseFreed() {
        for (Freed& freed : m_freed) {
            if (freed.block.valid()) m_c.builder.release(freed.block);
            freed.block = {};
        }
        for (const BlockId block : m_unlimited) m_c.builder.release(block);
        m_unlimited.clear();
        for (const Cast& cast : m_casts) m_c.builder.release(cast.block);
        m_casts.clear();
    }

    // A step's hooks without what they enqueue.
    void rehearse() {
        m_dry = true;
        for (std::size_t u = 0; u < m_flat.size(); ++u) m_flat[u].whole = m_state[idOf(u)].unsharded.valid();
        for (std::int64_t micro = 0; micro < m_c.plan.microBatches; ++micro) {
            m_lastMicroBatch = micro + 1 == m_c.plan.microBatches;
            for (const std::vector<PassStep>* steps :
                 {&m_c.script.forward, &m_c.script.loss, &m_c.script.lossBackward, &m_c.script.backward})
                for (const PassStep& step : *steps)
                    if (step.kind == PassStep::Kind::Kernels) {
                        flushPostBackward();
                        if (step.kernels.backward) noteFinished(step);
                    } else {
                        act(step);
                    }
            if (!m_c.script.forwardOnly) endBackward();
        }
        m_dry = false;
    }

    static constexpr std::size_t kMostInFlight = 2;  // of PyTorch's limiter

    ClassContext& m_c;
    FsdpState m_state;
    FsdpReduction m_reduction;
    std::vector<FlatUnit> m_flat;
    std::vector<UnitId> m_order;  // post-forward order
    std::vector<UnitId> m_due;    // whose flat gradients are complete
    struct Freed {
        GraphBuilder::Moment moment;
        BlockId block;
    };
    struct Cast {
        BlockId block;
        OpId gather;
    };
    std::deque<Cast> m_casts;          // of gathers that may be under way
    std::vector<BlockId> m_unlimited;  // freed units, without a limit
    std::deque<Freed> m_freed;         // the moments of units that were freed, not waited for
    bool m_dry = false, m_lastMicroBatch = true;
};

}  // namespace

std::unique_ptr<UnitRules> makeFsdp1Rules(ClassContext& context) {
    return std::make_unique<Fsdp1Rules>(context);
}

}  // namespace shardscope::core
