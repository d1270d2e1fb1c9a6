#pragma once

// Copies around collectives, local reductions, and the optimizer: device-memory traffic at an achievable rate.

#include <cstdint>

#include "sim/price/gpu_rates.h"
#include "sim/price/kernel_price.h"

namespace shardscope::sim {

/// `traffic` bytes read and written by `launches` kernels. No traffic: no work (an op that turned out to be a no-op).
[[nodiscard]] KernelPrice priceCopy(double traffic, std::int64_t launches, const GpuRates& rates);

/// The update of all parameters of a rank; `traffic` is that of a perfectly fused update (28 bytes per fp32 parameter
/// with Adam). Foreach kernels pass over memory about three times and are charged 0.33 of the peak bandwidth, fused
/// ones 0.8 (cost model facts 4.5: 2.4 to 2.6 of 8 TB/s measured on B200; fused 0.75 to 0.85).
[[nodiscard]] KernelPrice priceOptimizer(double traffic, std::int64_t launches, bool fused, const GpuRates& rates);

}  // namespace shardscope::sim
