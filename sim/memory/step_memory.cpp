#include "sim/memory/step_memory.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "sim/memory/host_order_walk.h"

namespace shardscope::sim {
namespace {

using core::Block;
using core::HostAction;
using core::HostActionKind;
using core::Mark;
using core::StepGraph;

/// Words for where the host was: the last marks before a peak.
std::string momentOf(const StepGraph& graph, const core::Model& model, std::span<const HostAction> actions,
                     std::size_t position) {
    for (std::size_t i = position; i-- > 0;) {
        const HostAction& action = actions[i];
        if (action.kind == HostActionKind::Launch) {
            return (action.op.valid() ? labelOf(graph, model, action.op) : std::string("launch")) + " enqueued";
        }
        if (action.kind != HostActionKind::Mark) continue;
        const std::string unit = action.unit.valid() ? graph.units[action.unit.index()].name : std::string();
        switch (action.mark) {
            case Mark::GatherIssued: return "issue of the gather of " + unit;
            case Mark::GatherWaited: return "copy-out of " + unit;
            case Mark::PreBackward: return "before the backward of " + unit;
            case Mark::PostBackward: return "end of the backward of " + unit;
            case Mark::ReduceCopyIn: return "packing of the gradients of " + unit;
            case Mark::ClipGradients: return "clipping of the gradients";
            case Mark::OptimizerStep: return "optimizer step";
            case Mark::LossBackward: return "start of backward";
            case Mark::FinalBegin: return "end of backward";
            default: break;
        }
    }
    return "start of the step";
}

/// By block of the class: 1 where it is there.
std::vector<std::uint8_t> liveAt(const StepGraph& graph, core::ClassId rankClass, std::uint32_t actionCount) {
    const core::ClassBlocks own = blocksOf(graph, rankClass);
    std::vector<std::uint8_t> live;
    for (const Block& block : own.blocks) live.push_back(block.persistent || block.found ? 1 : 0);
    for (const HostAction& action : graph.actionsOf(graph.classes[rankClass.index()]).first(actionCount)) {
        if (action.kind == HostActionKind::Allocate) live[action.block.index() - own.first] = 1;
        if (action.kind == HostActionKind::Release) live[action.block.index() - own.first] = 0;
    }
    return live;
}

}  // namespace

std::vector<core::BlockId> blocksAt(const StepGraph& graph, core::ClassId rankClass, std::uint32_t actions) {
    const std::vector<std::uint8_t> live = liveAt(graph, rankClass, actions);
    const std::size_t first = blocksOf(graph, rankClass).first;
    std::vector<core::BlockId> there;
    for (std::size_t i = 0; i < live.size(); ++i)
        if (live[i] != 0) there.emplace_back(first + i);
    return there;
}

StepMemory hostOrderMemory(const StepGraph& graph, const core::Model& model, core::ClassId rankClass,
                           std::int64_t optimizerStateBytes) {
    const core::RankClass& which = graph.classes[rankClass.index()];
    StepMemory memory;

    // First pass: where the peak is, and what the allocator reserves.
    HostOrderWalk walk(graph, rankClass, optimizerStateBytes);
    memory.atStart = memory.hostOrder.byCategory = walk.live();
    std::int64_t peak = walk.live().total().value;
    std::uint32_t peakAt = 0;
    while (const HostAction* action = walk.next()) {
        if (action->kind != HostActionKind::Allocate) continue;
        if (const std::int64_t total = walk.live().total().value; total > peak) {
            peak = total;
            peakAt = walk.position();
            memory.hostOrder.byCategory = walk.live();
        }
    }
    memory.atEnd = walk.live();
    memory.reserved = walk.allocator().reserved();
    for (std::size_t stream = 0; stream < graph.streams.size(); ++stream) {
        const auto id = static_cast<std::uint8_t>(stream);
        memory.reservedOf.push_back(
            {walk.allocator().reservedOf(id, false).value + walk.allocator().reservedOf(id, true).value});
    }
    memory.peakAction = peakAt;
    memory.hostOrder.total = {peak};

    // Second pass, up to the peak: what it is made of.
    const core::HostMemoryCursor again(graph, which, optimizerStateBytes);
    const core::ClassBlocks own = blocksOf(graph, rankClass);
    const std::vector<std::uint8_t> live = liveAt(graph, rankClass, peakAt);
    std::vector<std::int64_t> bytes;
    for (const Block& block : own.blocks) bytes.push_back(again.bytesOf(block));
    const std::span<const HostAction> actions = graph.actionsOf(which);
    for (std::size_t i = peakAt; i-- > 0 && !memory.hostOrder.op.valid();)
        if (actions[i].kind == HostActionKind::Launch) memory.hostOrder.op = actions[i].op;
    memory.hostOrder.parts = partsOf(graph, model, live, bytes, own.first);
    memory.hostOrder.moment = momentOf(graph, model, actions, peakAt);
    return memory;
}

void addDeviceTimeMemory(const StepGraph& graph, const core::Model& model, core::ClassId rankClass,
                         const OpTimes& times, StepMemory& memory, std::vector<timeline::Counter>* counters,
                         timeline::Strings* strings, std::uint32_t rankIndex) {
    struct Change {
        std::int64_t time;
        std::int64_t bytes;   // negative: released
        std::uint32_t block;  // of the class
    };
    std::vector<Change> changes;
    core::CategoryBytes live;
    const core::ClassBlocks own = blocksOf(graph, rankClass);
    std::vector<std::uint8_t> inUse(own.blocks.size(), 0);
    for (std::size_t i = 0; i < own.blocks.size(); ++i) {
        const Block& block = own.blocks[i];
        if (block.bytes.value == 0) continue;
        if (block.persistent) {
            live[block.category] += block.bytes.value;
            inUse[i] = 1;
            continue;
        }
        if (!block.firstUse.valid()) continue;
        const std::int64_t from = block.found ? 0 : times.start[block.firstUse.index()];
        const bool ends = block.lastUse.valid() && !block.left;
        const std::int64_t to = ends ? times.end[block.lastUse.index()] : times.stepEnd;
        if (to <= from) continue;
        changes.push_back({from, block.bytes.value, static_cast<std::uint32_t>(i)});
        if (to < times.stepEnd || ends) changes.push_back({to, -block.bytes.value, static_cast<std::uint32_t>(i)});
    }
    // At one instant what ends goes before what begins: the two do not overlap.
    std::ranges::sort(changes, [](const Change& a, const Change& b) {
        if (a.time != b.time) return a.time < b.time;
        if ((a.bytes < 0) != (b.bytes < 0)) return a.bytes < 0;
        return a.block < b.block;
    });

    std::array<std::size_t, core::kMemoryCategories> counterOf{};
    std::array<bool, core::kMemoryCategories> used{};
    for (const Change& change : changes) used[static_cast<std::size_t>(own.blocks[change.block].category)] = true;
    if (counters != nullptr) {
        for (std::size_t c = 0; c < core::kMemoryCategories; ++c) {
            if (!used[c] && live.bytes[c] == 0) continue;
            used[c] = true;
            counterOf[c] = counters->size();
            timeline::Counter counter;
            counter.rankIndex = rankIndex;
            counter.name = strings->intern(nameOf(static_cast<core::MemoryCategory>(c)));
            counter.time.push_back(0);
            counter.value.push_back(live.bytes[c]);
            counters->push_back(std::move(counter));
        }
    }

    std::int64_t total = live.total().value;
    std::int64_t peak = total;
    std::size_t peakChanges = 0;
    for (std::size_t i = 0; i < changes.size(); ++i) {
        const Change& change = changes[i];
        const auto category = static_cast<std::size_t>(own.blocks[change.block].category);
        live.bytes[category] += change.bytes;
        total += change.bytes;
        if (counters != nullptr) {
            timeline::Counter& counter = (*counters)[counterOf[category]];
            if (counter.time.back() == change.time)
                counter.value.back() = live.bytes[category];
            else {
                counter.time.push_back(change.time);
                counter.value.push_back(live.bytes[category]);
            }
        }
        const bool settled = i + 1 == changes.size() || changes[i + 1].time != change.time;
        if (settled && total > peak) {
            peak = total;
            peakChanges = i + 1;
            memory.deviceTimePeakAt = change.time;
        }
    }
    memory.deviceTime.total = {peak};
    memory.deviceTime.byCategory = {};
    for (const Block& block : own.blocks)
        if (block.persistent) memory.deviceTime.byCategory[block.category] += block.bytes.value;
    for (std::size_t i = 0; i < peakChanges; ++i) {
        const Block& block = own.blocks[changes[i].block];
        memory.deviceTime.byCategory[block.category] += changes[i].bytes;
        inUse[changes[i].block] = changes[i].bytes > 0 ? 1 : 0;
    }
    std::vector<std::int64_t> bytes;
    for (const Block& block : own.blocks) bytes.push_back(block.bytes.value);
    memory.deviceTime.parts = partsOf(graph, model, inUse, bytes, own.first);
    if (peakChanges > 0) memory.deviceTime.op = own.blocks[changes[peakChanges - 1].block].firstUse;
    const Block* last = peakChanges > 0 ? &own.blocks[changes[peakChanges - 1].block] : nullptr;
    memory.deviceTime.moment =
        last == nullptr ? "start of the step" : labelOf(graph, model, last->firstUse) + " starts";
}

}  // namespace shardscope::sim
