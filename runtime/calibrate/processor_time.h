#pragma once

// Processor time: what a thread, or all of a process, has had of the cores, which grows only while it runs.

#include <cstdint>

namespace shardscope::runtime {

/// Nanoseconds of the calling thread.
[[nodiscard]] std::int64_t threadTime();
/// Nanoseconds of all threads of this process.
[[nodiscard]] std::int64_t processTime();

}  // namespace shardscope::runtime
