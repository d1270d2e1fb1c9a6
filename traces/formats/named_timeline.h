#pragma once

// A plan's timeline beside others in one file.

#include <string>

#include "traces/timeline/timeline.h"

namespace shardscope::formats {

struct NamedTimeline {
    std::string name;
    const timeline::Timeline* timeline = nullptr;
};

}  // namespace shardscope::formats
