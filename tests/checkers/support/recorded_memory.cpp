#include "tests/checkers/support/recorded_memory.h"

#include <algorithm>
#include <vector>

namespace shardscope::checkers {

using namespace shardscope::core;

namespace {

/// A cursor that also keeps what the recordings tell apart.
class Walk {
public:
    Walk(const StepGraph& graph, const RankClass& rankClass, std::int64_t optimizerStateBytes)
        : m_graph(graph),
          m_cursor(graph, rankClass, optimizerStateBytes),
          m_gradients(graph.units.size(), 0),
          m_accumulated(graph.units.size(), 0),
          m_kept(graph.units.size(), false) {}

    const HostAction* next() {
        const HostAction* action = m_cursor.next();
        if (action == nullptr) return nullptr;
        if (action->kind == HostActionKind::Allocate) account(m_graph.blocks[action->block.index()], 1);
        if (action->kind == HostActionKind::Release) account(m_graph.blocks[action->block.index()], -1);
        if (action->kind == HostActionKind::Mark && action->mark == Mark::GradientKept)
            m_kept[action->unit.index()] = true;
        return action;
    }

    [[nodiscard]] Moment moment(UnitId unit = {}) const {
        return {m_cursor.live(), m_slices, m_outputs, unit.valid() ? gradientsOf(unit) : 0};
    }

    /// Gradients that units other than this one have kept of earlier micro-batches.
    [[nodiscard]] std::int64_t kept(UnitId besides) const {
        std::int64_t bytes = 0;
        for (std::size_t u = 0; u < m_kept.size(); ++u)
            if (m_kept[u] && !(besides.valid() && besides.index() == u))
                bytes += m_accumulated[u] > 0 ? m_accumulated[u] : m_gradients[u];
        return bytes;
    }

private:
    // Gradients of two dtypes are all counted at the wider one in the recordings.
    [[nodiscard]] std::int64_t gradientsOf(UnitId id) const {
        const Unit& unit = m_graph.units[id.index()];
        const bool mixed = unit.originalTrained > 0 && unit.originalTrained < unit.trainedElements;
        if (!mixed || m_gradients[id.index()] == 0) return m_gradients[id.index()];
        return unit.trainedElements * sizeOf(m_graph.plan.precision.original);
    }

    void account(const Block& block, std::int64_t sign) {
        const std::int64_t bytes = sign * block.bytes.value;
        if (block.category == MemoryCategory::ReduceBuffers && m_graph.streams[block.pool].kind != StreamKind::Compute)
            m_outputs += bytes;
        if (!block.unit.valid()) return;
        const Unit& unit = m_graph.units[block.unit.index()];
        const Precision& precision = m_graph.plan.precision;
        const std::int64_t whole = (unit.paddedElements - unit.originalPadded) * sizeOf(precision.compute()) +
                                   unit.originalPadded * sizeOf(precision.original);
        if (block.category == MemoryCategory::UnshardedParameters && block.bytes.value < whole) m_slices += bytes;
        if (block.category != MemoryCategory::UnshardedGradients) return;
        m_gradients[block.unit.index()] += bytes;
        if (block.firstUse.valid() && m_graph.ops[block.firstUse.index()].kind == OpKind::KeepGradients)
            m_accumulated[block.unit.index()] += bytes;
    }

    const StepGraph& m_graph;
    HostMemoryCursor m_cursor;
    std::vector<std::int64_t> m_gradients, m_accumulated;
    std::vector<bool> m_kept;
    std::int64_t m_slices = 0, m_outputs = 0;
};

/// The phases of one micro-batch, read off the marks between which PyTorch's hooks lie.
class PhaseReader {
public:
    PhaseReader(const StepGraph& graph, StepMoments& out) : m_graph(graph), m_out(out) {}

    void before(const HostAction& action, const Walk& walk) {
        if (action.kind != HostActionKind::Mark) return;
        const auto put = [&](UnitId unit, const char* phase) {
            m_out.units[m_graph.units[unit.index()].name].try_emplace(phase, walk.moment(unit));
        };
        const bool ofLeaving =
            m_leaving.valid() && (action.mark == Mark::Resharded || action.mark == Mark::GatherFreed ||
                                  action.mark == Mark::ReshardedPartly);
        if (m_leaving.valid() && !ofLeaving) {
            put(m_leaving, "After Post-Forward");
            m_leaving = {};
        }
        switch (action.mark) {
            case Mark::GatherIssued:
            case Mark::GatherWaited:
                if (!m_backward) put(action.unit, "Before Pre-Forward");
                break;
            case Mark::ForwardBegin:
                if (const UnitId unit = unitOf(action.module); unit.valid()) put(unit, "After Pre-Forward");
                break;
            case Mark::ForwardEnd:
                if (const UnitId unit = unitOf(action.module); unit.valid()) {
                    put(unit, "Before Post-Forward");
                    m_leaving = unit;
                }
                break;
            case Mark::LossBackward:
                m_backward = true;
                m_out.step.try_emplace("after_forward_and_loss", walk.moment());
                break;
            case Mark::PreBackward:
                put(action.unit, "Before Pre-Backward");
                m_entering = action.unit;
                break;
            case Mark::BackwardBegin:
                if (m_entering.valid()) put(m_entering, "After Pre-Backward");
                m_entering = {};
                break;
            case Mark::PostBackward: put(action.unit, "Before Post-Backward"); break;
            case Mark::GradientSet:
            case Mark::GradientAdded: put(action.unit, "After Post-Backward"); break;
            case Mark::BackwardReturned: m_out.step.try_emplace("after_backward", walk.moment()); break;
            case Mark::ZeroGradients: m_out.step.try_emplace("after_optimizer", walk.moment()); break;
            default: break;
        }
    }

private:
    [[nodiscard]] UnitId unitOf(ModuleId module) const {
        for (std::size_t u = 0; u < m_graph.units.size(); ++u)
            if (std::ranges::find(m_graph.units[u].modules, module) != m_graph.units[u].modules.end()) return UnitId(u);
        return {};
    }

    const StepGraph& m_graph;
    StepMoments& m_out;
    UnitId m_leaving, m_entering;
    bool m_backward = false;
};

}  // namespace

HostOrderBytes hostOrderBytes(const StepGraph& graph, const RankClass& rankClass) {
    HostOrderBytes most;
    Walk walk(graph, rankClass, -1);
    // Parameters of no unit, and what the step before has left, are not in the recorded sums.
    std::int64_t outside = walk.moment().live[MemoryCategory::UnshardedParameters];
    UnitId reducing;
    while (const HostAction* action = walk.next()) {
        if (action->kind == HostActionKind::Release && graph.blocks[action->block.index()].found)
            outside -= graph.blocks[action->block.index()].bytes.value;
        if (action->kind != HostActionKind::Mark) continue;  // the recordings look at events
        if (action->mark == Mark::PostBackward) reducing = action->unit;
        const Moment now = walk.moment(reducing);
        const std::int64_t gather = now.live[MemoryCategory::GatherBuffers];
        const std::int64_t unsharded = now.live[MemoryCategory::UnshardedParameters] - outside;
        const std::int64_t inputs = now.live[MemoryCategory::ReduceBuffers] - now.reduceOutputs;
        most.gatherBuffers = std::max(most.gatherBuffers, gather);
        most.unsharded = std::max(most.unsharded, unsharded);
        most.gatherPlusUnsharded = std::max(most.gatherPlusUnsharded, gather + unsharded);
        most.reduceInputs = std::max(most.reduceInputs, inputs);
        most.total = std::max(most.total, gather + unsharded + inputs + now.unitGradients + walk.kept(reducing));
        if (action->mark == Mark::GradientSet || action->mark == Mark::GradientAdded ||
            action->mark == Mark::GradientKept)
            reducing = {};
    }
    return most;
}

StepMoments momentsOf(const StepGraph& graph, const RankClass& rankClass, std::int64_t optimizerStateBytes) {
    StepMoments out;
    Walk walk(graph, rankClass, optimizerStateBytes);
    out.step.emplace("before_forward", walk.moment());
    PhaseReader reader(graph, out);
    while (const HostAction* action = walk.next()) reader.before(*action, walk);
    return out;
}

}  // namespace shardscope::checkers
