#include <algorithm>
#include <vector>

#include "runtime/cpu/cpu_kernels.h"
#include "runtime/cpu/loops.h"
#include "runtime/cpu/views.h"

namespace shardscope::runtime::cpu {

bool layerNorm(const KernelCall& call) {
    if (call.inputs.size() < 3 || call.outputs.size() < 3) return false;
    const float *x = floatsOf(call.inputs[0]), *w = floatsOf(call.inputs[1]), *bias = floatsOf(call.inputs[2]);
    float *y = floatsOf(call.outputs[0]), *means = floatsOf(call.outputs[1]), *rstds = floatsOf(call.outputs[2]);
    const std::int64_t width = call.inputs[1].elements();
    if (x == nullptr || w == nullptr || bias == nullptr || y == nullptr || means == nullptr || rstds == nullptr ||
        width <= 0 || call.inputs[2].elements() != width || call.inputs[0].elements() % width != 0)
        return false;
    const std::int64_t rows = call.inputs[0].elements() / width;
    if (call.outputs[0].elements() != rows * width || call.outputs[1].elements() != rows ||
        call.outputs[2].elements() != rows)
        return false;
    loops().layerNorm({rows, width, call.kernel.scalar}, x, w, bias, y, means, rstds);
    return true;
}

bool layerNormGrad(const KernelCall& call) {
    if (call.inputs.size() < 5 || call.outputs.size() < 3) return false;
    const float *dy = floatsOf(call.inputs[0]), *x = floatsOf(call.inputs[1]), *means = floatsOf(call.inputs[2]),
                *rstds = floatsOf(call.inputs[3]), *w = floatsOf(call.inputs[4]);
    float *dx = floatsOf(call.outputs[0]), *dw = floatsOf(call.outputs[1]), *db = floatsOf(call.outputs[2]);
    const std::int64_t width = call.inputs[4].elements(), rows = call.inputs[2].elements();
    if (dy == nullptr || x == nullptr || means == nullptr || rstds == nullptr || w == nullptr || dx == nullptr ||
        dw == nullptr || db == nullptr || width <= 0 || call.inputs[0].elements() != rows * width ||
        call.inputs[1].elements() != rows * width || call.inputs[3].elements() != rows ||
        call.outputs[0].elements() != rows * width || call.outputs[1].elements() != width ||
        call.outputs[2].elements() != width)
        return false;
    std::vector<double> scratch(static_cast<std::size_t>(2 * width), 0.0);
    loops().layerNormGrad({rows, width, call.kernel.scalar}, dy, x, means, rstds, w, dx, dw, db, scratch.data());
    return true;
}

bool addTensors(const KernelCall& call) {
    if (call.inputs.size() < 2 || call.outputs.empty()) return false;
    const float *a = floatsOf(call.inputs[0]), *b = floatsOf(call.inputs[1]);
    float* sum = floatsOf(call.outputs[0]);
    const std::int64_t count = call.outputs[0].elements();
    if (a == nullptr || b == nullptr || sum == nullptr || call.inputs[0].elements() != count ||
        call.inputs[1].elements() != count)
        return false;
    loops().add(a, b, sum, count);
    return true;
}

bool addBroadcast(const KernelCall& call) {
    if (call.inputs.size() < 2 || call.outputs.empty()) return false;
    const float *x = floatsOf(call.inputs[0]), *p = floatsOf(call.inputs[1]);
    float* sum = floatsOf(call.outputs[0]);
    const std::int64_t count = call.outputs[0].elements(), width = call.inputs[1].elements();
    if (x == nullptr || p == nullptr || sum == nullptr || width <= 0 || count % width != 0 ||
        call.inputs[0].elements() != count)
        return false;
    loops().addToRows(x, p, sum, count / width, width);
    return true;
}

namespace {

/// Strides in elements, of a view that lies without gaps also.
core::Shape stridesOf(const TensorView& view) {
    if (!view.strides.empty()) return view.strides;
    core::Shape strides(view.shape.size(), 1);
    for (std::size_t d = strides.size() - 1; d-- > 0;) strides[d] = strides[d + 1] * view.shape[d + 1];
    return strides;
}

/// Whether copyRows does that.
bool copies(const TensorView& from, const TensorView& to) {
    const auto taken = [](const TensorView& view) {
        return (view.dtype == core::DType::F32 || view.dtype == core::DType::BF16) &&
               (view.strides.empty() || view.strides.back() == 1);
    };
    return from.shape == to.shape && !from.shape.empty() && from.elements() > 0 && taken(from) && taken(to);
}

}  // namespace

bool copyRows(const TensorView& from, const TensorView& to) {
    using core::DType;
    if (!copies(from, to)) return false;
    const std::size_t last = from.shape.size() - 1;
    const core::Shape read = stridesOf(from), written = stridesOf(to);
    const std::int64_t readSize = core::sizeOf(from.dtype), writtenSize = core::sizeOf(to.dtype);
    const auto copyRow = [&](const std::byte* source, std::byte* target) {
        const std::int64_t count = from.shape[last];
        if (from.dtype == to.dtype)
            std::copy_n(source, count * readSize, target);
        else if (to.dtype == DType::F32)
            loops().widen(reinterpret_cast<const std::uint16_t*>(source), reinterpret_cast<float*>(target), count);
        else
            loops().narrow(reinterpret_cast<const float*>(source), reinterpret_cast<std::uint16_t*>(target), count);
    };
    core::Shape position(from.shape.size(), 0);
    std::int64_t readAt = 0, writtenAt = 0;
    while (true) {
        copyRow(from.data + readAt * readSize, to.data + writtenAt * writtenSize);
        std::size_t d = last;
        while (d-- > 0) {
            readAt += read[d];
            writtenAt += written[d];
            if (++position[d] < from.shape[d]) break;
            readAt -= read[d] * from.shape[d];
            writtenAt -= written[d] * from.shape[d];
            position[d] = 0;
            if (d == 0) return true;
        }
        if (last == 0) return true;
    }
}

bool copyTensor(const KernelCall& call) {
    return !call.inputs.empty() && !call.outputs.empty() && copyRows(call.inputs[0], call.outputs[0]);
}

bool addBroadcastGrad(const KernelCall& call) {
    if (call.inputs.empty() || call.outputs.empty()) return false;
    const float* dy = floatsOf(call.inputs[0]);
    float* dp = floatsOf(call.outputs[0]);
    const std::int64_t count = call.inputs[0].elements(), width = call.outputs[0].elements();
    if (dy == nullptr || dp == nullptr || width <= 0 || count % width != 0) return false;
    columnSums(dy, count / width, width, dp);
    return true;
}

bool sliceGrad(const KernelCall& call) {
    if (call.inputs.empty() || call.outputs.size() < 2 || !copies(call.inputs[0], call.outputs[1])) return false;
    std::byte* dx = elementsIn(call.outputs[0], call.outputs[0].dtype);
    if (dx == nullptr) return false;
    std::fill_n(dx, call.outputs[0].bytes(), std::byte{0});
    return copyRows(call.inputs[0], call.outputs[1]);
}

bool concatParts(const KernelCall& call) {
    if (call.inputs.empty() || call.outputs.size() != call.inputs.size() + 1) return false;
    for (std::size_t i = 0; i < call.inputs.size(); ++i)
        if (!copies(call.inputs[i], call.outputs[i + 1])) return false;
    for (std::size_t i = 0; i < call.inputs.size(); ++i) (void)copyRows(call.inputs[i], call.outputs[i + 1]);
    return true;
}

}  // namespace shardscope::runtime::cpu
