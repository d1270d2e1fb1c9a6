#include "runtime/device/reference_device.h"

#include <fmt/format.h>

#include "runtime/device/reference_kernels.h"

namespace shardscope::runtime {

using core::Result;

Result<void> reference::launch(const KernelCall& call) {
    using core::KernelKind;
    namespace loops = reference;
    switch (call.kernel.kind) {
        case KernelKind::Linear: return loops::linear(call);
        case KernelKind::PatchEmbed: return loops::patchEmbed(call);
        case KernelKind::Embedding: return loops::embedding(call);
        case KernelKind::ConcatToken: return loops::concatToken(call);
        case KernelKind::AddBroadcast: return loops::addBroadcast(call);
        case KernelKind::LayerNorm: return loops::layerNorm(call);
        case KernelKind::Attention: return loops::attention(call);
        case KernelKind::CausalMask: return loops::causalMask(call);
        case KernelKind::Softmax: return loops::softmax(call);
        case KernelKind::Gelu: return loops::gelu(call);
        case KernelKind::LogSoftmax: return loops::logSoftmax(call);
        case KernelKind::NllLoss: return loops::nllLoss(call);
        case KernelKind::ScaleVector: return loops::scaleVector(call);
        case KernelKind::Dropout: return loops::dropout(call);
        case KernelKind::Bernoulli: return loops::bernoulli(call);
        case KernelKind::LinearInputGrad: return loops::linearInputGrad(call);
        case KernelKind::LinearWeightGrad: return loops::linearWeightGrad(call);
        case KernelKind::BiasGrad: return loops::biasGrad(call);
        case KernelKind::PatchEmbedWeightGrad: return loops::patchEmbedWeightGrad(call);
        case KernelKind::EmbeddingGrad: return loops::embeddingGrad(call);
        case KernelKind::AddBroadcastGrad: return loops::addBroadcastGrad(call);
        case KernelKind::SliceGrad: return loops::sliceGrad(call);
        case KernelKind::LayerNormGrad: return loops::layerNormGrad(call);
        case KernelKind::AttentionGrad: return loops::attentionGrad(call);
        case KernelKind::SoftmaxGrad: return loops::softmaxGrad(call);
        case KernelKind::GeluGrad: return loops::geluGrad(call);
        case KernelKind::NllLossGrad: return loops::nllLossGrad(call);
        case KernelKind::LogSoftmaxGrad: return loops::logSoftmaxGrad(call);
        case KernelKind::ScaleVectorGrad: return loops::scaleVectorGrad(call);
        case KernelKind::DropoutGrad: return loops::dropoutGrad(call);
        case KernelKind::Add: return loops::addTensors(call);
        case KernelKind::Multiply: return loops::multiply(call);
        case KernelKind::Scale: return loops::scale(call);
        case KernelKind::Copy: return loops::copyTensor(call);
        case KernelKind::Concat: return loops::concatParts(call);
        case KernelKind::BatchedGemm: return loops::batchedGemm(call);
        case KernelKind::Elementwise:
        case KernelKind::OpaqueGemm: break;
    }
    return core::fail(
        core::ErrorCode::Unsupported,
        fmt::format("the devices of the host have no kernel {} ({})", core::nameOf(call.kernel.kind), call.kernel.op),
        {}, "they execute vision transformers and stacks of linear layers, norms and attention");
}

Result<void> ReferenceDevice::launch(StreamIndex, const KernelCall& call) {
    return reference::launch(call);
}

}  // namespace shardscope::runtime
