#include "runtime/cpu/cpu_device.h"

#include <algorithm>
#include <cmath>
#include <type_traits>

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

using FastKernel = Result<bool> (*)(cpu::Primitives&, const KernelCall&);

template <auto Kernel>
Result<bool> taken([[maybe_unused]] cpu::Primitives& primitives, const KernelCall& call) {
    if constexpr (std::is_invocable_v<decltype(Kernel), cpu::Primitives&, const KernelCall&>)
        return Kernel(primitives, call);
    else
        return Kernel(call);
}

/// Null: there is none, whatever the operands.
FastKernel fastKernelOf(const core::Kernel& kernel) {
    using core::KernelKind;
    if (kernel.draw != 0) return nullptr;
    switch (kernel.kind) {
        case KernelKind::Linear: return taken<cpu::linear>;
        case KernelKind::LinearInputGrad: return taken<cpu::linearInputGrad>;
        case KernelKind::LinearWeightGrad: return taken<cpu::linearWeightGrad>;
        case KernelKind::BiasGrad: return taken<cpu::biasGrad>;
        case KernelKind::PatchEmbed: return taken<cpu::patchEmbed>;
        case KernelKind::PatchEmbedWeightGrad: return taken<cpu::patchEmbedWeightGrad>;
        case KernelKind::Attention: return taken<cpu::attention>;
        case KernelKind::AttentionGrad: return taken<cpu::attentionGrad>;
        case KernelKind::LayerNorm: return taken<cpu::layerNorm>;
        case KernelKind::LayerNormGrad: return taken<cpu::layerNormGrad>;
        case KernelKind::Gelu: return taken<cpu::gelu>;
        case KernelKind::GeluGrad: return taken<cpu::geluGrad>;
        case KernelKind::Add: return taken<cpu::addTensors>;
        case KernelKind::AddBroadcast: return taken<cpu::addBroadcast>;
        case KernelKind::AddBroadcastGrad: return taken<cpu::addBroadcastGrad>;
        case KernelKind::Copy: return taken<cpu::copyTensor>;
        case KernelKind::SliceGrad: return taken<cpu::sliceGrad>;
        case KernelKind::Concat: return taken<cpu::concatParts>;
        default: return nullptr;
    }
}

}  // namespace

CpuDevice::CpuDevice(std::int64_t capacity) : HostDevice(Fresh::AsItLies, capacity) {}

Result<void> CpuDevice::launch(StreamIndex, const KernelCall& call) {
    const FastKernel fast = fastKernelOf(call.kernel);
    if (fast == nullptr) return reference::launch(call);
    useOneThread();
    SHARDSCOPE_ASSIGN(const bool done, fast(m_primitives, call));
    if (done) return {};
    if (const auto tidied = cpu::Tidied::of(call)) {
        SHARDSCOPE_ASSIGN(const bool doneTidily, fast(m_primitives, tidied->call()));
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
