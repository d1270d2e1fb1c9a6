#pragma once

// A kernel: one device operation with its shape and its operands. The model's modules give the kernels per phase
// (core/model/program.h); the simulator prices them, the runtime executes them, and nobody else lists kernels.
//
// Layout convention. A view (reshape, transpose, slice, select) is no kernel: it is a Tensor with an offset and strides
// into its storage. Every operand, input or output, is read and written through its own strides; an implementation may
// copy inputs into contiguous order first and scatter its result. Wherever a shape below is written with "rows", it
// means all leading dimensions together. A tensor that stands both among the inputs and the outputs is updated in
// place.

#include <cstdint>
#include <string_view>
#include <vector>

#include "core/base/ids.h"
#include "core/base/quantities.h"

namespace shardscope::core {

/// What a kernel computes, as `inputs -> outputs`. "x", "y" are activations, "dx", "dy" their gradients, W and b
/// parameters. An operand in [brackets] may be absent. GEMM shapes are A[m,k] x B[k,n], `b` products in a batch, as in
/// the recordings of PyTorch.
enum class KernelKind : std::uint8_t {
    // Forward
    Linear,       ///< x [rows,in], W [out,in] (or [in,out] if weightTransposed), [b] -> y; m rows, n out, k in
    PatchEmbed,   ///< images [B,C,H,W], W [h,C,p,p], b -> y [B,patches,h], patches row-major; m B*patches, n h, k C*p*p
    Embedding,    ///< ids [..], W [V,h] -> y [..,h]
    ConcatToken,  ///< token [1,1,h], x [B,S,h] -> y [B,S+1,h], the token first
    AddBroadcast,  ///< x [rows,e], p (e elements) -> y: p added to every row; often in place (y is x)
    LayerNorm,     ///< x [rows,h], W, b -> y, mean [rows] fp32, rstd [rows] fp32; eps is `scalar`; biased variance
    Attention,    ///< q [B,heads,S,d], k, v [B,kvHeads,S,d] -> out [B,heads,S,d], logsumexp [B,heads,S] fp32, rng state
                  ///< [2], unused []; fused; scale 1/sqrt(d); causal if set; probabilities are dropped as `draw` says:
                  ///< the states are never read
    CausalMask,   ///< scores [b,S,S] -> the same, in place: -inf right of the diagonal
    Softmax,      ///< scores [..,n] -> probabilities, over the last dimension
    Gelu,         ///< x -> y, exact (erf) form
    LogSoftmax,   ///< logits [rows,V] -> log-probabilities
    NllLoss,      ///< log-probabilities [rows,V], labels (one a row) -> loss [], total weight []; mean over rows
    ScaleVector,  ///< x [rows,h], v [h] -> x * v
    Dropout,      ///< x -> y, mask: an element is 0 with chance `scalar`, else x / (1 - scalar); the mask tells where
    Bernoulli,    ///< -> mask: an element is 0 with chance `scalar`, else 1
    // Backward
    LinearInputGrad,       ///< dy, W -> dx; m rows, n in, k out
    LinearWeightGrad,      ///< dy, x -> dW; m out, n in, k rows (for a transposed weight m in, n out)
    BiasGrad,              ///< dy [rows,out] -> db [out]: sum over rows
    PatchEmbedWeightGrad,  ///< dy [B,patches,h], images -> dW, db; m h, n C*p*p, k B*patches
    EmbeddingGrad,         ///< dy, ids -> dW
    AddBroadcastGrad,      ///< dy [rows,e] -> dp (e elements): sum over rows
    SliceGrad,             ///< dy -> dx, view of dx: dx is zero, then dy is copied into the view
    LayerNormGrad,         ///< dy, x, mean, rstd, W -> dx, dW, db
    AttentionGrad,         ///< dout, q, k, v, out, logsumexp, rng state, unused -> dq, dk, dv
    SoftmaxGrad,           ///< dprobabilities, probabilities -> dscores
    GeluGrad,              ///< dy, x -> dx
    NllLossGrad,           ///< dloss [], log-probabilities, labels, total weight -> dlog-probabilities
    LogSoftmaxGrad,        ///< dlog-probabilities, log-probabilities -> dlogits
    ScaleVectorGrad,       ///< dy, x, v -> dx, dv
    DropoutGrad,           ///< dy, mask -> dx
    // Both
    Add,          ///< a, b -> a + b, of one shape; also the sum of two gradients of one tensor
    Multiply,     ///< a, b -> a * b, of one shape
    Scale,        ///< x -> x * `scalar`
    Copy,         ///< x -> y, of one shape: a change of layout (clone) or of dtype (cast)
    Concat,       ///< parts.. -> y, views of y..: each part is copied into its view; together they fill y
    BatchedGemm,  ///< A [b,m,k], B [b,k,n] -> C [b,m,n]; transposed operands come as views
    Elementwise,  ///< any other memory-bound kernel (rotary embedding, powers, ...): `op` names it
    OpaqueGemm,   ///< GEMM of a 2-D weight of a model known by its shapes alone (safetensors headers)
};

/// How the time of a kernel is priced: which roof it is under.
enum class KernelClass : std::uint8_t { Gemm, Attention, Memory };

[[nodiscard]] KernelClass classOf(KernelKind kind);
/// "linear", "layer_norm_grad", ...
[[nodiscard]] std::string_view nameOf(KernelKind kind);

struct Kernel {
    KernelKind kind = KernelKind::Elementwise;
    std::string_view op;       ///< PyTorch's name of the operation ("addmm", "native_layer_norm"); a string literal
    std::uint16_t module = 0;  ///< Program::modules
    bool causal = false;
    bool weightTransposed = false;            ///< GPT-2's Conv1D stores [in, out]
    std::int64_t b = 1, m = 0, n = 0, k = 0;  ///< GEMM and attention: attention has b batch, m s_q, n s_k, k head_dim
    std::int64_t heads = 0, kvHeads = 0;      ///< attention only
    double scalar = 0;                        ///< eps of a norm, factor of Scale, chance of what is dropped
    std::uint16_t draw = 0;  ///< what it draws by chance, numbered in its program from 1; a forward kernel and the
                             ///< backward one that draws the same again share a number; 0: nothing
    std::uint32_t node = 0;  ///< backward: kernels of one autograd node have one number; what they touch stays until
                             ///< the node's last
    Flops
        flops;  ///< 2mnk per product; attention not discounted for causality; fused backward 5 products (2.5x forward)
    Bytes read, written;                    ///< device-memory traffic with every operand touched once
    std::vector<TensorId> inputs, outputs;  ///< Program::tensors, in the order that KernelKind states
};

}  // namespace shardscope::core
