#pragma once

// A class's host actions, one after another, with what its tensors take and what PyTorch's caching allocator reserves
// for them.

#include <cstdint>
#include <vector>

#include "core/graph/host_memory.h"
#include "sim/memory/caching_allocator.h"

namespace shardscope::sim {

class HostOrderWalk {
public:
    /// Starts with the persistent blocks. `optimizerStateBytes`: see core::HostMemoryCursor. The graph must outlive it.
    HostOrderWalk(const core::StepGraph& graph, core::ClassId rankClass, std::int64_t optimizerStateBytes = -1);

    /// Accounts for the next action and returns it; null at the end.
    const core::HostAction* next();
    [[nodiscard]] const core::CategoryBytes& live() const { return m_cursor.live(); }
    /// Actions done so far, counted from the class's first.
    [[nodiscard]] std::uint32_t position() const { return m_cursor.position(); }
    [[nodiscard]] const CachingAllocator& allocator() const { return m_allocator; }

private:
    core::HostMemoryCursor m_cursor;
    CachingAllocator m_allocator;
    core::ClassBlocks m_blocks;
    std::vector<CachingAllocator::Handle> m_handles;  // by block of the class
};

}  // namespace shardscope::sim
