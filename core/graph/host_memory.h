#pragma once

// Memory in host order: what an allocator counts as the host issues actions, one after another. It is the same in every
// run, so the simulator, the runtime's counters and PyTorch's recordings are compared to the byte on it.

#include <array>
#include <cstdint>
#include <span>

#include "core/graph/step_graph.h"

namespace shardscope::core {

/// Bytes by MemoryCategory.
struct CategoryBytes {
    std::array<std::int64_t, kMemoryCategories> bytes{};

    [[nodiscard]] std::int64_t& operator[](MemoryCategory category) {
        return bytes[static_cast<std::size_t>(category)];
    }
    [[nodiscard]] std::int64_t operator[](MemoryCategory category) const {
        return bytes[static_cast<std::size_t>(category)];
    }
    [[nodiscard]] Bytes total() const {
        std::int64_t sum = 0;
        for (const std::int64_t b : bytes) sum += b;
        return {sum};
    }
    friend bool operator==(const CategoryBytes&, const CategoryBytes&) = default;
};

/// The blocks of one class, which lie together: classes are built one after another.
struct ClassBlocks {
    std::size_t first = 0;  ///< place of the first one in StepGraph::blocks
    std::span<const Block> blocks;
};
/// O(log blocks).
[[nodiscard]] ClassBlocks blocksOf(const StepGraph& graph, ClassId rankClass);

/// Walks the host actions of a class and keeps the live bytes by category. Starts with the persistent blocks.
/// `optimizerStateBytes` replaces the size of the class's OptimizerState blocks, the only ones that differ between
/// ranks of a class; negative keeps the graph's (the largest).
class HostMemoryCursor {
public:
    HostMemoryCursor(const StepGraph& graph, const RankClass& rankClass, std::int64_t optimizerStateBytes = -1);

    /// Accounts for the next action and returns it; null at the end.
    const HostAction* next();
    [[nodiscard]] const CategoryBytes& live() const { return m_live; }
    /// Actions done so far, counted from the class's first.
    [[nodiscard]] std::uint32_t position() const { return m_position; }
    /// Bytes that `block` counts for here.
    [[nodiscard]] std::int64_t bytesOf(const Block& block) const;

private:
    const StepGraph& m_graph;
    const RankClass& m_class;
    std::int64_t m_optimizerStateBytes;
    std::uint32_t m_position = 0;
    CategoryBytes m_live;
};

/// The largest total of live bytes during the step: what PyTorch's max_memory_allocated would report. Clocks do not
/// move it, so ranks of a class have it in common (but for OptimizerState, of which the largest counts).
[[nodiscard]] Bytes peakAllocated(const StepGraph& graph, const RankClass& rankClass);
/// The same of some categories only, whatever the others do meanwhile.
[[nodiscard]] Bytes peakAllocated(const StepGraph& graph, const RankClass& rankClass,
                                  std::span<const MemoryCategory> categories);

}  // namespace shardscope::core
