#pragma once

// The clock of all devices and communicators of one process.

#include <chrono>
#include <cstdint>

namespace shardscope::runtime {

/// Nanoseconds; steady, and the same for all threads.
[[nodiscard]] inline std::int64_t clockNow() {
    return std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now().time_since_epoch())
        .count();
}

}  // namespace shardscope::runtime
