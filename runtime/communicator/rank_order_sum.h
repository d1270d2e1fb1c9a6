#pragma once

// The sum that every communicator takes: in float32, in rank order, rounded once.

#include <cstddef>
#include <span>

#include "core/base/dtype.h"

namespace shardscope::runtime {

/// target = parts[0] + parts[1] + ..., each as long as `target` and of `dtype`, divided by their number if `average`;
/// added (and divided) in float32, rounded to `dtype` once. `target` may be one of the parts.
void sumInRankOrder(std::span<const std::byte* const> parts, std::span<std::byte> target, core::DType dtype,
                    bool average);

}  // namespace shardscope::runtime
