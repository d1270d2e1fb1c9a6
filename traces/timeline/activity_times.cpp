#include "traces/timeline/activity_times.h"

namespace shardscope::timeline {

std::size_t activitySlot(Activity activity, core::Phase phase) {
    return activity == Activity::Kernels ? kActivities + static_cast<std::size_t>(phase)
                                         : static_cast<std::size_t>(activity);
}

std::string_view nameOfActivitySlot(std::size_t slot) {
    return slot < kActivities ? nameOf(static_cast<Activity>(slot))
                              : core::nameOf(static_cast<core::Phase>(slot - kActivities));
}

std::vector<ActivityTimes> activityTimesOf(const Timeline& timeline) {
    std::vector<ActivityTimes> all(timeline.ranks.size(), ActivityTimes{});
    const Spans& spans = timeline.spans;
    for (std::size_t i = 0; i < spans.size(); ++i) {
        const std::size_t slot =
            activitySlot(static_cast<Activity>(spans.activity[i]), static_cast<core::Phase>(spans.phase[i]));
        all[timeline.lanes[spans.lane[i]].rankIndex][slot] += spans.end[i] - spans.transferStart[i];
    }
    return all;
}

}  // namespace shardscope::timeline
