#pragma once

// Kernels of the CPU device: products and GELU through oneDNN, the rest as loops over contiguous rows. Each says
// whether it has taken the call: what it does not take (another dtype, a layout without contiguous rows, operands that
// do not fit) is the reference loops' to do or to refuse. Products take float32 and, with AVX-512, bfloat16, copies
// either; the rest takes float32 alone, and Tidied makes that of bfloat16.

#include "core/base/result.h"
#include "runtime/device/device.h"

namespace shardscope::runtime::cpu {

class Primitives;

// gemm.cpp
[[nodiscard]] core::Result<bool> linear(Primitives& primitives, const KernelCall& call);
[[nodiscard]] core::Result<bool> linearInputGrad(Primitives& primitives, const KernelCall& call);
[[nodiscard]] core::Result<bool> linearWeightGrad(Primitives& primitives, const KernelCall& call);
[[nodiscard]] core::Result<bool> biasGrad(const KernelCall& call);
[[nodiscard]] core::Result<bool> patchEmbed(const KernelCall& call);
[[nodiscard]] core::Result<bool> patchEmbedWeightGrad(const KernelCall& call);

// attention.cpp
[[nodiscard]] bool attention(const KernelCall& call);
[[nodiscard]] bool attentionGrad(const KernelCall& call);

// pointwise.cpp
[[nodiscard]] bool layerNorm(const KernelCall& call);
[[nodiscard]] bool layerNormGrad(const KernelCall& call);
[[nodiscard]] bool addTensors(const KernelCall& call);
[[nodiscard]] bool addBroadcast(const KernelCall& call);
[[nodiscard]] bool addBroadcastGrad(const KernelCall& call);
[[nodiscard]] bool copyTensor(const KernelCall& call);
[[nodiscard]] bool sliceGrad(const KernelCall& call);
[[nodiscard]] bool concatParts(const KernelCall& call);
/// to = from, of equal shapes, rounded to `to`'s dtype; false: not both float32 or bfloat16 with contiguous rows.
[[nodiscard]] bool copyRows(const TensorView& from, const TensorView& to);

// primitives.cpp
[[nodiscard]] core::Result<bool> gelu(Primitives& primitives, const KernelCall& call);
[[nodiscard]] core::Result<bool> geluGrad(Primitives& primitives, const KernelCall& call);

}  // namespace shardscope::runtime::cpu
