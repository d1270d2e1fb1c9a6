#pragma once

// How long a rank's ops took, by what they do: transfers from their last member's arrival on, a model's kernels by
// phase. Ops that run beside each other all count.

#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

#include "traces/timeline/timeline.h"

namespace shardscope::timeline {

/// One for each activity, and one for each phase of the model's kernels.
inline constexpr std::size_t kActivitySlots = kActivities + core::kPhases;
using ActivityTimes = std::array<std::int64_t, kActivitySlots>;  ///< nanoseconds

[[nodiscard]] std::size_t activitySlot(Activity activity, core::Phase phase);
/// "all-gather", "forward".
[[nodiscard]] std::string_view nameOfActivitySlot(std::size_t slot);

/// One per Timeline::ranks.
[[nodiscard]] std::vector<ActivityTimes> activityTimesOf(const Timeline& timeline);

}  // namespace shardscope::timeline
