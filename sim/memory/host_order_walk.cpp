#include "sim/memory/host_order_walk.h"

namespace shardscope::sim {

using core::HostActionKind;

HostOrderWalk::HostOrderWalk(const core::StepGraph& graph, core::ClassId rankClass, std::int64_t optimizerStateBytes)
    : m_cursor(graph, graph.classes[rankClass.index()], optimizerStateBytes),
      m_blocks(blocksOf(graph, rankClass)),
      m_handles(m_blocks.blocks.size(), 0) {
    for (std::size_t i = 0; i < m_handles.size(); ++i) {
        const core::Block& block = m_blocks.blocks[i];
        if (block.persistent || block.found) m_handles[i] = m_allocator.allocate({m_cursor.bytesOf(block)}, block.pool);
    }
}

const core::HostAction* HostOrderWalk::next() {
    const core::HostAction* action = m_cursor.next();
    if (action == nullptr) return nullptr;
    if (action->kind == HostActionKind::Allocate) {
        const std::size_t i = action->block.index() - m_blocks.first;
        const core::Block& block = m_blocks.blocks[i];
        m_handles[i] = m_allocator.allocate({m_cursor.bytesOf(block)}, block.pool);
    } else if (action->kind == HostActionKind::Release) {
        m_allocator.release(m_handles[action->block.index() - m_blocks.first]);
    }
    return action;
}

}  // namespace shardscope::sim
