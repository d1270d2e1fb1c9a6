#pragma once

// Fused attention: which kernel runs decides the rate (cost model facts 4.4). PyTorch's scaled_dot_product_attention
// runs FlashAttention 2 on its flash path, a kernel of xformers on its memory-efficient one, and cuDNN's; the others
// come from the flash-attn package.

#include <cstdint>
#include <string_view>

#include "core/base/dtype.h"
#include "core/model/kernel.h"
#include "sim/price/gpu_rates.h"
#include "sim/price/kernel_price.h"

namespace shardscope::sim {

enum class AttentionKernel : std::uint8_t { Flash1, Flash2, Flash3, Efficient, Cudnn };
[[nodiscard]] std::string_view nameOf(AttentionKernel kernel);

/// The one that runs `kernel`, by its name. Version 3 is written for Hopper; elsewhere it is 2.
[[nodiscard]] AttentionKernel attentionKernelOf(const core::Kernel& kernel, GpuFamily family);

/// True if the rate of `kernel` on that family was read off published figures of that very pair.
[[nodiscard]] bool attentionIsMeasured(AttentionKernel kernel, GpuFamily family);

/// Attention over `b` x `heads` heads, `queries` x `keys`, head dimension `dim`; `flops` not discounted for the mask.
[[nodiscard]] KernelPrice priceAttention(AttentionKernel kernel, std::int64_t b, std::int64_t heads,
                                         std::int64_t queries, std::int64_t keys, std::int64_t dim, bool causal,
                                         bool backward, double flops, double traffic, core::DType dtype,
                                         const GpuRates& rates);

}  // namespace shardscope::sim
