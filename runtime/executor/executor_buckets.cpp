// DDP's gradients (framework semantics 2): into their bucket, reduced, and back or used where they are.

#include <algorithm>

#include <fmt/format.h>

#include "runtime/executor/executor.h"

namespace shardscope::runtime {

using core::Result;
using Content = Held::Content;

Result<void> Executor::bucketCopyIn(const core::Op& op, UnitMemory& unit) {
    if (!unit.bucket.allocated()) return refuse("has no bucket");
    const core::DType dtype = m_graph.plan.precision.original;
    const bool views = m_graph.plan.ddp.gradientAsBucketView, alone = m_graph.plan.mesh.dpReplicate == 1;
    std::vector<std::size_t> places;
    std::int64_t bytes = 0;
    for (const std::size_t p : gradientsMadeBy(m_running, unit)) {
        const ParameterPlace& place = unit.layout.places[p];
        const core::GradientMaker& maker = m_makers[place.parameter.index()];
        const bool complete = maker.layer == op.kernels.layer && maker.kernel >= op.kernels.first &&
                              maker.kernel < op.kernels.first + op.kernels.count;
        if (!complete) continue;
        const std::string& name = m_model.parameters[place.parameter.index()].name;
        if (!unit.gradients[p].filled) return refuse("finds no gradient of " + name);
        if (unit.added[p].data != nullptr)
            return refuse("comes before a contribution was added to the gradient of " + name);
        if (unit.gradients[p].inBucket) return refuse("copies the gradient of " + name + " twice");
        places.push_back(p);
        bytes += place.elements * core::sizeOf(dtype);
    }
    if (bytes != op.bytes.value)
        return refuse(fmt::format("copies {} bytes, the gradients have {}", op.bytes.value, bytes));
    SHARDSCOPE_TRY(checkWaits(m_running));
    for (const std::size_t p : places) {
        const ParameterPlace& place = unit.layout.places[p];
        GradientPlace& gradient = unit.gradients[p];
        const TensorView target = flatView(unit.bucket.memory, dtype, place.offset, place.elements);
        if (gradient.block != unit.bucket.block)
            SHARDSCOPE_TRY(m_device.copy(op.stream, {gradient.data, dtype, {place.elements}, {}}, target));
        SHARDSCOPE_TRY(m_device.divide(op.stream, target, op.factor));
        if (views) gradient = {unit.bucket.block, target.data, true, false};
        gradient.inBucket = !(views && alone);
    }
    unit.bucket.content = Content::Own;
    return {};
}

Result<void> Executor::allReduce(const core::Op& op, UnitMemory& unit) {
    if (m_graph.plan.policy == core::UnitPolicy::Fsdp) return allReduceShare(op, unit);
    if (unit.bucket.content != Content::Own)
        return refuse(unit.bucket.content == Content::Nothing ? "comes before its copy-in"
                                                              : "finds the bucket reduced already");
    for (std::size_t p = 0; p < unit.gradients.size(); ++p)
        if (!unit.gradients[p].inBucket)
            return refuse("comes before the gradient of " +
                          m_model.parameters[unit.layout.places[p].parameter.index()].name);
    Communicator* communicator = communicatorOf(op);
    if (communicator == nullptr) return refuse("has no group");
    const std::int64_t bytes = unit.layout.padded * core::sizeOf(m_graph.plan.precision.original);
    if (op.bytes.value != bytes) return refuse(fmt::format("moves {} bytes, the bucket has {}", op.bytes.value, bytes));
    SHARDSCOPE_TRY(checkWaits(m_running));
    const std::span bucket(unit.bucket.memory.data, static_cast<std::size_t>(bytes));
    SHARDSCOPE_TRY(communicate(op, *communicator, [=, label = labelFor(op, "all-reduce", bytes), average = op.average] {
        return communicator->allReduce(label, bucket, average);
    }));
    // Their own memory still has the gradients from before, unless they are views.
    if (m_graph.plan.ddp.gradientAsBucketView)
        for (GradientPlace& gradient : unit.gradients) gradient.inBucket = false;
    unit.bucket.content = Content::Whole;
    return {};
}

Result<void> Executor::bucketCopyOut(const core::Op& op, UnitMemory& unit) {
    // Alone, a rank's bucket is what it was filled with.
    const bool alone = m_graph.plan.mesh.dpReplicate == 1 && unit.bucket.content == Content::Own;
    if (unit.bucket.content != Content::Whole && !alone)
        return refuse(unit.bucket.content == Content::Used ? "finds the bucket used already"
                                                           : "comes before its all-reduce");
    const core::DType dtype = m_graph.plan.precision.original;
    SHARDSCOPE_TRY(checkWaits(m_running));
    for (std::size_t p = 0; p < unit.gradients.size(); ++p) {
        const ParameterPlace& place = unit.layout.places[p];
        GradientPlace& gradient = unit.gradients[p];
        if (!gradient.inBucket)
            return refuse("finds no gradient of " + m_model.parameters[place.parameter.index()].name);
        SHARDSCOPE_TRY(m_device.copy(op.stream, flatView(unit.bucket.memory, dtype, place.offset, place.elements),
                                     {gradient.data, dtype, {place.elements}, {}}));
        gradient.inBucket = false;
    }
    unit.bucket.content = Content::Used;
    return {};
}

}  // namespace shardscope::runtime
