#pragma once

// Independent pieces of work on all processors.

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <exception>
#include <thread>
#include <vector>

namespace shardscope::core {

/// Calls `work(i)` for every i of [0, count), on the calling thread and one more for every other processor; returns
/// when all calls have. No call may wait for another one. What a call throws (memory that is not there) is thrown again
/// here, once all threads have ended; calls that have not begun then are left out.
template <class Work>
void parallelFor(std::size_t count, const Work& work) {
    std::atomic<std::size_t> next = 0;
    std::atomic<bool> thrown = false;
    std::exception_ptr first;
    const auto serve = [&] {
        try {
            for (std::size_t i = next++; i < count; i = next++) work(i);
        } catch (...) {
            next = count;
            if (!thrown.exchange(true)) first = std::current_exception();
        }
    };
    // Asked once: it reads files.
    static const std::size_t processors = std::thread::hardware_concurrency();
    {
        std::vector<std::jthread> others;
        for (std::size_t t = 1; t < std::min(count, processors); ++t) others.emplace_back(serve);
        serve();
    }
    if (first) std::rethrow_exception(first);
}

}  // namespace shardscope::core
