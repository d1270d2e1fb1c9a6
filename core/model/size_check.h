#pragma once

// Sizes that come from files: positive, and small enough that products of a few of them stay within 128 bits.

#include <cstdint>
#include <initializer_list>
#include <string_view>
#include <utility>

#include "core/base/result.h"
#include "core/model/model.h"

namespace shardscope::core {

/// No size of a model is larger than this (elements of one dimension): far beyond any, and products of two still fit.
inline constexpr std::int64_t kLargestSize = std::int64_t{1} << 31;
/// Layers of a stack. Every one is simulated; four times the deepest published transformer, DeepNet's 1,000
/// (arXiv 2203.00555), still takes about a second.
inline constexpr std::int64_t kMostLayers = 4'096;

/// Every value must be in 1..kLargestSize; the error names the first that is not.
[[nodiscard]] Result<void> checkSizes(std::string_view where,
                                      std::initializer_list<std::pair<std::string_view, std::int64_t>> sizes);
/// At most kMostLayers blocks; `blocks` is the name of that number where `where` is read ("layers").
[[nodiscard]] Result<void> checkLayers(std::string_view where, std::string_view blocks, std::int64_t count);
/// The batch in 1..kLargestSize, the sequence length in 0..kLargestSize.
[[nodiscard]] Result<void> checkWorkload(const Workload& workload);

}  // namespace shardscope::core
