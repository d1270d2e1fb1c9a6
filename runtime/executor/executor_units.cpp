// What surrounds the compute of a unit: gather, reduce, update (framework semantics 1.4 to 1.10).

#include <algorithm>
#include <cassert>

#include <fmt/format.h>

#include "runtime/executor/executor.h"

namespace shardscope::runtime {

using core::Result;
using Content = Held::Content;

Result<void> Executor::gatherCopyIn(const core::Op& op, UnitMemory& unit) {
    const core::Precision& precision = m_graph.plan.precision;
    if (unit.layout.flat) return castFlat(op, unit);
    if (!unit.gather.allocated()) return refuse("has no gather buffer");
    if (unit.gather.content != Content::Nothing) return refuse("finds the gather buffer in use");
    Held& shard = m_graph.plan.fsdp.cpuOffload ? unit.staged : unit.shard;
    // After forward an int reshard has left the own slice for the group that gathers in backward.
    const bool fromSlice = unit.slice.allocated();
    const std::int64_t parts = fromSlice ? unit.slice.parts : unit.layout.ranks;
    if (fromSlice && unit.slice.content != Content::Whole) return refuse("finds no kept slice");
    if (!fromSlice && shard.content != Content::Whole) return refuse("finds no parameters in the shard");
    SHARDSCOPE_TRY(checkWaits(m_running));
    const std::int64_t position = fromSlice ? m_ranks.shard() % parts : unit.layout.rank;
    std::int64_t castSoFar = 0;
    for (const ParameterPlace& place : unit.layout.places) {
        const TensorView slot = cutPart(unit.gather.memory, unit.layout, place, position, parts);
        if (fromSlice) {
            SHARDSCOPE_TRY(m_device.copy(op.stream, cutPart(unit.slice.memory, unit.layout, place, 0, parts), slot));
            continue;
        }
        const std::int64_t piece = place.padded / parts;
        TensorView source = flatView(shard.memory, precision.original, place.ownAt, piece);
        if (unit.cast.allocated() && place.type != precision.original) {
            const TensorView cast = flatView(unit.cast.memory, place.type, castSoFar, piece);
            castSoFar += piece;
            SHARDSCOPE_TRY(m_device.copy(op.stream, source, cast));
            source = cast;
        }
        SHARDSCOPE_TRY(m_device.copy(op.stream, source, slot));
    }
    if (unit.cast.allocated()) unit.cast.content = Content::Whole;
    unit.gather.version = fromSlice ? unit.slice.version : unit.version;
    unit.gather.parts = parts;
    unit.gather.content = Content::Own;
    return {};
}

Result<void> Executor::allGather(const core::Op& op, UnitMemory& unit) {
    if (unit.layout.flat) return allGatherFlat(op, unit);
    if (!unit.gather.allocated()) return refuse("has no gather buffer");
    if (unit.gather.content != Content::Own)
        return refuse(unit.gather.content == Content::Nothing ? "comes before its copy-in"
                                                              : "finds the buffer gathered already");
    Communicator* communicator = communicatorOf(op);
    if (communicator == nullptr) return refuse("has no group");
    if (communicator->size() != unit.gather.parts)
        return refuse(
            fmt::format("runs over {} ranks, the buffer has {} parts", communicator->size(), unit.gather.parts));
    const std::int64_t bytes = unit.layout.bytes;
    if (op.bytes.value != bytes) return refuse(fmt::format("moves {} bytes, the buffer has {}", op.bytes.value, bytes));
    SHARDSCOPE_TRY(checkWaits(m_running));
    const std::span buffer(unit.gather.memory.data, static_cast<std::size_t>(bytes));
    SHARDSCOPE_TRY(communicate(op, *communicator, [=, label = labelFor(op, "all-gather", bytes)] {
        return communicator->allGather(label, buffer);
    }));
    unit.gather.content = Content::Whole;
    return {};
}

Result<void> Executor::copyOut(const core::Op& op, UnitMemory& unit) {
    const core::Precision& precision = m_graph.plan.precision;
    if (!unit.unsharded.allocated()) return refuse("has no memory for the whole parameters");
    if (unit.unsharded.content == Content::Whole && unit.unsharded.version == unit.version)
        return refuse("finds the parameters there already");
    if (unit.layout.ranks == 1) {
        const Held& shard = m_graph.plan.fsdp.cpuOffload ? unit.staged : unit.shard;
        if (shard.content != Content::Whole) return refuse("finds no parameters in the shard");
        SHARDSCOPE_TRY(checkWaits(m_running));
        for (const ParameterPlace& place : unit.layout.places)
            if (!place.inMaster)
                SHARDSCOPE_TRY(m_device.copy(op.stream,
                                             flatView(shard.memory, precision.original, place.offset, place.padded),
                                             wholePart(unit.unsharded.memory, place, 0, 1)));
        unit.unsharded.version = unit.version;
        unit.unsharded.content = Content::Whole;
        return {};
    }
    if (!unit.gather.allocated()) return refuse("has no gather buffer");
    if (unit.gather.content != Content::Whole) return refuse("comes before its all-gather");
    SHARDSCOPE_TRY(checkWaits(m_running));
    const std::int64_t parts = unit.gather.parts;
    for (const ParameterPlace& place : unit.layout.places)
        for (std::int64_t part = 0; part < parts; ++part) {
            const TensorView whole = wholePart(unit.unsharded.memory, place, 0, 1);
            SHARDSCOPE_TRY(m_device.copy(op.stream, cutPart(unit.gather.memory, unit.layout, place, part, parts),
                                         place.dim1 ? partOnDim1(whole.data, whole.dtype, place, part, parts)
                                                    : wholePart(unit.unsharded.memory, place, part, parts)));
        }
    unit.unsharded.version = unit.gather.version;
    unit.unsharded.content = Content::Whole;
    return {};
}

Result<void> Executor::keepSlice(const core::Op& op, UnitMemory& unit) {
    if (!unit.slice.allocated()) return refuse("has no memory for the slice");
    if (unit.unsharded.content != Content::Whole) return refuse("finds no whole parameters");
    const std::int64_t share = unit.slice.memory.bytes;
    if (share <= 0 || unit.layout.bytes % share != 0) return refuse("keeps a slice that does not divide the unit");
    const std::int64_t parts = unit.layout.bytes / share, position = m_ranks.shard() % parts;
    SHARDSCOPE_TRY(checkWaits(m_running));
    for (const ParameterPlace& place : unit.layout.places)
        SHARDSCOPE_TRY(m_device.copy(op.stream, wholePart(unit.unsharded.memory, place, position, parts),
                                     cutPart(unit.slice.memory, unit.layout, place, 0, parts)));
    unit.slice.parts = parts;
    unit.slice.version = unit.unsharded.version;
    unit.slice.content = Content::Whole;
    return {};
}

Result<void> Executor::reduceCopyIn(const core::Op& op, UnitMemory& unit) {
    const core::DType reduced = m_graph.plan.precision.reduction();
    if (!unit.reduceInput.allocated()) return refuse("has no buffer");
    if (unit.reduceInput.content != Content::Nothing) return refuse("finds its buffer in use");
    const bool accumulated = unit.accumulated.allocated();
    if (accumulated && unit.accumulated.content != Content::Whole) return refuse("finds no accumulated gradients");
    for (std::size_t p = 0; p < unit.layout.places.size(); ++p)
        if (!unit.layout.places[p].trained)
            continue;
        else if (unit.added[p].data != nullptr)
            return refuse("comes before a contribution was added");
        else if (unit.gradients[p].filled == accumulated)
            return refuse((accumulated ? "finds a gradient that was not accumulated: " : "finds no gradient of ") +
                          m_model.parameters[unit.layout.places[p].parameter.index()].name);
    SHARDSCOPE_TRY(checkWaits(m_running));
    if (unit.layout.flat) return widenFlat(op, unit);
    const std::int64_t ranks = unit.layout.ranks, share = unit.layout.gradientShare();
    std::int64_t before = 0;  // elements of the places before
    for (std::size_t p = 0; p < unit.layout.places.size(); ++p) {
        const ParameterPlace& place = unit.layout.places[p];
        if (!place.trained) continue;
        const std::int64_t piece = place.padded / ranks;
        const core::DType type = accumulated ? reduced : gradientType(place);
        for (std::int64_t r = 0; r < ranks; ++r) {
            const std::int64_t begin = std::min(r * piece, place.elements),
                               end = std::min(begin + piece, place.elements);
            const std::int64_t target = r * share + place.gradientOffset / ranks;
            std::byte* data =
                accumulated ? unit.accumulated.memory.data + before * core::sizeOf(type) : unit.gradients[p].data;
            const TensorView from = place.dim1 ? partOnDim1(data, type, place, r, ranks)
                                               : TensorView{data + begin * core::sizeOf(type), type, {end - begin}, {}};
            SHARDSCOPE_TRY(
                m_device.copy(op.stream, from, flatView(unit.reduceInput.memory, reduced, target, end - begin)));
            SHARDSCOPE_TRY(m_device.fill(
                op.stream, flatView(unit.reduceInput.memory, reduced, target + end - begin, piece - (end - begin)), 0));
        }
        unit.gradients[p].filled = false;
        before += place.elements;
    }
    if (accumulated) unit.accumulated.content = Content::Used;
    unit.replicasSummed = false;
    unit.reduceInput.content = Content::Whole;
    return {};
}

Result<void> Executor::keepGradients(const core::Op& op, UnitMemory& unit) {
    if (!unit.accumulated.allocated()) return refuse("has no memory for the accumulated gradients");
    const bool there = unit.accumulated.content == Content::Whole;
    if (op.accumulate != there)
        return refuse(there ? "would overwrite accumulated gradients" : "adds to gradients that are not there");
    for (std::size_t p = 0; p < unit.layout.places.size(); ++p) {
        if (!unit.layout.places[p].trained) continue;
        const std::string& name = m_model.parameters[unit.layout.places[p].parameter.index()].name;
        if (!unit.gradients[p].filled) return refuse("finds no gradient of " + name);
        if (unit.added[p].data != nullptr) return refuse("comes before a contribution was added to " + name);
    }
    SHARDSCOPE_TRY(checkWaits(m_running));
    const core::DType reduced =
        unit.layout.flat ? m_graph.plan.precision.compute() : m_graph.plan.precision.reduction();
    if (unit.layout.flat) unit.replicasSummed = false;
    std::int64_t before = 0;
    for (std::size_t p = 0; p < unit.layout.places.size(); ++p) {
        const std::int64_t elements = unit.layout.places[p].elements;
        if (!unit.layout.places[p].trained) continue;
        const TensorView from{unit.gradients[p].data, gradientType(unit.layout.places[p]), {elements}, {}};
        const TensorView to = flatView(unit.accumulated.memory, reduced, before, elements);
        SHARDSCOPE_TRY(there ? m_device.add(op.stream, from, to) : m_device.copy(op.stream, from, to));
        unit.gradients[p].filled = false;
        before += elements;
    }
    unit.accumulated.content = Content::Whole;
    return {};
}

Result<void> Executor::preDivide(const core::Op& op, UnitMemory& unit) {
    const Held& input = packedGradients(unit);
    if (input.content != Content::Whole) return refuse("finds no packed gradients");
    SHARDSCOPE_TRY(checkWaits(m_running));
    return m_device.divide(
        op.stream, flatView(input.memory, m_graph.plan.precision.reduction(), 0, unit.layout.trainedPadded), op.factor);
}

Result<void> Executor::reduceScatter(const core::Op& op, UnitMemory& unit) {
    const core::DType dtype = m_graph.plan.precision.reduction();
    Held& input = packedGradients(unit);
    if (input.content != Content::Whole)
        return refuse(input.content == Content::Used ? "finds the gradients reduced already"
                                                     : "comes before its copy-in");
    Held& target = unit.reduceShare.allocated() ? unit.reduceShare : unit.shardedGradient;
    if (!target.allocated()) return refuse("has no memory for the own share");
    if (target.content == Content::Whole || target.content == Content::Own)
        return refuse("would overwrite a share that was not used");
    Communicator* communicator = communicatorOf(op);
    if (communicator == nullptr) return refuse("has no group");
    if (communicator->size() != unit.layout.ranks)
        return refuse(
            fmt::format("runs over {} ranks, the unit has {} shards", communicator->size(), unit.layout.ranks));
    const std::int64_t bytes = unit.layout.trainedPadded * core::sizeOf(dtype);
    if (op.bytes.value != bytes) return refuse(fmt::format("moves {} bytes, its input has {}", op.bytes.value, bytes));
    SHARDSCOPE_TRY(checkWaits(m_running));
    CallLabel label = labelFor(op, "reduce-scatter", bytes);
    label.dtype = dtype;
    const std::span<const std::byte> whole(input.memory.data, static_cast<std::size_t>(bytes));
    const std::span share(target.memory.data, static_cast<std::size_t>(bytes / unit.layout.ranks));
    SHARDSCOPE_TRY(communicate(op, *communicator, [=, average = op.average] {
        return communicator->reduceScatter(label, whole, share, average);
    }));
    if (op.factor != 1)
        SHARDSCOPE_TRY(
            m_device.divide(op.stream, flatView(target.memory, dtype, 0, unit.layout.gradientShare()), op.factor));
    input.content = Content::Used;
    // Written into the gradient's own memory, it becomes the gradient with the copy-out.
    target.content = &target == &unit.shardedGradient ? Content::Own : Content::Whole;
    return {};
}

Held& Executor::reducedShare(UnitMemory& unit) {
    return unit.layout.ranks == 1         ? unit.reduceInput
           : unit.reduceShare.allocated() ? unit.reduceShare
                                          : unit.shardedGradient;
}

// The last micro-batch takes up what the ones before have left; those add to it.
Result<void> Executor::addPartial(const core::Op& op, UnitMemory& unit) {
    Held& share = reducedShare(unit);
    if (share.content != Content::Whole && share.content != Content::Own)
        return refuse("comes before its reduce-scatter");
    if (unit.partial.content != Content::Whole) return refuse("finds no share of an earlier micro-batch");
    SHARDSCOPE_TRY(checkWaits(m_running));
    const core::DType dtype = m_graph.plan.precision.reduction();
    const TensorView own = flatView(share.memory, dtype, 0, unit.layout.gradientShare());
    const TensorView kept = flatView(unit.partial.memory, dtype, 0, unit.layout.gradientShare());
    const bool last = op.microBatch + 1 == m_graph.plan.microBatches;
    SHARDSCOPE_TRY(last ? m_device.add(op.stream, kept, own) : m_device.add(op.stream, own, kept));
    (last ? unit.partial : share).content = Content::Used;
    return {};
}

Result<void> Executor::allReduceShare(const core::Op& op, UnitMemory& unit) {
    const core::DType dtype = m_graph.plan.precision.reduction();
    Held& share = reducedShare(unit);
    if (share.content != Content::Whole && share.content != Content::Own)
        return refuse("comes before its reduce-scatter");
    if (unit.replicasSummed) return refuse("finds the share summed over the replicas already");
    Communicator* communicator = communicatorOf(op);
    if (communicator == nullptr) return refuse("has no group");
    const std::int64_t bytes = unit.layout.gradientShare() * core::sizeOf(dtype);
    if (op.bytes.value != bytes) return refuse(fmt::format("moves {} bytes, the share has {}", op.bytes.value, bytes));
    SHARDSCOPE_TRY(checkWaits(m_running));
    CallLabel label = labelFor(op, "all-reduce", bytes);
    label.dtype = dtype;
    const std::span own(share.memory.data, static_cast<std::size_t>(bytes));
    SHARDSCOPE_TRY(communicate(op, *communicator,
                               [=, average = op.average] { return communicator->allReduce(label, own, average); }));
    unit.replicasSummed = true;
    return {};
}

Result<void> Executor::postDivide(const core::Op& op, UnitMemory& unit) {
    Held& share = reducedShare(unit);
    if (share.content != Content::Whole && share.content != Content::Own)
        return refuse("comes before its reduce-scatter");
    SHARDSCOPE_TRY(checkWaits(m_running));
    return m_device.divide(op.stream,
                           flatView(share.memory, m_graph.plan.precision.reduction(), 0, unit.layout.gradientShare()),
                           op.factor);
}

Result<void> Executor::reduceCopyOut(const core::Op& op, UnitMemory& unit) {
    const core::Precision& precision = m_graph.plan.precision;
    Held& gradient = unit.shardedGradient;
    if (!gradient.allocated()) return refuse("has no memory for the sharded gradient");
    if ((m_graph.plan.mesh.dpReplicate > 1 || m_graph.plan.fsdp.hybridMesh) && !unit.replicasSummed)
        return refuse("comes before the sum over the replicas");
    Held& source = unit.layout.ranks == 1 ? unit.reduceInput : unit.reduceShare;
    if (!source.allocated()) {
        // The collective wrote into the gradient itself.
        if (gradient.content != Content::Own)
            return refuse(gradient.content == Content::Whole ? "finds the gradient set already"
                                                             : "comes before its reduce-scatter");
        gradient.content = Content::Whole;
        return checkWaits(m_running);
    }
    if (source.content != Content::Whole)
        return refuse(source.content == Content::Used ? "finds the share used already"
                                                      : "comes before its reduce-scatter");
    const bool there = gradient.content == Content::Whole;
    if (op.accumulate != there)
        return refuse(there ? "would overwrite a gradient that is there" : "adds to a gradient that is not there");
    SHARDSCOPE_TRY(checkWaits(m_running));
    const TensorView from = flatView(source.memory, precision.reduction(), 0, unit.layout.gradientShare());
    const TensorView to = flatView(gradient.memory, precision.original, 0, unit.layout.gradientShare());
    SHARDSCOPE_TRY(op.accumulate ? m_device.add(op.stream, from, to) : m_device.copy(op.stream, from, to));
    source.content = Content::Used;
    gradient.content = Content::Whole;
    return {};
}

Result<TensorView> Executor::gradientForUpdate(UnitMemory& unit, std::size_t index) const {
    const ParameterPlace& place = unit.layout.places[index];
    const std::string& name = m_model.parameters[place.parameter.index()].name;
    const core::DType original = m_graph.plan.precision.original;
    if (m_graph.plan.policy == core::UnitPolicy::Fsdp) {
        const Held& reduced = m_graph.plan.fsdp.cpuOffload ? unit.hostGradient : unit.shardedGradient;
        if (reduced.content != Content::Whole) return refuse("finds no reduced gradient of " + name);
        return flatView(reduced.memory, original, place.ownGradientAt, place.own);
    }
    if (!unit.gradients[index].filled) return refuse("finds no gradient of " + name);
    if (unit.gradients[index].inBucket) return refuse("comes before the reduction of the gradient of " + name);
    if (unit.added[index].data != nullptr)
        return refuse("comes before a contribution was added to the gradient of " + name);
    return TensorView{unit.gradients[index].data, gradientType(place), {place.own}, {}};
}

Result<void> Executor::optimizerStep(const core::Op& op) {
    const std::int64_t moments = momentsPerElement();
    const auto updates = [](const UnitMemory& unit, std::size_t p) {
        return unit.unit != nullptr && unit.layout.places[p].trained;
    };
    for (UnitMemory& unit : m_units) {
        if (unit.unit == nullptr) continue;
        if (unit.master().content != Content::Whole) return refuse("finds no parameters of " + unit.unit->name);
        if (moments > 0 && unit.layout.ownElements() > 0 && unit.moments == nullptr)
            return refuse("finds no optimizer state of " + unit.unit->name);
        for (std::size_t p = 0; p < unit.layout.places.size(); ++p)
            if (updates(unit, p)) SHARDSCOPE_TRY(gradientForUpdate(unit, p));
    }
    if (m_received.allocated()) return refuse("comes before received gradients were added");
    SHARDSCOPE_TRY(checkWaits(m_running));
    ++m_optimizerSteps;
    const core::DType original = m_graph.plan.precision.original;
    for (UnitMemory& unit : m_units) {
        if (unit.unit == nullptr) continue;
        std::int64_t first = 0;
        const std::int64_t all = unit.layout.ownElements();
        for (std::size_t p = 0; p < unit.layout.places.size(); ++p) {
            const ParameterPlace& place = unit.layout.places[p];
            if (!updates(unit, p)) continue;
            OptimizerCall call;
            call.kind = m_graph.plan.optimizer;
            call.learningRate = m_settings.learningRate;
            call.beta1 = m_settings.beta1;
            call.beta2 = m_settings.beta2;
            call.epsilon = m_settings.epsilon;
            call.weightDecay = m_settings.weightDecay;
            call.momentum = m_settings.momentum;
            call.step = m_optimizerSteps;
            call.parameter = flatView(unit.master().memory, original, place.ownAt, place.own);
            SHARDSCOPE_ASSIGN(call.gradient, gradientForUpdate(unit, p));
            const std::int64_t size = core::sizeOf(original);
            if (moments > 0) call.firstMoment = {unit.moments + first * size, original, {place.own}, {}};
            if (moments > 1) call.secondMoment = {unit.moments + (all + first) * size, original, {place.own}, {}};
            SHARDSCOPE_TRY(m_device.update(op.stream, call));
            first += place.own;
        }
        ++unit.version;
        unit.master().version = unit.version;
    }
    return {};
}

}  // namespace shardscope::runtime
