#pragma once

// The activations of one rank: which memory a tensor of a layer's program lies in, whether it is there, and whether it
// was written. Blocks of the graph hold what outlives an op; what lives only inside one is made and freed with its
// kernels.

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/graph/recompute.h"
#include "core/graph/step_graph.h"
#include "core/graph/storage.h"
#include "runtime/device/device.h"

namespace shardscope::runtime {

/// A tensor's owner across layers, and where in it the tensor starts (elements).
struct LocatedTensor {
    core::StorageRef storage;
    std::int64_t offset = 0;
};

class ActivationMemory {
public:
    /// A storage that is in memory now.
    struct Piece {
        std::byte* data = nullptr;
        std::int64_t bytes = 0;
        bool filled = false;
        core::BlockId block;  ///< none: workspace of the running op
        Memory own;           ///< workspace only
    };

    ActivationMemory(const core::Model& model, const core::StepGraph& graph, const core::RankClass& rankClass,
                     Device& device);

    /// Errors unless at every border between layers of the class both sides see the activation in the same layout.
    [[nodiscard]] core::Result<void> checkBorders() const;

    /// `inBackward`: for a backward kernel or one that runs again, which use what a checkpointed layer makes again.
    [[nodiscard]] LocatedTensor locate(core::LayerId layer, core::TensorId tensor, bool inBackward) const;
    [[nodiscard]] const core::Tensor& tensorOf(const core::StorageRef& storage) const;
    /// "ln_1.out of encoder_layer_0"
    [[nodiscard]] std::string describe(const core::StorageRef& storage) const;
    [[nodiscard]] TensorView view(core::LayerId layer, core::TensorId tensor, const LocatedTensor& at,
                                  const Piece& piece) const;

    [[nodiscard]] Piece* find(const core::StorageRef& storage, std::uint16_t microBatch);

    /// Memory for the storages of a block. Errors: one of them is already there, or they are not the block's bytes.
    core::Result<void> allocate(const core::StepGraph& graph, core::BlockId block);
    core::Result<void> release(core::BlockId block);
    /// Memory inside an op.
    core::Result<Piece*> allocateWorkspace(const core::StorageRef& storage, std::uint16_t microBatch, StreamIndex pool);
    void releaseWorkspace(const core::StorageRef& storage, std::uint16_t microBatch);
    /// Frees what an op that failed left behind.
    void clear();

private:
    using Key = std::pair<core::StorageRef, std::uint16_t>;
    struct Held {
        Memory memory;
        std::vector<Key> keys;
    };

    const core::Model& m_model;
    core::RecomputeTable m_recompute;
    core::LayerId m_begin, m_end;
    Device& m_device;
    std::map<Key, Piece> m_pieces;
    std::map<core::BlockId, Held> m_blocks;
};

}  // namespace shardscope::runtime
