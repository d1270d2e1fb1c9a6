#include "core/graph/optimizer_state.h"

#include <algorithm>

#include "core/plan/sharding.h"

namespace shardscope::core {

namespace {

bool isAdam(const Plan& plan) {
    return plan.optimizer == OptimizerKind::Adam || plan.optimizer == OptimizerKind::AdamW;
}

}  // namespace

std::int64_t elementsNotWrapped(const Model& model, std::span<const Unit> units, const Plan& plan) {
    if (plan.policy != UnitPolicy::Fsdp || plan.fsdp.wrap.root) return 0;
    std::int64_t elements = parameterCount(model);
    for (const Unit& unit : units) elements -= unit.elements;
    return elements;
}

std::int64_t ownElements(const Model& model, std::span<const Unit> units, const Plan& plan, std::int64_t shardRank) {
    std::int64_t elements = elementsNotWrapped(model, units, plan);
    for (const Unit& unit : units) {
        if (plan.policy != UnitPolicy::Fsdp) {
            elements += unit.elements;
            continue;
        }
        for (ParameterId p : unit.parameters) {
            const Shape& shape = model.parameters[p.index()].shape;
            const std::int64_t rows = shape.empty() ? 1 : shape.front();
            const std::int64_t chunk = chunkRows(shape, plan.mesh.dpShard);
            const std::int64_t own = std::clamp<std::int64_t>(rows - shardRank * chunk, 0, chunk);
            elements += rows == 0 ? 0 : elementsOf(shape) / rows * own;
        }
    }
    return elements;
}

Bytes optimizerStateBytes(const Model& model, std::span<const Unit> units, const Plan& plan, std::int64_t shardRank) {
    if (!isAdam(plan)) return {0};
    return {2 * sizeOf(plan.precision.original) * ownElements(model, units, plan, shardRank)};
}

Op optimizerOp(const Model& model, std::span<const Unit> units, const Plan& plan) {
    Op op;
    op.kind = OpKind::OptimizerStep;
    op.phase = Phase::Optimizer;
    op.dtype = plan.precision.original;
    const std::int64_t bytes = sizeOf(op.dtype) * ownElements(model, units, plan, 0);
    op.read = {bytes * (isAdam(plan) ? 4 : 2)};
    op.written = {bytes * (isAdam(plan) ? 3 : 1)};
    op.bytes = {bytes};
    // A fused optimizer is one kernel; otherwise about one launch per parameter tensor, whatever the implementation
    // does with it.
    std::size_t tensors = 0;
    for (const Unit& unit : units) tensors += unit.parameters.size();
    op.launches = plan.fusedOptimizer ? 1 : static_cast<std::uint16_t>(std::clamp<std::size_t>(tensors, 1, 65535));
    return op;
}

}  // namespace shardscope::core
