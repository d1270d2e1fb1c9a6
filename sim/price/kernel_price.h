#pragma once

// The time of one kernel on an idle GPU: floor + max(compute, memory).
//
// GEMM (cost model facts 4.1): the output is cut into tiles; blocks = products x tiles x splits of k run in waves over
// the multiprocessors; the best of a few tile shapes and splits is taken, as a library would. Attention
// (attention_price.h) and memory-bound kernels (4.2) have formulas of their own. Constants are fitted to published
// tables; docs/model.md gives their errors.

#include <cstdint>

#include "core/base/dtype.h"
#include "core/model/kernel.h"
#include "core/model/program.h"
#include "sim/price/gpu_rates.h"

namespace shardscope::sim {

/// Seconds. `seconds` = floor + max(compute, memory).
struct KernelPrice {
    double seconds = 0;
    double floor = 0;    ///< start and end of a kernel that does nothing
    double compute = 0;  ///< 0 for memory-bound kernels
    double memory = 0;   ///< 0 if a knob leaves memory out
    double work = 0;     ///< FLOPs that compute counts: half of Kernel::flops for causal attention
    double peak = 0;     ///< FLOP/s that work / compute is held against
    double traffic = 0;  ///< bytes
    std::int32_t tileM = 0, tileN = 0, split = 0, waves = 0;  ///< GEMM: the shape taken
};

/// Element type of a kernel's floating-point operands (of the first one); F32 if it has none.
[[nodiscard]] core::DType operandType(const core::Program& program, const core::Kernel& kernel);

/// `dtype`: operandType.
[[nodiscard]] KernelPrice priceKernel(const core::Kernel& kernel, core::DType dtype, const GpuRates& rates);

/// The same for a GEMM by its shape alone: `b` products [m,k] x [k,n]. `aligned`: contiguous dimensions are multiples
/// of 16 bytes.
[[nodiscard]] KernelPrice priceGemm(std::int64_t b, std::int64_t m, std::int64_t n, std::int64_t k, bool aligned,
                                    double traffic, core::DType dtype, const GpuRates& rates);
/// A kernel that only moves `traffic` bytes; `factor` scales the achievable bandwidth.
[[nodiscard]] KernelPrice priceTraffic(double traffic, double factor, const GpuRates& rates);

/// Share of the peak bandwidth that large memory-bound kernels reach.
[[nodiscard]] double memoryShareOf(const GpuRates& rates);

}  // namespace shardscope::sim
