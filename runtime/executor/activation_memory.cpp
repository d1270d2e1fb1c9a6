#include "runtime/executor/activation_memory.h"

#include <cassert>

#include <fmt/format.h>

#include "core/model/tensor_layout.h"

namespace shardscope::runtime {

using core::LayerId;
using core::Result;
using core::StorageRef;
using core::TensorId;
using core::TensorRole;

ActivationMemory::ActivationMemory(const core::Model& model, const core::StepGraph& graph,
                                   const core::RankClass& rankClass, Device& device)
    : m_model(model),
      m_recompute(model, graph.plan),
      m_begin(rankClass.layerBegin),
      m_end(rankClass.layerEnd),
      m_device(device) {}

Result<void> ActivationMemory::checkBorders() const {
    const auto check = [&](std::size_t from, TensorRole written, std::size_t to, TensorRole read) -> Result<void> {
        const core::Program& source = m_model.programOf(m_model.layers[from]);
        const core::Program& target = m_model.programOf(m_model.layers[to]);
        const TensorId a = core::findRole(source, written), b = core::findRole(target, read);
        if (!a.valid() || !b.valid()) return {};
        const core::Tensor &out = source.tensor(a), &in = target.tensor(b);
        if (out.shape == in.shape && out.dtype == in.dtype && core::stridesOf(out) == core::stridesOf(in)) return {};
        return core::fail(core::ErrorCode::Unsupported,
                          fmt::format("{} {} of {} is read as {} {} by {}, in another layout", core::nameOf(out.dtype),
                                      core::toString(out.shape), m_model.layers[from].name, core::nameOf(in.dtype),
                                      core::toString(in.shape), m_model.layers[to].name),
                          "model " + m_model.name);
    };
    for (std::size_t layer = m_begin.index(); layer + 1 < m_end.index(); ++layer) {
        SHARDSCOPE_TRY(check(layer, TensorRole::Output, layer + 1, TensorRole::Input));
        SHARDSCOPE_TRY(check(layer + 1, TensorRole::InputGradient, layer, TensorRole::OutputGradient));
    }
    return {};
}

LocatedTensor ActivationMemory::locate(LayerId layer, TensorId tensor, bool inBackward) const {
    LocatedTensor at{core::resolveStorage(m_model, m_begin, m_end, layer, tensor), 0};
    const core::Recompute& recompute = m_recompute.of(layer);
    const bool again =
        inBackward && at.storage.layer == layer && !recompute.empty() && recompute.madeAgain[at.storage.tensor.index()];
    // The same way, adding up the offsets of the views on it.
    while (StorageRef{layer, tensor} != at.storage) {
        const core::Tensor& seen = m_model.programOf(m_model.layers[layer.index()]).tensor(tensor);
        if (seen.storage.valid() && seen.storage != tensor) {
            at.offset += seen.offset;
            tensor = seen.storage;
            continue;
        }
        const bool forward = seen.role == TensorRole::Input;
        assert(forward || seen.role == TensorRole::OutputGradient);
        layer = LayerId(forward ? layer.index() - 1 : layer.index() + 1);
        tensor = core::findRole(m_model.programOf(m_model.layers[layer.index()]),
                                forward ? TensorRole::Output : TensorRole::InputGradient);
    }
    at.storage.again = again;
    return at;
}

const core::Tensor& ActivationMemory::tensorOf(const StorageRef& storage) const {
    return m_model.programOf(m_model.layers[storage.layer.index()]).tensor(storage.tensor);
}

std::string ActivationMemory::describe(const StorageRef& storage) const {
    return tensorOf(storage).name + " of " + m_model.layers[storage.layer.index()].name;
}

TensorView ActivationMemory::view(LayerId layer, TensorId tensor, const LocatedTensor& at, const Piece& piece) const {
    const core::Tensor& seen = m_model.programOf(m_model.layers[layer.index()]).tensor(tensor);
    return {piece.data + at.offset * core::sizeOf(seen.dtype), seen.dtype, seen.shape, seen.strides};
}

ActivationMemory::Piece* ActivationMemory::find(const StorageRef& storage, std::uint16_t microBatch) {
    const auto found = m_pieces.find({storage, microBatch});
    return found == m_pieces.end() ? nullptr : &found->second;
}

Result<void> ActivationMemory::allocate(const core::StepGraph& graph, core::BlockId id) {
    const core::Block& block = graph.blocks[id.index()];
    std::int64_t bytes = 0;
    for (std::uint32_t i = 0; i < block.storageCount; ++i) {
        const StorageRef& storage = graph.blockStorages[block.storageBegin + i];
        if (m_pieces.contains({storage, block.microBatch}))
            return core::fail(core::ErrorCode::Input, fmt::format("{} is allocated twice", describe(storage)));
        bytes += tensorOf(storage).bytes().value;
    }
    if (bytes != block.bytes.value)
        return core::fail(
            core::ErrorCode::Input,
            fmt::format("a block of activations has {} bytes, what lies in it needs {}", block.bytes.value, bytes));
    SHARDSCOPE_ASSIGN(const Memory memory, m_device.allocate(block.category, bytes, block.pool));
    Held held{memory, {}};
    std::int64_t offset = 0;
    for (std::uint32_t i = 0; i < block.storageCount; ++i) {
        const StorageRef& storage = graph.blockStorages[block.storageBegin + i];
        const std::int64_t size = tensorOf(storage).bytes().value;
        m_pieces[{storage, block.microBatch}] = {memory.data + offset, size, false, id, {}};
        held.keys.emplace_back(storage, block.microBatch);
        offset += size;
    }
    m_blocks[id] = std::move(held);
    return {};
}

Result<void> ActivationMemory::release(core::BlockId id) {
    const auto found = m_blocks.find(id);
    if (found == m_blocks.end())
        return core::fail(core::ErrorCode::Input, "a block of activations is released that is not allocated");
    for (const Key& key : found->second.keys) m_pieces.erase(key);
    m_device.release(found->second.memory);
    m_blocks.erase(found);
    return {};
}

Result<ActivationMemory::Piece*> ActivationMemory::allocateWorkspace(const StorageRef& storage,
                                                                     std::uint16_t microBatch, StreamIndex pool) {
    const std::int64_t bytes = tensorOf(storage).bytes().value;
    SHARDSCOPE_ASSIGN(const Memory memory, m_device.allocate(core::MemoryCategory::Workspace, bytes, pool));
    Piece& piece = m_pieces[{storage, microBatch}];
    assert(piece.data == nullptr);
    piece = {memory.data, bytes, false, {}, memory};
    return &piece;
}

void ActivationMemory::releaseWorkspace(const StorageRef& storage, std::uint16_t microBatch) {
    const auto found = m_pieces.find({storage, microBatch});
    if (found == m_pieces.end() || !found->second.own.valid()) return;
    m_device.release(found->second.own);
    m_pieces.erase(found);
}

void ActivationMemory::clear() {
    for (auto& [key, piece] : m_pieces)
        if (piece.own.valid()) m_device.release(piece.own);
    for (auto& [id, held] : m_blocks) m_device.release(held.memory);
    m_pieces.clear();
    m_blocks.clear();
}

}  // namespace shardscope::runtime
