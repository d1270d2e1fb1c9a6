#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

namespace shardscope::core {

/// The upper one of two middles; 0 without values.
[[nodiscard]] inline double medianOf(std::vector<double> values) {
    if (values.empty()) return 0;
    const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
    std::nth_element(values.begin(), middle, values.end());
    return *middle;
}

}  // namespace shardscope::core
