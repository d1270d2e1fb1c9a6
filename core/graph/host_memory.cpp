#include "core/graph/host_memory.h"

#include <algorithm>
#include <cassert>

namespace shardscope::core {

ClassBlocks blocksOf(const StepGraph& graph, ClassId rankClass) {
    const auto byClass = [](const Block& a, const Block& b) { return a.rankClass.value < b.rankClass.value; };
    assert(std::is_sorted(graph.blocks.begin(), graph.blocks.end(), byClass));
    Block wanted;
    wanted.rankClass = rankClass;
    const auto [begin, end] = std::equal_range(graph.blocks.begin(), graph.blocks.end(), wanted, byClass);
    return {static_cast<std::size_t>(begin - graph.blocks.begin()), {begin, end}};
}

HostMemoryCursor::HostMemoryCursor(const StepGraph& graph, const RankClass& rankClass, std::int64_t optimizerStateBytes)
    : m_graph(graph), m_class(rankClass), m_optimizerStateBytes(optimizerStateBytes) {
    const ClassId id(static_cast<std::size_t>(&rankClass - graph.classes.data()));
    for (const Block& block : blocksOf(graph, id).blocks)
        if (block.persistent || block.found) m_live[block.category] += bytesOf(block);
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

namespace {

Bytes peakWhere(const StepGraph& graph, const RankClass& rankClass, const std::array<bool, kMemoryCategories>& counts) {
    HostMemoryCursor cursor(graph, rankClass);
    std::int64_t live = 0;
    for (std::size_t c = 0; c < kMemoryCategories; ++c)
        if (counts[c]) live += cursor.live().bytes[c];
    std::int64_t peak = live;
    while (const HostAction* action = cursor.next()) {
        if (action->kind != HostActionKind::Allocate && action->kind != HostActionKind::Release) continue;
        const Block& block = graph.blocks[action->block.index()];
        if (!counts[static_cast<std::size_t>(block.category)]) continue;
        live += action->kind == HostActionKind::Allocate ? cursor.bytesOf(block) : -cursor.bytesOf(block);
        peak = std::max(peak, live);
    }
    return {peak};
}

}  // namespace

Bytes peakAllocated(const StepGraph& graph, const RankClass& rankClass) {
    std::array<bool, kMemoryCategories> all{};
    all.fill(true);
    return peakWhere(graph, rankClass, all);
}

Bytes peakAllocated(const StepGraph& graph, const RankClass& rankClass, std::span<const MemoryCategory> categories) {
    std::array<bool, kMemoryCategories> some{};
    for (const MemoryCategory category : categories) some[static_cast<std::size_t>(category)] = true;
    return peakWhere(graph, rankClass, some);
}

}  // namespace shardscope::core
