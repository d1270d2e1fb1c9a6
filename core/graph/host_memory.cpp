#include "core/graph/host_memory.h"

#include <algorithm>

namespace shardscope::core {

HostMemoryCursor::HostMemoryCursor(const StepGraph& graph, const RankClass& rankClass, std::int64_t optimizerStateBytes)
    : m_graph(graph), m_class(rankClass), m_optimizerStateBytes(optimizerStateBytes) {
    const ClassId id(static_cast<std::size_t>(&rankClass - graph.classes.data()));
    for (const Block& block : graph.blocks)
        if (block.persistent && block.rankClass == id) m_live[block.category] += bytesOf(block);
}

std::int64_t HostMemoryCursor::bytesOf(const Block& block) const {
    if (block.category == MemoryCategory::OptimizerState && m_optimizerStateBytes >= 0) return m_optimizerStateBytes;
    return block.bytes.value;
}

const HostAction* HostMemoryCursor::next() {
    if (m_class.actionBegin + m_position >= m_class.actionEnd) return nullptr;
    const HostAction& action = m_graph.actions[m_class.actionBegin + m_position++];
    if (action.kind == HostActionKind::Allocate) {
        const Block& block = m_graph.blocks[action.block.index()];
        m_live[block.category] += bytesOf(block);
    } else if (action.kind == HostActionKind::Release) {
        const Block& block = m_graph.blocks[action.block.index()];
        m_live[block.category] -= bytesOf(block);
    }
    return &action;
}

Bytes peakAllocated(const StepGraph& graph, const RankClass& rankClass) {
    HostMemoryCursor cursor(graph, rankClass);
    std::int64_t live = cursor.live().total().value, peak = live;
    while (const HostAction* action = cursor.next()) {
        if (action->kind == HostActionKind::Allocate) {
            live += cursor.bytesOf(graph.blocks[action->block.index()]);
            peak = std::max(peak, live);
        } else if (action->kind == HostActionKind::Release) {
            live -= cursor.bytesOf(graph.blocks[action->block.index()]);
        }
    }
    return {peak};
}

}  // namespace shardscope::core
