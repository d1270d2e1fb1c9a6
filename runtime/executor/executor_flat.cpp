// Flat parameters (FSDP1, framework semantics 1.18): gathered into the parameter itself, reduced from the flat
// gradient.

#include <fmt/format.h>

#include "runtime/executor/executor.h"

namespace shardscope::runtime {

using core::Result;
using Content = Held::Content;

Result<void> Executor::castFlat(const core::Op& op, UnitMemory& unit) {
    if (!unit.cast.allocated()) return refuse("has no memory for the cast shard");
    if (unit.shard.content != Content::Whole) return refuse("finds no parameters in the shard");
    SHARDSCOPE_TRY(checkWaits(m_running));
    const std::int64_t share = unit.layout.share();
    const core::Precision& precision = m_graph.plan.precision;
    SHARDSCOPE_TRY(m_device.copy(op.stream, flatView(unit.shard.memory, precision.original, 0, share),
                                 flatView(unit.cast.memory, precision.compute(), 0, share)));
    unit.cast.content = Content::Whole;
    return {};
}

Result<void> Executor::allGatherFlat(const core::Op& op, UnitMemory& unit) {
    const core::DType dtype = m_graph.plan.precision.compute();
    if (!unit.unsharded.allocated()) return refuse("has no memory for the whole parameters");
    if (unit.unsharded.content != Content::Nothing) return refuse("finds the parameters there already");
    const Held& source = unit.cast.allocated() ? unit.cast : unit.shard;
    if (source.content != Content::Whole)
        return refuse(unit.cast.allocated() ? "comes before its cast" : "finds no parameters in the shard");
    if (!unit.cast.allocated() && dtype != m_graph.plan.precision.original) return refuse("comes before its cast");
    Communicator* communicator = communicatorOf(op);
    if (communicator == nullptr) return refuse("has no group");
    if (communicator->size() != unit.layout.ranks)
        return refuse(
            fmt::format("runs over {} ranks, the unit has {} shards", communicator->size(), unit.layout.ranks));
    if (op.bytes.value != unit.layout.bytes)
        return refuse(fmt::format("moves {} bytes, the parameters have {}", op.bytes.value, unit.layout.bytes));
    SHARDSCOPE_TRY(checkWaits(m_running));
    const std::int64_t share = unit.layout.share();
    SHARDSCOPE_TRY(m_device.copy(op.stream, flatView(source.memory, dtype, 0, share),
                                 flatView(unit.unsharded.memory, dtype, unit.layout.rank * share, share)));
    const std::span whole(unit.unsharded.memory.data, static_cast<std::size_t>(unit.layout.bytes));
    SHARDSCOPE_TRY(communicate(op, *communicator, [=, label = labelFor(op, "all-gather", unit.layout.bytes)] {
        return communicator->allGather(label, whole);
    }));
    unit.unsharded.version = unit.version;
    unit.unsharded.content = Content::Whole;
    return {};
}

Result<void> Executor::widenFlat(const core::Op& op, UnitMemory& unit) {
    const core::Precision& precision = m_graph.plan.precision;
    const std::int64_t elements = unit.unit->trainedElements, padding = unit.layout.trainedPadded - elements;
    SHARDSCOPE_TRY(m_device.copy(op.stream, flatView(unit.accumulated.memory, precision.compute(), 0, elements),
                                 flatView(unit.reduceInput.memory, precision.reduction(), 0, elements)));
    SHARDSCOPE_TRY(
        m_device.fill(op.stream, flatView(unit.reduceInput.memory, precision.reduction(), elements, padding), 0));
    unit.accumulated.content = Content::Used;
    unit.reduceInput.content = Content::Whole;
    return {};
}

Held& Executor::packedGradients(UnitMemory& unit) {
    return unit.layout.flat && !unit.reduceInput.allocated() ? unit.accumulated : unit.reduceInput;
}

}  // namespace shardscope::runtime
