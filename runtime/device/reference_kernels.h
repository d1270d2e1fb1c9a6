#pragma once

// The kernels of the reference device as plain loops, by family. Every one loads its operands as floats, sums in double
// and stores with one rounding to the output's dtype. Operands are those of core::KernelKind.

#include "core/base/result.h"
#include "runtime/device/device.h"

namespace shardscope::runtime::reference {

/// Whichever of these the call is. Errors: Unsupported, naming the kernel; operands that do not fit.
[[nodiscard]] core::Result<void> launch(const KernelCall& call);

// reference_gemm.cpp
[[nodiscard]] core::Result<void> linear(const KernelCall& call);
[[nodiscard]] core::Result<void> linearInputGrad(const KernelCall& call);
[[nodiscard]] core::Result<void> linearWeightGrad(const KernelCall& call);
[[nodiscard]] core::Result<void> biasGrad(const KernelCall& call);
[[nodiscard]] core::Result<void> patchEmbed(const KernelCall& call);
[[nodiscard]] core::Result<void> patchEmbedWeightGrad(const KernelCall& call);
[[nodiscard]] core::Result<void> batchedGemm(const KernelCall& call);

// reference_attention.cpp
[[nodiscard]] core::Result<void> attention(const KernelCall& call);
[[nodiscard]] core::Result<void> attentionGrad(const KernelCall& call);
[[nodiscard]] core::Result<void> causalMask(const KernelCall& call);
[[nodiscard]] core::Result<void> softmax(const KernelCall& call);
[[nodiscard]] core::Result<void> softmaxGrad(const KernelCall& call);

// reference_norm.cpp
[[nodiscard]] core::Result<void> layerNorm(const KernelCall& call);
[[nodiscard]] core::Result<void> layerNormGrad(const KernelCall& call);
[[nodiscard]] core::Result<void> logSoftmax(const KernelCall& call);
[[nodiscard]] core::Result<void> nllLoss(const KernelCall& call);
[[nodiscard]] core::Result<void> nllLossGrad(const KernelCall& call);
[[nodiscard]] core::Result<void> logSoftmaxGrad(const KernelCall& call);

// reference_pointwise.cpp
[[nodiscard]] core::Result<void> concatToken(const KernelCall& call);
[[nodiscard]] core::Result<void> concatParts(const KernelCall& call);
[[nodiscard]] core::Result<void> sliceGrad(const KernelCall& call);
[[nodiscard]] core::Result<void> addBroadcast(const KernelCall& call);
[[nodiscard]] core::Result<void> addBroadcastGrad(const KernelCall& call);
[[nodiscard]] core::Result<void> addTensors(const KernelCall& call);
[[nodiscard]] core::Result<void> gelu(const KernelCall& call);
[[nodiscard]] core::Result<void> geluGrad(const KernelCall& call);
[[nodiscard]] core::Result<void> scaleVector(const KernelCall& call);
[[nodiscard]] core::Result<void> scaleVectorGrad(const KernelCall& call);
[[nodiscard]] core::Result<void> embedding(const KernelCall& call);
[[nodiscard]] core::Result<void> embeddingGrad(const KernelCall& call);
[[nodiscard]] core::Result<void> scale(const KernelCall& call);
[[nodiscard]] core::Result<void> copyTensor(const KernelCall& call);

// reference_random.cpp
[[nodiscard]] core::Result<void> dropout(const KernelCall& call);
[[nodiscard]] core::Result<void> dropoutGrad(const KernelCall& call);
[[nodiscard]] core::Result<void> bernoulli(const KernelCall& call);
[[nodiscard]] core::Result<void> multiply(const KernelCall& call);

/// What a call draws for the elements of a tensor, in logical order, samples outermost.
struct Draws {
    std::span<const std::uint64_t> seeds;
    std::int64_t ofSample = 1;  ///< elements
    float dropped = 0;
    [[nodiscard]] bool keeps(std::int64_t element) const;
};
/// An error where the call has no seeds, or the elements do not divide among its samples.
[[nodiscard]] core::Result<Draws> drawsOf(const KernelCall& call, std::int64_t elements);

/// An error unless the call has at least that many operands.
[[nodiscard]] core::Result<void> expectOperands(const KernelCall& call, std::size_t inputs, std::size_t outputs);
/// An error that names the kernel and says what does not fit.
[[nodiscard]] tl::unexpected<core::Error> shapeError(const KernelCall& call, const std::string& what);

}  // namespace shardscope::runtime::reference
