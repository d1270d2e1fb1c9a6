#include "runtime/cpu/tidied.h"

#include <algorithm>

#include "runtime/cpu/cpu_kernels.h"
#include "runtime/cpu/views.h"

namespace shardscope::runtime::cpu {

namespace {

bool untidy(const TensorView& view) {
    return view.dtype == core::DType::BF16 || (view.dtype == core::DType::F32 && floatsOf(view) == nullptr);
}

/// Memory of the calling thread for one of the copies. Taken anew for each call, it would be touched for the first time
/// in each, page by page.
float* copyMemory(std::size_t which, std::size_t floats) {
    thread_local std::vector<std::vector<float>> kept;
    if (kept.size() <= which) kept.resize(which + 1);
    if (kept[which].size() < floats) kept[which].resize(floats);
    return kept[which].data();
}

}  // namespace

std::optional<Tidied> Tidied::of(const KernelCall& call) {
    using core::KernelKind;
    const KernelKind kind = call.kernel.kind;
    if (kind == KernelKind::Concat || kind == KernelKind::SliceGrad ||
        (std::none_of(call.inputs.begin(), call.inputs.end(), untidy) &&
         std::none_of(call.outputs.begin(), call.outputs.end(), untidy)))
        return std::nullopt;
    Tidied tidied;
    tidied.m_kernel = &call.kernel;
    const auto takeAll = [&](std::span<const TensorView> views, bool read, std::vector<TensorView>& into) {
        return std::all_of(views.begin(), views.end(),
                           [&](const TensorView& view) { return tidied.take(view, read, into); });
    };
    if (!takeAll(call.inputs, true, tidied.m_inputs) || !takeAll(call.outputs, false, tidied.m_outputs))
        return std::nullopt;
    tidied.m_given.assign(call.outputs.begin(), call.outputs.end());
    return tidied;
}

bool Tidied::take(const TensorView& view, bool read, std::vector<TensorView>& into) {
    if (!untidy(view)) {
        into.push_back(view);
        return true;
    }
    const bool rows = !view.shape.empty() && view.elements() > 0 && (view.strides.empty() || view.strides.back() == 1);
    if (!rows) return false;
    float* values = copyMemory(m_copies++, static_cast<std::size_t>(view.elements()));
    into.push_back({reinterpret_cast<std::byte*>(values), core::DType::F32, view.shape, {}});
    return !read || copyRows(view, into.back());
}

void Tidied::finish() const {
    for (std::size_t i = 0; i < m_outputs.size(); ++i)
        if (untidy(m_given[i])) (void)copyRows(m_outputs[i], m_given[i]);
}

}  // namespace shardscope::runtime::cpu
