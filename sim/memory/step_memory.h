#pragma once

// Memory of one class of ranks over a step, in the two views of the graph's blocks, and what each peak is made of.
//
// Host order: an allocator's count as the host issues actions (PyTorch's `allocated`), and what that makes it reserve.
// Device time: what is in use at an instant of the timeline, from the start of a block's first user to the end of its
// last.

#include <span>
#include <string>
#include <vector>

#include "core/graph/host_memory.h"
#include "sim/memory/peak_parts.h"
#include "traces/timeline/timeline.h"

namespace shardscope::sim {

struct MemoryPeak {
    core::Bytes total;
    core::CategoryBytes byCategory;
    std::string moment;             ///< "end of backward of blocks.2", "issue of the gather of blocks.0"
    core::OpId op;                  ///< enqueued last (host order) or starting (device time); none: before the first
    std::vector<MemoryPart> parts;  ///< largest first; their sum is `total`
};

struct StepMemory {
    core::CategoryBytes atStart, atEnd;   ///< host order
    MemoryPeak hostOrder;                 ///< largest allocated
    std::uint32_t peakAction = 0;         ///< host actions of the class up to that peak, its own included
    core::Bytes reserved;                 ///< of the caching allocator at the step's end, categories in host order
    std::vector<core::Bytes> reservedOf;  ///< of these, by stream of the graph
    MemoryPeak deviceTime;                ///< largest in use at one instant
    std::int64_t deviceTimePeakAt = 0;    ///< ns
};

/// The blocks that are there when the host has done `actions` of the class's actions (StepMemory::peakAction, say),
/// persistent ones included, by id.
[[nodiscard]] std::vector<core::BlockId> blocksAt(const core::StepGraph& graph, core::ClassId rankClass,
                                                  std::uint32_t actions);

/// Host order alone; `deviceTime` stays empty. `optimizerStateBytes`: see HostMemoryCursor.
[[nodiscard]] StepMemory hostOrderMemory(const core::StepGraph& graph, const core::Model& model,
                                         core::ClassId rankClass, std::int64_t optimizerStateBytes = -1);

/// Start and end of every op of the class in ns (StepGraph::ops order, whole graph).
struct OpTimes {
    std::span<const std::int64_t> start, end;
    std::int64_t stepEnd = 0;
};

/// Adds the device-time view to `memory`, and to `counters` (if given) one counter per category that is ever used.
void addDeviceTimeMemory(const core::StepGraph& graph, const core::Model& model, core::ClassId rankClass,
                         const OpTimes& times, StepMemory& memory, std::vector<timeline::Counter>* counters = nullptr,
                         timeline::Strings* strings = nullptr, std::uint32_t rankIndex = 0);

}  // namespace shardscope::sim
