#pragma once

// Why a plan needs the memory it needs: where and when its peak is, of what it consists, and which settings would take
// it down. Everything is read off the simulated step, or simulated anew.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "cli/face/load.h"
#include "cli/face/report.h"

namespace shardscope::cli {

/// A moment at which a rank's memory is fullest.
struct PeakAt {
    std::int64_t bytes = 0;
    std::string moment;     ///< sim::MemoryPeak::moment
    std::string op;         ///< enqueued last (allocated) or starting (in use); empty before the first
    std::string phase;      ///< of that op
    std::int64_t atNs = 0;  ///< when the host had enqueued the op (allocated); the instant on the device (in use)
};

/// A unit whose parameters are whole at the allocated peak, though they are sharded otherwise.
struct GatheredUnit {
    std::string unit;
    std::int64_t bytes = 0;  ///< unsharded parameters and its all-gather output
    std::string why;         ///< "its own turn", "whole since forward, ..."
};

/// One setting changed, everything else as it is, simulated anew.
struct Remedy {
    std::vector<std::string> set;  ///< as after --set: "training.activation_checkpoint=full"
    std::int64_t neededBytes = 0, allocatedBytes = 0, stepNs = 0;
    bool fits = false;
};

/// FSDP over twice as many ranks, each with the batch that it has now: what is sharded takes half.
struct OnMoreGpus {
    Remedy remedy;
    std::int64_t ranks = 0, globalBatch = 0;
};

struct WhyMemory {
    std::size_t fullest = 0;             ///< of PlanReport::classes: the one with the least memory left
    PeakAt allocated;                    ///< host order: what PyTorch calls allocated
    PeakAt inUse;                        ///< device time
    std::int64_t stays = 0;              ///< bytes that are there before the step and after it
    std::vector<GatheredUnit> gathered;  ///< largest first
    /// By stream, largest first: bytes of the allocator's segments at the step's end.
    std::vector<std::pair<std::string, std::int64_t>> reservedOf;
    std::vector<Remedy> remedies;  ///< those that need less, the least needed first
    std::optional<OnMoreGpus> onMoreGpus;
};

/// `report` is what `loaded` gives for one strategy. Errors: Cancelled; a setting that cannot be is no remedy.
[[nodiscard]] core::Result<WhyMemory> whyMemory(const Loaded& loaded, const Report& report);

[[nodiscard]] std::string whyMemoryText(const Report& report, const WhyMemory& why);
[[nodiscard]] core::Document whyMemoryDocument(const Report& report, const WhyMemory& why);

}  // namespace shardscope::cli
