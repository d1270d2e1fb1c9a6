#include "core/graph/whole_rules.h"

namespace shardscope::core {

Op WholeRules::op(OpKind kind, Phase phase, UnitId unit) const {
    Op made;
    made.kind = kind;
    made.phase = phase;
    made.unit = unit;
    made.stream = m_c.computeStream;
    made.microBatch = m_c.microBatch;
    return made;
}

Block WholeRules::block(MemoryCategory category, UnitId unit, Bytes bytes) const {
    Block made;
    made.category = category;
    made.unit = unit;
    made.bytes = bytes;
    made.pool = m_c.computeStream;
    made.microBatch = m_c.microBatch;
    return made;
}

void WholeRules::beginStep() {
    const Precision& precision = m_c.plan.precision;
    for (std::size_t u = 0; u < m_units.size(); ++u)
        m_units[u].inUse = m_units[u].parameters =
            persistent(MemoryCategory::UnshardedParameters, idOf(u), bytesIn(idOf(u), precision.original));
    if (!m_c.plan.firstStep && stateBytes().value > 0)
        m_state = persistent(MemoryCategory::OptimizerState, m_units.size() == 1 ? idOf(0) : UnitId(), stateBytes());
    if (precision.compute() == precision.original) return;
    for (std::size_t u = 0; u < m_units.size(); ++u) {
        WholeUnit& unit = m_units[u];
        const std::int64_t elements = castElements(idOf(u));
        if (elements == 0) continue;
        const Bytes copy{elements * sizeOf(precision.compute())};
        unit.inUse = allocate(MemoryCategory::UnshardedParameters, idOf(u), copy);
        Op cast = op(OpKind::CastParameters, Phase::Forward, idOf(u));
        cast.dtype = precision.compute();
        cast.read = {elements * sizeOf(precision.original)};
        cast.bytes = cast.written = copy;
        const OpId done = m_c.builder.addOp(cast);
        m_c.builder.use(unit.parameters, done);
        m_c.builder.use(unit.inUse, done);
    }
}

std::int64_t WholeRules::castElements(UnitId unit) const {
    if (!m_c.model.workload.autocast) return m_c.unit(unit).elements;
    const std::vector<bool> cast = castByAutocast(m_c.model, m_c.stage.begin, m_c.stage.end);
    std::int64_t elements = 0;
    for (const ParameterId p : m_c.unit(unit).parameters)
        if (cast[p.index()]) elements += elementsOf(m_c.model.parameters[p.index()].shape);
    return elements;
}

WholeRules::Apart WholeRules::apartOf(const TouchedUnit& touched) {
    // From the second micro-batch on every gradient is a repeated one: made apart, then added.
    const bool there = whole(touched.unit).gradientsStay;
    const std::int64_t made = there ? 0 : touched.gradientElements;
    const std::int64_t all = touched.gradientElements + touched.repeatedElements;
    if (!casts()) return {all - made, (all - made) * sizeOf(m_gradientType), 0};
    // Those that are made in the dtype in which they are kept have a place of their own.
    const std::int64_t madeSo = there ? 0 : touched.gradientOriginal;
    const std::int64_t allSo = touched.gradientOriginal + touched.repeatedOriginal;
    return {all - madeSo,
            (all - allSo) * sizeOf(m_c.plan.precision.compute()) + (allSo - madeSo) * sizeOf(m_gradientType),
            made - madeSo};
}

void WholeRules::beforeCompute(const PassStep& step) {
    if (!step.kernels.backward) return;
    for (const TouchedUnit& touched : m_c.touched(step)) {
        WholeUnit& unit = whole(touched.unit);
        const std::int64_t made = unit.gradientsStay ? 0 : touched.gradientElements;
        if (made > 0)
            unit.made = allocate(MemoryCategory::UnshardedGradients, touched.unit, {made * sizeOf(m_gradientType)});
        if (const Apart apart = apartOf(touched); apart.elements > 0)
            unit.repeated = allocate(MemoryCategory::Workspace, touched.unit, {apart.bytes});
    }
}

void WholeRules::afterCompute(const PassStep& step, OpId done) {
    GraphBuilder& b = m_c.builder;
    for (const TouchedUnit& touched : m_c.touched(step)) b.use(whole(touched.unit).inUse, done);
    if (!step.kernels.backward) return;
    for (const TouchedUnit& touched : m_c.touched(step)) {
        WholeUnit& unit = whole(touched.unit);
        if (unit.made.valid()) {
            if (!casts() || touched.gradientOriginal > 0) b.use(unit.made, done);
            unit.gradients.push_back({unit.made, step.kernels});
        }
        if (unit.repeated.valid()) {
            const Apart apart = apartOf(touched);
            Op add = op(OpKind::AddGradient, Phase::Backward, touched.unit);
            add.kernels = step.kernels;
            add.dtype = m_gradientType;
            add.bytes = add.written = {apart.elements * sizeOf(m_gradientType)};
            add.read = {apart.bytes + (apart.elements - apart.first) * sizeOf(m_gradientType)};
            const OpId added = b.addOp(add);
            b.use(unit.repeated, done);
            b.use(unit.repeated, added);
            useGradients(touched.unit, added);
            b.release(unit.repeated);
        }
        unit.made = unit.repeated = {};
    }
}

Bytes WholeRules::tiedGradientBytes(std::span<const ParameterId> tied) const {
    std::int64_t elements = 0;
    for (ParameterId p : tied) elements += elementsOf(m_c.model.parameters[p.index()].shape);
    return {elements * sizeOf(m_gradientType)};
}

void WholeRules::useGradients(UnitId unit, OpId op) {
    for (const Gradients& gradients : whole(unit).gradients) m_c.builder.use(gradients.block, op);
}

void WholeRules::useAllGradients(OpId op) {
    for (std::size_t u = 0; u < m_units.size(); ++u) useGradients(idOf(u), op);
}

void WholeRules::endStep() {
    GraphBuilder& b = m_c.builder;
    b.mark(Mark::OptimizerStep);
    const UnitId named = m_units.size() == 1 ? idOf(0) : UnitId();
    if (m_c.plan.optimizer != OptimizerKind::None) {
        if (m_c.plan.firstStep && stateBytes().value > 0) {
            m_state = allocate(MemoryCategory::OptimizerState, named, stateBytes());
            b.leave(m_state);
        }
        Op step = optimizerOp(m_c.model, m_c.units, m_c.plan);
        step.unit = named;
        step.stream = m_c.computeStream;
        step.microBatch = m_c.microBatch;
        const OpId done = b.addOp(step);
        if (m_state.valid()) b.use(m_state, done);
        for (const WholeUnit& unit : m_units) b.use(unit.parameters, done);
        useAllGradients(done);
    }
    b.mark(Mark::ZeroGradients);
    for (WholeUnit& unit : m_units) {
        for (const Gradients& gradients : unit.gradients) b.release(gradients.block);
        unit.gradients.clear();
    }
    endEvaluation();
}

void WholeRules::endEvaluation() {
    for (const WholeUnit& unit : m_units)
        if (unit.inUse != unit.parameters) m_c.builder.release(unit.inUse);
}

}  // namespace shardscope::core
