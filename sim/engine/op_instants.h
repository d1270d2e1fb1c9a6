#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace shardscope::sim {

/// ns from the step's start.
struct Interval {
    std::int64_t begin = 0, end = 0;
};

/// Instants of ops, ns from the step's start. `transferStart` equals `start` where nothing is transferred.
struct OpInstants {
    std::vector<std::int64_t> start, transferStart, end;
    void resize(std::size_t n) { start.resize(n), transferStart.resize(n), end.resize(n); }
    [[nodiscard]] std::size_t size() const { return end.size(); }
};

}  // namespace shardscope::sim
