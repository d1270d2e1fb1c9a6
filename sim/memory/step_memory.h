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
    std::vector<MemoryPart> parts;  ///< largest first; their sum is `total`
};

struct StepMemory {
    core::CategoryBytes atStart, atEnd;  ///< host order
    MemoryPeak hostOrder;                ///< largest allocated
    core::Bytes reserved;                ///< of the caching allocator at the step's end, categories in host order
    MemoryPeak deviceTime;               ///< largest in use at one instant
    std::int64_t deviceTimePeakAt = 0;   ///< ns
};

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
