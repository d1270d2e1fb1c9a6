// Policy `none`: every parameter of the stage is there whole, its gradients accumulate over the micro-batches, and the
// optimizer updates them at the end of the step. Parameters are kept in the original dtype. If the param dtype differs,
// a copy in it is made by one cast at the start of each step and dropped at its end; gradients are in the param dtype.

#include "core/graph/optimizer_state.h"
#include "core/graph/unit_rules.h"

namespace shardscope::core {

namespace {

class NoneRules final : public UnitRules {
public:
    explicit NoneRules(ClassContext& context) : m_c(context), m_id(context.firstUnit) {}

    void beginStep() override {
        m_parameters = persistent(MemoryCategory::UnshardedParameters, bytesIn(m_c.plan.precision.original));
        if (!m_c.plan.firstStep && stateBytes().value > 0)
            m_state = persistent(MemoryCategory::OptimizerState, stateBytes());
        m_inUse = m_parameters;
        if (m_c.plan.precision.compute() == m_c.plan.precision.original) return;
        m_inUse = allocate(MemoryCategory::UnshardedParameters, bytesIn(m_c.plan.precision.compute()));
        Op cast = op(OpKind::CastParameters, Phase::Forward);
        cast.dtype = m_c.plan.precision.compute();
        cast.read = bytesIn(m_c.plan.precision.original);
        cast.bytes = cast.written = bytesIn(cast.dtype);
        const OpId done = m_c.builder.addOp(cast);
        m_c.builder.use(m_parameters, done);
        m_c.builder.use(m_inUse, done);
    }

    void act(const PassStep&) override {}

    void beforeCompute(const PassStep& step) override {
        if (!step.kernels.backward) return;
        std::int64_t made = 0, again = 0;
        for (const TouchedUnit& touched : m_c.touched(step)) {
            made += touched.gradientElements;
            again += touched.repeatedElements;
        }
        // From the second micro-batch on every gradient is a repeated one: made apart, then added.
        if (m_c.microBatch > 0) {
            again += made;
            made = 0;
        }
        const std::int64_t size = sizeOf(m_c.plan.precision.compute());
        if (made > 0) m_gradients.push_back(allocate(MemoryCategory::UnshardedGradients, {made * size}));
        m_madeNow = made > 0;
        if (again > 0) m_repeated = allocate(MemoryCategory::Workspace, {again * size});
    }

    void afterCompute(const PassStep& step, OpId done) override {
        if (!m_c.touched(step).empty()) m_c.builder.use(m_inUse, done);
        if (!step.kernels.backward) return;
        if (m_madeNow) m_c.builder.use(m_gradients.back(), done);
        m_madeNow = false;
        if (!m_repeated.valid()) return;
        Op add = op(OpKind::AddGradient, Phase::Backward);
        add.kernels = step.kernels;
        add.dtype = m_c.plan.precision.compute();
        add.bytes = add.written = m_c.builder.block(m_repeated).bytes;
        add.read = add.bytes + add.bytes;
        const OpId added = m_c.builder.addOp(add);
        m_c.builder.use(m_repeated, done);
        m_c.builder.use(m_repeated, added);
        useGradients(m_id, added);
        m_c.builder.release(m_repeated);
        m_repeated = {};
    }

    void endBackward() override {}

    [[nodiscard]] Bytes tiedGradientBytes(std::span<const ParameterId> tied) const override {
        std::int64_t elements = 0;
        for (ParameterId p : tied) elements += elementsOf(m_c.model.parameters[p.index()].shape);
        return {elements * sizeOf(m_c.plan.precision.compute())};
    }

    [[nodiscard]] UnitId tiedUnit(std::span<const ParameterId>) const override { return m_id; }

    void useGradients(UnitId, OpId op) override {
        for (BlockId gradient : m_gradients) m_c.builder.use(gradient, op);
    }

    void endStep() override {
        m_c.builder.mark(Mark::OptimizerStep);
        if (m_c.plan.optimizer != OptimizerKind::None) {
            if (m_c.plan.firstStep && stateBytes().value > 0)
                m_state = allocate(MemoryCategory::OptimizerState, stateBytes());
            Op step = optimizerOp(m_c.model, m_c.units, m_c.plan);
            step.unit = m_id;
            step.stream = m_c.computeStream;
            step.microBatch = m_c.microBatch;
            const OpId done = m_c.builder.addOp(step);
            if (m_state.valid()) m_c.builder.use(m_state, done);
            m_c.builder.use(m_parameters, done);
            useGradients(m_id, done);
        }
        m_c.builder.mark(Mark::ZeroGradients);
        for (BlockId gradient : m_gradients) m_c.builder.release(gradient);
        m_gradients.clear();
        if (m_inUse != m_parameters) m_c.builder.release(m_inUse);
    }

private:
    [[nodiscard]] Bytes bytesIn(DType type) const { return {m_c.unit(m_id).elements * sizeOf(type)}; }
    [[nodiscard]] Bytes stateBytes() const { return optimizerStateBytes(m_c.model, m_c.units, m_c.plan, 0); }

    [[nodiscard]] Op op(OpKind kind, Phase phase) const {
        Op made;
        made.kind = kind;
        made.phase = phase;
        made.unit = m_id;
        made.stream = m_c.computeStream;
        made.microBatch = m_c.microBatch;
        return made;
    }

    [[nodiscard]] Block block(MemoryCategory category, Bytes bytes) const {
        Block made;
        made.category = category;
        made.unit = m_id;
        made.bytes = bytes;
        made.pool = m_c.computeStream;
        made.microBatch = m_c.microBatch;
        return made;
    }
    BlockId allocate(MemoryCategory category, Bytes bytes) { return m_c.builder.allocate(block(category, bytes)); }
    BlockId persistent(MemoryCategory category, Bytes bytes) {
        return m_c.builder.addPersistent(block(category, bytes));
    }

    ClassContext& m_c;
    UnitId m_id;
    BlockId m_parameters, m_inUse, m_state, m_repeated;
    std::vector<BlockId> m_gradients;
    bool m_madeNow = false;
};

}  // namespace

std::unique_ptr<UnitRules> makeNoneRules(ClassContext& context) {
    return std::make_unique<NoneRules>(context);
}

}  // namespace shardscope::core
