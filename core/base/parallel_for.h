#pragma once

// Independent pieces of work on all processors.

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <thread>
#include <vector>

namespace shardscope::core {

/// Calls `work(i)` for every i of [0, count), on the calling thread and one more for every other processor; returns
/// when all calls have. No call may wait for another one, nor throw.
template <class Work>
void parallelFor(std::size_t count, const Work& work) {
    std::atomic<std::size_t> next = 0;
    const auto serve = [&] {
        for (std::size_t i = next++; i < count; i = next++) work(i);
    };
    // Asked once: it reads files.
    static const std::size_t processors = std::thread::hardware_concurrency();
    std::vector<std::jthread> others;
    for (std::size_t t = 1; t < std::min(count, processors); ++t) others.emplace_back(serve);
    serve();
}

}  // namespace shardscope::core
