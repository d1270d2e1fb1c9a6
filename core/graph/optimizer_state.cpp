#include "core/graph/optimizer_state.h"

#include <algorithm>
#include <vector>

#include "core/plan/sharding.h"

namespace shardscope::core {

namespace {

/// Calls `visit` with the own elements of every trained parameter.
template <class Visit>
void forOwn(const Model& model, std::span<const Unit> units, const Plan& plan, std::int64_t shardRank, Visit visit) {
    const bool sharded = plan.policy == UnitPolicy::Fsdp;
    if (sharded && plan.fsdp.flat) {
        // The optimizer updates flat parameters, padding included.
        for (const Unit& unit : units)
            if (unit.trainedPadded > 0) visit(unit.trainedPadded / plan.mesh.dpShard);
        return;
    }
    std::vector<bool> wrapped(model.parameters.size(), false);
    for (const Unit& unit : units)
        for (const ParameterId p : unit.parameters) {
            wrapped[p.index()] = true;
            const Parameter& parameter = model.parameters[p.index()];
            if (parameter.frozen) continue;
            visit(sharded ? ownElements(plan, parameter.name, parameter.shape, shardRank)
                          : elementsOf(parameter.shape));
        }
    if (!sharded || plan.fsdp.wrap.root) return;
    for (std::size_t p = 0; p < wrapped.size(); ++p)
        if (!wrapped[p] && !model.parameters[p].frozen) visit(elementsOf(model.parameters[p].shape));
}

std::int64_t stateBytesOf(std::int64_t elements, const Plan& plan) {
    constexpr std::int64_t kBlock = 256, kLeast = 4096;
    const std::int64_t size = sizeOf(plan.precision.original);
    switch (plan.optimizer) {
        case OptimizerKind::None:
        case OptimizerKind::Sgd: return 0;
        case OptimizerKind::SgdMomentum: return size * elements;
        case OptimizerKind::Adam:
        case OptimizerKind::AdamW: return 2 * size * elements;
        case OptimizerKind::AdamW8bit:
            if (elements < kLeast || elements % kBlock != 0) return 2 * size * elements;
            return 2 * (elements + 4 * (elements / kBlock) + 4 * kBlock);
    }
    return 0;
}

}  // namespace

std::int64_t elementsNotWrapped(const Model& model, std::span<const Unit> units, const Plan& plan) {
    if (plan.policy != UnitPolicy::Fsdp || plan.fsdp.wrap.root) return 0;
    std::int64_t elements = parameterCount(model);
    for (const Unit& unit : units) elements -= unit.elements;
    return elements;
}

std::int64_t ownElements(const Model& model, std::span<const Unit> units, const Plan& plan, std::int64_t shardRank) {
    std::int64_t sum = 0;
    forOwn(model, units, plan, shardRank, [&](std::int64_t elements) { sum += elements; });
    return sum;
}

Bytes optimizerStateBytes(const Model& model, std::span<const Unit> units, const Plan& plan, std::int64_t shardRank) {
    std::int64_t sum = 0;
    forOwn(model, units, plan, shardRank, [&](std::int64_t elements) { sum += stateBytesOf(elements, plan); });
    return {sum};
}

Bytes hostBytes(const Model& model, std::span<const Unit> units, const Plan& plan) {
    if (plan.policy != UnitPolicy::Fsdp || !plan.fsdp.cpuOffload) return {};
    Bytes sum = optimizerStateBytes(model, units, plan, 0);
    const std::int64_t size = sizeOf(plan.precision.original);
    for (const Unit& unit : units) {
        const std::int64_t gradients = plan.evaluation ? 0 : unit.trainedPadded;
        sum += {(unit.paddedElements + gradients) / plan.mesh.dpShard * size};
    }
    return sum;
}

std::uint16_t trainedTensors(const Model& model, std::span<const Unit> units, const Plan& plan) {
    std::size_t tensors = 0;
    if (plan.policy == UnitPolicy::Fsdp && plan.fsdp.flat) {
        for (const Unit& unit : units) tensors += unit.trainedElements > 0 ? 1 : 0;
        return static_cast<std::uint16_t>(std::clamp<std::size_t>(tensors, 1, 65535));
    }
    for (const Unit& unit : units)
        for (const ParameterId p : unit.parameters) tensors += model.parameters[p.index()].frozen ? 0 : 1;
    return static_cast<std::uint16_t>(std::clamp<std::size_t>(tensors, 1, 65535));
}

Op optimizerOp(const Model& model, std::span<const Unit> units, const Plan& plan) {
    Op op;
    op.kind = OpKind::OptimizerStep;
    op.phase = Phase::Optimizer;
    op.dtype = plan.precision.original;
    const std::int64_t bytes = sizeOf(op.dtype) * ownElements(model, units, plan, 0);
    const std::int64_t state = optimizerStateBytes(model, units, plan, 0).value;
    op.read = {2 * bytes + state};
    op.written = {bytes + state};
    op.bytes = {bytes};
    op.launches = plan.fusedOptimizer ? 1 : trainedTensors(model, units, plan);
    return op;
}

}  // namespace shardscope::core
