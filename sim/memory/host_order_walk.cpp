#include "sim/memory/host_order_walk.h"

namespace shardscope::sim {

using core::HostActionKind;

HostOrderWalk::HostOrderWalk(const core::StepGraph& graph, core::ClassId rankClass, std::int64_t optimizerStateBytes)
    : m_graph(graph),
      m_cursor(graph, graph.classes[rankClass.index()], optimizerStateBytes),
      m_handles(graph.blocks.size(), 0) {
    for (std::size_t i = 0; i < graph.blocks.size(); ++i) {
        const core::Block& block = graph.blocks[i];
        if (block.persistent && block.rankClass == rankClass)
            m_handles[i] = m_allocator.allocate({m_cursor.bytesOf(block)}, block.pool);
    }
}

const core::HostAction* HostOrderWalk::next() {
    const core::HostAction* action = m_cursor.next();
    if (action == nullptr) return nullptr;
    if (action->kind == HostActionKind::Allocate) {
        const core::Block& block = m_graph.blocks[action->block.index()];
        m_handles[action->block.index()] = m_allocator.allocate({m_cursor.bytesOf(block)}, block.pool);
    } else if (action->kind == HostActionKind::Release) {
        m_allocator.release(m_handles[action->block.index()]);
    }
    return action;
}

}  // namespace shardscope::sim
