#pragma once

// A kernel: one device operation with its shape and its operands. The model's modules give the kernels per phase
// (core/model/program.h); the simulator prices them, the runtime executes them, and nobody else lists kernels.

#include <cstdint>
#include <string_view>
#include <vector>

#include "core/base/ids.h"
#include "core/base/quantities.h"

namespace shardscope::core {

/// What a kernel computes. Operands are given as `inputs -> outputs`; "x", "y" are activations, "dx", "dy" their
/// gradients, W and b parameters. An operand in [brackets] may be absent. Rows are all leading dimensions together.
/// GEMM shapes are A[m,k] x B[k,n], `b` products in a batch, as in the recordings of PyTorch.
enum class KernelKind : std::uint8_t {
    // Forward ------------------------------------------------------------------------------------------------------
    Linear,          ///< x [rows, in], W [out, in] (or [in, out] if Kernel::weightTransposed), [b] -> y; m rows, n out, k in
    PatchEmbed,      ///< images [B,C,H,W], W [h,C,p,p], b -> y [B, patches, h], patches row-major; m B*patches, n h, k C*p*p
    Embedding,       ///< ids [..], W [V,h] -> y [.., h]
    ConcatToken,     ///< token [1,1,h], x [B,S,h] -> y [B,S+1,h], the token first
    AddBroadcast,    ///< x [B,..], p [1,..] -> y: p added to every sample
    Add,             ///< a, b -> a + b; also the sum of two gradients of one tensor
    LayerNorm,       ///< x [rows,h], W, b -> y, mean [rows] fp32, rstd [rows] fp32; eps in Kernel::scalar; biased variance
    Attention,       ///< q, k, v [B, heads, S, d] -> out, logsumexp [, rng state...]; fused; scale 1/sqrt(d); causal if set
    ScoresBmm,       ///< q, k -> scores [B*heads, S, S]: batched GEMM of the unfused path (scale in the operands)
    Softmax,         ///< scores -> probabilities
    ContextBmm,      ///< probabilities, v -> context
    Gelu,            ///< x -> y, exact (erf) form
    SelectToken,     ///< x [B,S,h] -> y [B,h] = x[:, 0]; a view, no work
    LogSoftmax,      ///< logits [rows, V] -> log-probabilities
    NllLoss,         ///< log-probabilities, labels -> loss (scalar), total weight (scalar); mean over rows
    ScaleVector,     ///< x [rows,h], v [h] -> x * v
    Elementwise,     ///< any other memory-bound kernel (casts, rotary embedding, powers, copies ...): Kernel::op names it
    // Backward -----------------------------------------------------------------------------------------------------
    LinearInputGrad,     ///< dy, W -> dx; m rows, n in, k out
    LinearWeightGrad,    ///< dy, x -> dW; m out, n in, k rows (for a transposed weight m in, n out)
    BiasGrad,            ///< dy [rows, out] -> db: sum over rows
    PatchEmbedWeightGrad,///< dy, images -> dW, db; m h, n C*p*p, k B*patches
    EmbeddingGrad,       ///< dy, ids -> dW
    ConcatTokenGrad,     ///< dy [B,S+1,h] -> dx [B,S,h], dtoken (summed over the batch)
    AddBroadcastGrad,    ///< dy -> dp: sum over the batch (dx is dy itself)
    LayerNormGrad,       ///< dy, x, mean, rstd, W -> dx, dW, db
    AttentionGrad,       ///< dout, q, k, v, out, logsumexp [, rng state...] -> dq, dk, dv
    ProbabilitiesGrad,   ///< dcontext, v -> dprobabilities (batched GEMM)
    ValueGrad,           ///< probabilities, dcontext -> dv (batched GEMM)
    SoftmaxGrad,         ///< dprobabilities, probabilities -> dscores
    QueryGrad,           ///< dscores, k -> dq (batched GEMM)
    KeyGrad,             ///< dscores, q -> dk (batched GEMM)
    GeluGrad,            ///< dy, x -> dx
    SelectTokenGrad,     ///< dy [B,h] -> dx [B,S,h], zero outside token 0
    CrossEntropyGrad,    ///< log-probabilities, labels, total weight -> dlogits (of the mean loss)
    ScaleVectorGrad,     ///< dy, x, v -> dx, dv
    // Both -------------------------------------------------------------------------------------------------------
    OpaqueGemm,          ///< GEMM of a 2-D weight of a model known by its shapes alone (safetensors headers)
};

/// How the time of a kernel is priced: which roof it is under.
enum class KernelClass : std::uint8_t { Gemm, Attention, Memory, View };

[[nodiscard]] KernelClass classOf(KernelKind kind);
[[nodiscard]] std::string_view nameOf(KernelKind kind);

struct Kernel {
    KernelKind kind = KernelKind::Elementwise;
    std::string_view op;     ///< PyTorch's name of the operation ("addmm", "native_layer_norm"); a string literal
    std::uint16_t module = 0;///< Program::modules
    bool causal = false;
    bool weightTransposed = false;  ///< GPT-2's Conv1D stores [in, out]
    std::int64_t b = 1, m = 0, n = 0, k = 0;  ///< GEMM and attention: attention has b batch, m s_q, n s_k, k head_dim
    std::int64_t heads = 0, kvHeads = 0;      ///< attention only
    double scalar = 0;                        ///< eps of a norm
    Flops flops;  ///< 2mnk per product; attention not discounted for causality; fused backward 5 products (2.5x forward)
    Bytes read, written;                      ///< device-memory traffic with every operand touched once
    std::vector<TensorId> inputs, outputs;    ///< Program::tensors, in the order that KernelKind states
};

}  // namespace shardscope::core
