#include "core/machine/artificial_link.h"

#include <algorithm>
#include <cmath>

namespace shardscope::core {

std::int64_t ArtificialLink::nanoseconds(double bytes) const {
    const double seconds = latency + (bandwidth > 0 ? bytes / bandwidth : 0);
    return std::llround(std::min(seconds, 1e9) * 1e9);
}

double ArtificialLink::ringBytes(double bytes, std::int64_t members) {
    return bytes * static_cast<double>(members - 1) / static_cast<double>(members);
}

}  // namespace shardscope::core
