#include "runtime/cpu/widened.h"

#include <algorithm>

#include "runtime/cpu/cpu_kernels.h"

namespace shardscope::runtime::cpu {

std::optional<Widened> Widened::of(const KernelCall& call) {
    using core::KernelKind;
    const auto low = [](const TensorView& view) { return view.dtype == core::DType::BF16; };
    const KernelKind kind = call.kernel.kind;
    if (kind == KernelKind::Concat || kind == KernelKind::SliceGrad || kind == KernelKind::CausalMask ||
        (std::none_of(call.inputs.begin(), call.inputs.end(), low) &&
         std::none_of(call.outputs.begin(), call.outputs.end(), low)))
        return std::nullopt;
    Widened widened;
    widened.m_kernel = &call.kernel;
    const auto takeAll = [&](std::span<const TensorView> views, bool read, std::vector<TensorView>& into) {
        return std::all_of(views.begin(), views.end(),
                           [&](const TensorView& view) { return widened.take(view, read, into); });
    };
    if (!takeAll(call.inputs, true, widened.m_inputs) || !takeAll(call.outputs, false, widened.m_outputs))
        return std::nullopt;
    widened.m_narrow.assign(call.outputs.begin(), call.outputs.end());
    return widened;
}

bool Widened::take(const TensorView& view, bool read, std::vector<TensorView>& into) {
    if (view.dtype != core::DType::BF16) {
        into.push_back(view);
        return true;
    }
    std::vector<float>& values = m_values.emplace_back(static_cast<std::size_t>(view.elements()));
    into.push_back({reinterpret_cast<std::byte*>(values.data()), core::DType::F32, view.shape, {}});
    return !read || copyRows(view, into.back());
}

void Widened::finish() const {
    for (std::size_t i = 0; i < m_outputs.size(); ++i)
        if (m_narrow[i].dtype == core::DType::BF16) (void)copyRows(m_outputs[i], m_narrow[i]);
}

}  // namespace shardscope::runtime::cpu
