// Memory: what every block of the graph is for. The executor works out the bytes from what it will keep there, and
// refuses a block of another size.

#include <algorithm>
#include <cassert>

#include <fmt/format.h>

#include "runtime/executor/executor.h"

namespace shardscope::runtime {

using core::BlockId;
using core::MemoryCategory;
using core::OpKind;
using core::Result;

tl::unexpected<core::Error> Executor::refuseBlock(BlockId id, const std::string& why) const {
    const core::Block& block = m_graph.blocks[id.index()];
    std::string what(core::nameOf(block.category));
    if (block.unit.valid()) what += " of " + m_graph.units[block.unit.index()].name;
    return core::fail(core::ErrorCode::Input, fmt::format("{}: {}", what, why),
                      fmt::format("block {} of {}", id.index(), m_class.name));
}

std::optional<OpKind> Executor::makerOf(const core::Block& block) const {
    if (!block.firstUse.valid()) return std::nullopt;
    return m_graph.ops[block.firstUse.index()].kind;
}

// Memory of a unit inside an op: the cast of its shard before a gather, or a second contribution to its gradients.
bool Executor::isRepeated(const core::Block& block) const {
    return block.category == MemoryCategory::Workspace && block.unit.valid() && makerOf(block) == OpKind::Compute;
}

Held* Executor::heldFor(const core::Block& block, UnitMemory& unit, std::int64_t& bytes) {
    const core::Precision& precision = m_graph.plan.precision;
    const UnitLayout& layout = unit.layout;
    const std::int64_t original = core::sizeOf(precision.original), compute = core::sizeOf(precision.compute());
    const std::int64_t reduced = core::sizeOf(precision.reduction());
    const std::optional<OpKind> maker = makerOf(block);
    switch (block.category) {
        case MemoryCategory::ShardedParameters: bytes = original * layout.share(); return &unit.shard;
        case MemoryCategory::UnshardedParameters:
            if (maker == OpKind::KeepSlice || (block.found && maker == OpKind::GatherCopyIn)) {
                bytes = block.bytes.value;
                return &unit.slice;
            }
            // Without a unit policy the optimizer's parameters are whole; in another dtype, kernels read a copy.
            if (block.persistent && precision.compute() != precision.original) {
                bytes = original * layout.padded;
                return &unit.shard;
            }
            bytes = layout.bytes;
            return &unit.unsharded;
        case MemoryCategory::GatherBuffers: bytes = layout.bytes; return &unit.gather;
        case MemoryCategory::ReduceBuffers:
            if (block.persistent) {
                bytes = original * layout.padded;
                return &unit.bucket;
            }
            if (maker == OpKind::ReduceCopyIn) {
                bytes = reduced * layout.trainedPadded;
                return &unit.reduceInput;
            }
            bytes = reduced * layout.gradientShare();
            return &unit.reduceShare;
        case MemoryCategory::ShardedGradients: bytes = original * layout.gradientShare(); return &unit.shardedGradient;
        case MemoryCategory::UnshardedGradients:
            if (maker == OpKind::KeepGradients) {
                bytes = (layout.flat ? compute : reduced) * unit.unit->trainedElements;
                return &unit.accumulated;
            }
            bytes = original * layout.padded;
            return block.persistent ? &unit.bucket : nullptr;
        case MemoryCategory::OptimizerState:
        case MemoryCategory::Activations: break;
        case MemoryCategory::Workspace:
            if (maker == OpKind::Receive) {
                bytes = block.bytes.value;
                return &m_received;
            }
            if (maker == OpKind::CopyOut || maker == OpKind::ReduceCopyIn || maker == OpKind::KeepGradients) {
                bytes = block.bytes.value;
                return &unit.scratch;
            }
            if (maker == OpKind::CopyToDevice) {
                bytes = original * layout.share();
                return &unit.staged;
            }
            if (maker != OpKind::GatherCopyIn) return nullptr;
            bytes = layout.castBytes(precision.original) / layout.ranks;
            return &unit.cast;
    }
    return nullptr;
}

Result<void> Executor::allocate(BlockId id) {
    const core::Block& block = m_graph.blocks[id.index()];
    if (block.category == MemoryCategory::Workspace && !block.unit.valid()) {
        if (m_workspace.valid()) return refuseBlock(id, "the workspace of the op before is not released");
        m_workspace = id;
        return {};
    }
    if (block.category == MemoryCategory::OptimizerState) return allocateMoments(id);
    if (!block.unit.valid()) return m_activations.allocate(m_graph, id);
    UnitMemory& unit = m_units[block.unit.index()];
    if (block.category == MemoryCategory::UnshardedGradients && !block.persistent &&
        makerOf(block) != OpKind::KeepGradients)
        return allocateGradients(id, unit);
    if (isRepeated(block)) return allocateRepeated(id, unit);
    return allocateOfUnit(id, unit);
}

Result<void> Executor::allocateOfUnit(BlockId id, UnitMemory& unit) {
    const core::Block& block = m_graph.blocks[id.index()];
    std::int64_t bytes = 0;
    Held* held = heldFor(block, unit, bytes);
    if (held == nullptr) return refuseBlock(id, "the executor does not know what it is for");
    // What an earlier micro-batch has reduced waits for the all-reduce of the last one.
    if (held == &unit.reduceInput && m_graph.plan.gradientSync == core::GradientSync::AllReduceLast &&
        !unit.partial.allocated()) {
        unit.partial = unit.reduceShare;
        unit.reduceShare = {};
    }
    // The allocator keeps what other streams may still read.
    if (unit.layout.flat && (held == &unit.unsharded || held == &unit.cast) && held->allocated()) {
        unit.retired.push_back(*held);
        *held = {};
    }
    if (held->allocated()) return refuseBlock(id, "is allocated while the one before is still there");
    if (bytes != block.bytes.value)
        return refuseBlock(id, fmt::format("the block has {} bytes, {} are needed", block.bytes.value, bytes));
    SHARDSCOPE_ASSIGN(const Memory memory, m_device.allocate(block.category, bytes, block.pool));
    *held = {};
    held->block = id;
    held->memory = memory;
    return {};
}

std::int64_t Executor::momentsPerElement() const {
    switch (m_graph.plan.optimizer) {
        case core::OptimizerKind::None:
        case core::OptimizerKind::Sgd: return 0;
        case core::OptimizerKind::SgdMomentum: return 1;
        case core::OptimizerKind::Adam:
        case core::OptimizerKind::AdamW:
        case core::OptimizerKind::AdamW8bit: return 2;
    }
    return 0;
}

Result<void> Executor::allocateMoments(BlockId id) {
    const core::Block& block = m_graph.blocks[id.index()];
    const core::DType dtype = m_graph.plan.precision.original;
    std::vector<UnitMemory*> units;
    std::int64_t elements = 0;
    for (UnitMemory& unit : m_units) {
        if (unit.unit == nullptr || (block.unit.valid() && &unit != &m_units[block.unit.index()])) continue;
        if (unit.moments != nullptr) return refuseBlock(id, "is allocated twice");
        units.push_back(&unit);
        elements += momentsPerElement() * unit.layout.ownElements();
    }
    const std::int64_t bytes = elements * core::sizeOf(dtype);
    // Ranks own different amounts of optimizer state, of which the graph states the largest.
    if (bytes > block.bytes.value)
        return refuseBlock(id, fmt::format("the block has {} bytes, {} are needed", block.bytes.value, bytes));
    SHARDSCOPE_ASSIGN(const Memory memory, m_device.allocate(block.category, bytes, block.pool));
    SHARDSCOPE_TRY(m_device.fill(0, flatView(memory, dtype, 0, elements), 0));
    m_stateBlocks[id] = memory;
    std::byte* next = memory.data;
    for (UnitMemory* unit : units) {
        unit->momentsBlock = id;
        unit->moments = next;
        next += momentsPerElement() * unit->layout.ownElements() * core::sizeOf(dtype);
    }
    return {};
}

std::vector<std::size_t> Executor::gradientsMadeBy(core::OpId id, const UnitMemory& unit) const {
    std::vector<std::size_t> places;
    const core::Op& op = m_graph.ops[id.index()];
    if (!op.kernels.layer.valid()) return places;
    const core::Layer& layer = m_model.layers[op.kernels.layer.index()];
    const core::Program& program = m_model.programOf(layer);
    const auto& kernels = op.kernels.backward ? program.backward : program.forward;
    for (std::uint32_t k = op.kernels.first; k < op.kernels.first + op.kernels.count && k < kernels.size(); ++k)
        for (const core::TensorId output : kernels[k].outputs) {
            const core::Tensor& tensor = program.tensor(output);
            if (tensor.role != core::TensorRole::ParameterGradient) continue;
            const core::ParameterId parameter = layer.parameters[tensor.slot];
            if (!m_hasParameter[parameter.index()]) continue;
            const UnitPlace where = m_placeOf[parameter.index()];
            if (&m_units[where.unit] != &unit) continue;
            if (std::find(places.begin(), places.end(), where.place) == places.end()) places.push_back(where.place);
        }
    return places;
}

Result<void> Executor::allocateGradients(BlockId id, UnitMemory& unit) {
    const core::Block& block = m_graph.blocks[id.index()];
    std::vector<std::size_t> places;
    if (block.firstUse.valid()) places = gradientsMadeBy(block.firstUse, unit);
    std::erase_if(places, [&](std::size_t place) { return unit.gradients[place].data != nullptr; });
    const auto bytesOf = [&](const ParameterPlace& place) {
        return place.elements * core::sizeOf(gradientType(place));
    };
    // The wider types first, so that every gradient is aligned.
    std::ranges::stable_sort(places, std::ranges::greater{},
                             [&](std::size_t place) { return core::sizeOf(gradientType(unit.layout.places[place])); });
    std::int64_t bytes = 0;
    for (const std::size_t place : places) bytes += bytesOf(unit.layout.places[place]);
    if (bytes != block.bytes.value)
        return refuseBlock(
            id, fmt::format("the block has {} bytes, the gradients made there need {}", block.bytes.value, bytes));
    SHARDSCOPE_ASSIGN(const Memory memory, m_device.allocate(block.category, bytes, block.pool));
    m_gradientBlocks[id] = memory;
    std::int64_t offset = 0;
    for (const std::size_t place : places) {
        unit.gradients[place] = {id, memory.data + offset, false};
        offset += bytesOf(unit.layout.places[place]);
    }
    return {};
}

Result<void> Executor::allocateRepeated(BlockId id, UnitMemory& unit) {
    const core::Block& block = m_graph.blocks[id.index()];
    if (unit.repeated.allocated()) return refuseBlock(id, "is allocated while the one before is still there");
    std::vector<std::size_t> places = gradientsMadeBy(block.firstUse, unit);
    // In the dtype in which gradients are kept, the first ones are made in their own place.
    std::erase_if(places, [&](std::size_t p) {
        const ParameterPlace& place = unit.layout.places[p];
        return madeGradientType(place) == gradientType(place) && !unit.gradients[p].filled;
    });
    const auto sizeOfMade = [&](std::size_t place) {
        return core::sizeOf(madeGradientType(unit.layout.places[place]));
    };
    std::ranges::stable_sort(places, std::ranges::greater{}, sizeOfMade);
    std::int64_t bytes = 0;
    for (const std::size_t place : places) bytes += unit.layout.places[place].elements * sizeOfMade(place);
    if (bytes != block.bytes.value)
        return refuseBlock(id, fmt::format("the block has {} bytes, the gradients made again there need {}",
                                           block.bytes.value, bytes));
    SHARDSCOPE_ASSIGN(unit.repeated.memory, m_device.allocate(block.category, bytes, block.pool));
    unit.repeated.block = id;
    std::byte* next = unit.repeated.memory.data;
    for (const std::size_t place : places) {
        unit.added[place] = {id, next, false};
        next += unit.layout.places[place].elements * sizeOfMade(place);
    }
    return {};
}

core::DType Executor::gradientType(const ParameterPlace& place) const {
    const bool original = m_graph.plan.policy == core::UnitPolicy::Ddp || m_model.workload.autocast;
    return original ? m_graph.plan.precision.original : madeGradientType(place);
}

core::DType Executor::madeGradientType(const ParameterPlace& place) const {
    const core::Precision& precision = m_graph.plan.precision;
    // Nothing is reduced, or what is reduced was cast before.
    if (m_graph.plan.policy != core::UnitPolicy::Fsdp) return place.type;
    if (m_graph.plan.fsdp.flat) return precision.compute();
    // A narrower reduce dtype is what autograd already produces (framework semantics 1.10).
    return core::sizeOf(precision.reduction()) < core::sizeOf(place.type) ? precision.reduction() : place.type;
}

Result<void> Executor::release(BlockId id) {
    const core::Block& block = m_graph.blocks[id.index()];
    if (block.category == MemoryCategory::Workspace && !block.unit.valid()) {
        if (m_workspace != id) return refuseBlock(id, "is released but not allocated");
        m_workspace = {};
        return {};
    }
    if (block.category == MemoryCategory::OptimizerState) {
        const auto found = m_stateBlocks.find(id);
        if (found == m_stateBlocks.end()) return refuseBlock(id, "is released but not allocated");
        for (UnitMemory& unit : m_units)
            if (unit.momentsBlock == id) unit.moments = nullptr;
        m_device.release(found->second);
        m_stateBlocks.erase(found);
        return {};
    }
    if (!block.unit.valid()) return m_activations.release(id);
    UnitMemory& unit = m_units[block.unit.index()];
    if (block.category == MemoryCategory::UnshardedGradients && unit.accumulated.block != id) {
        const auto found = m_gradientBlocks.find(id);
        if (found == m_gradientBlocks.end()) return refuseBlock(id, "is released but not allocated");
        for (GradientPlace& gradient : unit.gradients)
            if (gradient.block == id) gradient = {};
        m_device.release(found->second);
        m_gradientBlocks.erase(found);
        return {};
    }
    std::int64_t bytes = 0;
    if (const auto retired = std::ranges::find(unit.retired, id, &Held::block); retired != unit.retired.end()) {
        m_device.release(retired->memory);
        unit.retired.erase(retired);
        return {};
    }
    Held* held = isRepeated(block)          ? &unit.repeated
                 : unit.partial.block == id ? &unit.partial
                                            : heldFor(block, unit, bytes);
    if (held == nullptr || held->block != id || !held->allocated())
        return refuseBlock(id, "is released but not allocated");
    // Contributions that nobody added would be lost without a trace.
    if (held == &m_received && held->content != Held::Content::Used)
        return refuseBlock(id, "is released before the received gradients were added");
    if (held == &unit.repeated)
        for (const GradientPlace& added : unit.added)
            if (added.data != nullptr) return refuseBlock(id, "is released before the contributions were added");
    m_device.release(held->memory);
    *held = {};
    return {};
}

}  // namespace shardscope::runtime
