#include "core/model/kernel.h"

namespace shardscope::core {

KernelClass classOf(KernelKind kind) {
    switch (kind) {
        case KernelKind::Linear:
        case KernelKind::PatchEmbed:
        case KernelKind::LinearInputGrad:
        case KernelKind::LinearWeightGrad:
        case KernelKind::PatchEmbedWeightGrad:
        case KernelKind::BatchedGemm:
        case KernelKind::OpaqueGemm: return KernelClass::Gemm;
        case KernelKind::Attention:
        case KernelKind::AttentionGrad: return KernelClass::Attention;
        default: return KernelClass::Memory;
    }
}

std::string_view nameOf(KernelKind kind) {
    switch (kind) {
        case KernelKind::Linear: return "linear";
        case KernelKind::PatchEmbed: return "patch_embed";
        case KernelKind::Embedding: return "embedding";
        case KernelKind::ConcatToken: return "concat_token";
        case KernelKind::AddBroadcast: return "add_broadcast";
        case KernelKind::LayerNorm: return "layer_norm";
        case KernelKind::Attention: return "attention";
        case KernelKind::CausalMask: return "causal_mask";
        case KernelKind::Softmax: return "softmax";
        case KernelKind::Gelu: return "gelu";
        case KernelKind::LogSoftmax: return "log_softmax";
        case KernelKind::NllLoss: return "nll_loss";
        case KernelKind::ScaleVector: return "scale_vector";
        case KernelKind::Dropout: return "dropout";
        case KernelKind::Bernoulli: return "bernoulli";
        case KernelKind::LinearInputGrad: return "linear_input_grad";
        case KernelKind::LinearWeightGrad: return "linear_weight_grad";
        case KernelKind::BiasGrad: return "bias_grad";
        case KernelKind::PatchEmbedWeightGrad: return "patch_embed_weight_grad";
        case KernelKind::EmbeddingGrad: return "embedding_grad";
        case KernelKind::AddBroadcastGrad: return "add_broadcast_grad";
        case KernelKind::SliceGrad: return "slice_grad";
        case KernelKind::LayerNormGrad: return "layer_norm_grad";
        case KernelKind::AttentionGrad: return "attention_grad";
        case KernelKind::SoftmaxGrad: return "softmax_grad";
        case KernelKind::GeluGrad: return "gelu_grad";
        case KernelKind::NllLossGrad: return "nll_loss_grad";
        case KernelKind::LogSoftmaxGrad: return "log_softmax_grad";
        case KernelKind::ScaleVectorGrad: return "scale_vector_grad";
        case KernelKind::DropoutGrad: return "dropout_grad";
        case KernelKind::Add: return "add";
        case KernelKind::Multiply: return "multiply";
        case KernelKind::Scale: return "scale";
        case KernelKind::Copy: return "copy";
        case KernelKind::Concat: return "concat";
        case KernelKind::BatchedGemm: return "batched_gemm";
        case KernelKind::Elementwise: return "elementwise";
        case KernelKind::OpaqueGemm: return "opaque_gemm";
    }
    return "?";
}

}  // namespace shardscope::core
