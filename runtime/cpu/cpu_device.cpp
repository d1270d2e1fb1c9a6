#include "runtime/cpu/cpu_device.h"

#include <algorithm>
#include <cmath>

#include "runtime/cpu/cpu_kernels.h"
#include "runtime/cpu/loops.h"
#include "runtime/cpu/tidied.h"
#include "runtime/cpu/views.h"
#include "runtime/device/reference_kernels.h"

// Of the OpenMP runtime, whose header not every compiler has.
extern "C" void omp_set_num_threads(int threads);

namespace shardscope::runtime {

using core::Result;

namespace {

/// oneDNN then computes on the calling thread alone.
void useOneThread() {
    thread_local const bool told = [] {
        omp_set_num_threads(1);
        return true;
    }();
    (void)told;
}

}  // namespace

CpuDevice::CpuDevice(std::int64_t capacity) : HostDevice(Fresh::AsItLies, capacity) {}

Result<bool> CpuDevice::tryFast(const KernelCall& call) {
    using core::KernelKind;
    if (call.kernel.draw != 0) return false;
    switch (call.kernel.kind) {
        case KernelKind::Linear: return cpu::linear(m_primitives, call);
        case KernelKind::LinearInputGrad: return cpu::linearInputGrad(m_primitives, call);
        case KernelKind::LinearWeightGrad: return cpu::linearWeightGrad(m_primitives, call);
        case KernelKind::BiasGrad: return cpu::biasGrad(call);
        case KernelKind::PatchEmbed: return cpu::patchEmbed(call);
        case KernelKind::PatchEmbedWeightGrad: return cpu::patchEmbedWeightGrad(call);
        case KernelKind::Attention: return cpu::attention(call);
        case KernelKind::AttentionGrad: return cpu::attentionGrad(call);
        case KernelKind::LayerNorm: return cpu::layerNorm(call);
        case KernelKind::LayerNormGrad: return cpu::layerNormGrad(call);
        case KernelKind::Gelu: return cpu::gelu(m_primitives, call);
        case KernelKind::GeluGrad: return cpu::geluGrad(m_primitives, call);
        case KernelKind::Add: return cpu::addTensors(call);
        case KernelKind::AddBroadcast: return cpu::addBroadcast(call);
        case KernelKind::AddBroadcastGrad: return cpu::addBroadcastGrad(call);
        case KernelKind::Copy: return cpu::copyTensor(call);
        case KernelKind::SliceGrad: return cpu::sliceGrad(call);
        case KernelKind::Concat: return cpu::concatParts(call);
        default: return false;
    }
}

Result<void> CpuDevice::launch(StreamIndex, const KernelCall& call) {
    useOneThread();
    SHARDSCOPE_ASSIGN(const bool done, tryFast(call));
    if (done) return {};
    if (const auto tidied = cpu::Tidied::of(call)) {
        SHARDSCOPE_ASSIGN(const bool doneTidily, tryFast(tidied->call()));
        if (doneTidily) {
            tidied->finish();
            return {};
        }
    }
    return reference::launch(call);
}

Result<void> CpuDevice::copy(StreamIndex stream, const TensorView& from, const TensorView& to) {
    return cpu::copyRows(from, to) ? Result<void>() : HostDevice::copy(stream, from, to);
}

Result<void> CpuDevice::add(StreamIndex stream, const TensorView& from, const TensorView& to) {
    const float* added = cpu::floatsOf(from);
    float* sum = cpu::floatsOf(to);
    if (added == nullptr || sum == nullptr || from.elements() != to.elements())
        return HostDevice::add(stream, from, to);
    cpu::loops().add(sum, added, sum, to.elements());
    return {};
}

Result<void> CpuDevice::fill(StreamIndex stream, const TensorView& to, double value) {
    float* values = cpu::floatsOf(to);
    if (values == nullptr) return HostDevice::fill(stream, to, value);
    std::fill_n(values, to.elements(), static_cast<float>(value));
    return {};
}

Result<void> CpuDevice::divide(StreamIndex stream, const TensorView& values, double divisor) {
    float* quotient = cpu::floatsOf(values);
    // A divisor that float does not hold is the reference's to divide by.
    if (quotient == nullptr || static_cast<double>(static_cast<float>(divisor)) != divisor)
        return HostDevice::divide(stream, values, divisor);
    const auto by = static_cast<float>(divisor);
    for (std::int64_t i = 0, count = values.elements(); i < count; ++i) quotient[i] /= by;
    return {};
}

// Framework semantics 8.2, its corrections in double, its elements in float as PyTorch's fused kernel has them.
Result<void> CpuDevice::update(StreamIndex stream, const OptimizerCall& call) {
    float* p = cpu::floatsOf(call.parameter);
    float* m = cpu::floatsOf(call.firstMoment);
    float* v = cpu::floatsOf(call.secondMoment);
    const float* g = cpu::floatsOf(call.gradient);
    const bool adam = call.kind == core::OptimizerKind::Adam || call.kind == core::OptimizerKind::AdamW;
    const std::int64_t count = call.parameter.elements();
    if (!adam || p == nullptr || m == nullptr || v == nullptr || g == nullptr || call.gradient.elements() != count ||
        call.firstMoment.elements() != count || call.secondMoment.elements() != count)
        return HostDevice::update(stream, call);
    const double correction1 = 1.0 - std::pow(call.beta1, static_cast<double>(call.step));
    const double correction2 = std::sqrt(1.0 - std::pow(call.beta2, static_cast<double>(call.step)));
    const bool decoupled = call.kind == core::OptimizerKind::AdamW;
    cpu::AdamFactors by;
    by.decay = static_cast<float>(decoupled ? 0.0 : call.weightDecay);
    by.shrink = static_cast<float>(decoupled ? call.learningRate * call.weightDecay : 0.0);
    by.fresh1 = static_cast<float>(1.0 - call.beta1);
    by.beta2 = static_cast<float>(call.beta2);
    by.fresh2 = static_cast<float>(1.0 - call.beta2);
    by.rate = static_cast<float>(call.learningRate / correction1);
    by.root = static_cast<float>(correction2);
    by.epsilon = static_cast<float>(call.epsilon);
    cpu::loops().adam(by, p, g, m, v, count);
    return {};
}

}  // namespace shardscope::runtime
