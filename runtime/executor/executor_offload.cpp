// CPU offload (framework semantics 1.13): shards, reduced gradients and optimizer state in host memory, which is no
// memory of the device and is counted nowhere.

#include <fmt/format.h>

#include "runtime/executor/executor.h"

namespace shardscope::runtime {

using core::Result;
using Content = Held::Content;

void Executor::allocateOnHost() {
    const std::int64_t size = core::sizeOf(m_graph.plan.precision.original);
    for (UnitMemory& unit : m_units) {
        if (unit.unit == nullptr) continue;
        const std::int64_t shard = size * unit.layout.share(), gradient = size * unit.layout.gradientShare();
        const std::int64_t moments = size * momentsPerElement() * unit.layout.ownElements();
        unit.host.assign(static_cast<std::size_t>(shard + gradient + moments), std::byte{0});
        const auto held = [&](std::int64_t from, std::int64_t bytes) {
            Held made;
            made.memory = {~std::uint64_t{0}, unit.host.data() + from, bytes, {}};
            return made;
        };
        unit.shard = held(0, shard);
        unit.hostGradient = held(shard, gradient);
        if (moments > 0) unit.moments = unit.host.data() + shard + gradient;
    }
}

Result<void> Executor::copyToDevice(const core::Op& op, UnitMemory& unit) {
    if (!unit.staged.allocated()) return refuse("has no memory on the device");
    if (unit.shard.content != Content::Whole) return refuse("finds no parameters on the host");
    if (op.bytes.value != unit.staged.memory.bytes)
        return refuse(fmt::format("moves {} bytes, the shard has {}", op.bytes.value, unit.staged.memory.bytes));
    SHARDSCOPE_TRY(checkWaits(m_running));
    const core::DType dtype = m_graph.plan.precision.original;
    SHARDSCOPE_TRY(m_device.copy(op.stream, flatView(unit.shard.memory, dtype, 0, unit.layout.share()),
                                 flatView(unit.staged.memory, dtype, 0, unit.layout.share())));
    unit.staged.content = Content::Whole;
    return {};
}

Result<void> Executor::copyToHost(const core::Op& op, UnitMemory& unit) {
    Held& gradient = unit.shardedGradient;
    if (gradient.content != Content::Whole)
        return refuse(gradient.content == Content::Used ? "finds the gradient copied already"
                                                        : "comes before the reduction");
    const bool there = unit.hostGradient.content == Content::Whole;
    if (op.accumulate != there)
        return refuse(there ? "would overwrite a gradient that is there" : "adds to a gradient that is not there");
    SHARDSCOPE_TRY(checkWaits(m_running));
    const core::DType dtype = m_graph.plan.precision.original;
    for (const ParameterPlace& place : unit.layout.places) {
        if (!place.trained) continue;
        const std::int64_t at = place.ownGradientAt;
        const TensorView from = flatView(gradient.memory, dtype, at, place.own);
        const TensorView to = flatView(unit.hostGradient.memory, dtype, at, place.own);
        SHARDSCOPE_TRY(there ? m_device.add(op.stream, from, to) : m_device.copy(op.stream, from, to));
    }
    gradient.content = Content::Used;
    unit.hostGradient.content = Content::Whole;
    return {};
}

}  // namespace shardscope::runtime
