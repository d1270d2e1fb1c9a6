#include <fmt/format.h>
#include <cmath>
#include <numbers>

#include "runtime/device/elements.h"
#include "runtime/device/reference_kernels.h"

namespace shardscope::runtime::reference {

using core::Result;

namespace {

bool sameCount(const TensorView& a, const TensorView& b) {
    return a.elements() == b.elements();
}

std::size_t lastOf(const TensorView& view) {
    return view.shape.empty() ? 1 : static_cast<std::size_t>(view.shape.back());
}

/// Sum over the leading repetitions of a row of `width` values.
std::vector<float> sumOver(const std::vector<float>& values, std::size_t width) {
    std::vector<double> sums(width, 0.0);
    for (std::size_t i = 0; i < values.size(); ++i) sums[i % width] += values[i];
    return {sums.begin(), sums.end()};
}

constexpr double kSqrtHalf = 0.5 * std::numbers::sqrt2;

}  // namespace

Result<void> concatToken(const KernelCall& call) {
    SHARDSCOPE_TRY(expectOperands(call, 2, 1));
    const auto token = loadFloats(call.inputs[0]), x = loadFloats(call.inputs[1]);
    if (call.inputs[1].shape.size() != 3) return shapeError(call, "needs x [B,S,h]");
    const std::size_t batch = static_cast<std::size_t>(call.inputs[1].shape[0]);
    const std::size_t sample = batch == 0 ? 0 : x.size() / batch;
    std::vector<float> y;
    y.reserve(x.size() + batch * token.size());
    for (std::size_t b = 0; b < batch; ++b) {
        y.insert(y.end(), token.begin(), token.end());
        y.insert(y.end(), x.begin() + static_cast<std::ptrdiff_t>(b * sample),
                 x.begin() + static_cast<std::ptrdiff_t>((b + 1) * sample));
    }
    if (static_cast<std::int64_t>(y.size()) != call.outputs[0].elements())
        return shapeError(call, "has an output of another size");
    storeFloats(call.outputs[0], y);
    return {};
}

Result<void> concatParts(const KernelCall& call) {
    SHARDSCOPE_TRY(expectOperands(call, 1, 1 + call.inputs.size()));
    for (std::size_t i = 0; i < call.inputs.size(); ++i) {
        const TensorView &part = call.inputs[i], &target = call.outputs[i + 1];
        if (!sameCount(part, target)) return shapeError(call, "has a part of another size than its place");
        storeFloats(target, loadFloats(part));
    }
    return {};
}

Result<void> sliceGrad(const KernelCall& call) {
    SHARDSCOPE_TRY(expectOperands(call, 1, 2));
    const TensorView &dx = call.outputs[0], &slice = call.outputs[1];
    if (!sameCount(call.inputs[0], slice)) return shapeError(call, "has a gradient of another size than its slice");
    storeFloats(dx, std::vector<float>(static_cast<std::size_t>(dx.elements()), 0.0f));
    storeFloats(slice, loadFloats(call.inputs[0]));
    return {};
}

Result<void> addBroadcast(const KernelCall& call) {
    SHARDSCOPE_TRY(expectOperands(call, 2, 1));
    auto x = loadFloats(call.inputs[0]);
    const auto p = loadFloats(call.inputs[1]);
    if (p.empty() || x.size() % p.size() != 0 || !sameCount(call.inputs[0], call.outputs[0]))
        return shapeError(call, "has operands of different sizes");
    for (std::size_t i = 0; i < x.size(); ++i) x[i] += p[i % p.size()];
    storeFloats(call.outputs[0], x);
    return {};
}

Result<void> addBroadcastGrad(const KernelCall& call) {
    SHARDSCOPE_TRY(expectOperands(call, 1, 1));
    const auto dy = loadFloats(call.inputs[0]);
    const TensorView& dp = call.outputs[0];
    const auto width = static_cast<std::size_t>(dp.elements());
    if (width == 0 || dy.size() % width != 0) return shapeError(call, "has operands of different sizes");
    storeFloats(dp, sumOver(dy, width));
    return {};
}

Result<void> addTensors(const KernelCall& call) {
    SHARDSCOPE_TRY(expectOperands(call, 2, 1));
    auto a = loadFloats(call.inputs[0]);
    const auto b = loadFloats(call.inputs[1]);
    if (a.size() != b.size() || !sameCount(call.inputs[0], call.outputs[0]))
        return shapeError(call, "has operands of different sizes");
    for (std::size_t i = 0; i < a.size(); ++i) a[i] += b[i];
    storeFloats(call.outputs[0], a);
    return {};
}

Result<void> gelu(const KernelCall& call) {
    SHARDSCOPE_TRY(expectOperands(call, 1, 1));
    if (!sameCount(call.inputs[0], call.outputs[0])) return shapeError(call, "has operands of different sizes");
    auto x = loadFloats(call.inputs[0]);
    for (float& value : x) value = static_cast<float>(0.5 * value * (1.0 + std::erf(value * kSqrtHalf)));
    storeFloats(call.outputs[0], x);
    return {};
}

Result<void> geluGrad(const KernelCall& call) {
    SHARDSCOPE_TRY(expectOperands(call, 2, 1));
    auto dy = loadFloats(call.inputs[0]);
    const auto x = loadFloats(call.inputs[1]);
    if (dy.size() != x.size() || !sameCount(call.inputs[0], call.outputs[0]))
        return shapeError(call, "has operands of different sizes");
    // d/dx of x * Phi(x) is Phi(x) + x * phi(x), phi(x) = exp(-x^2 / 2) / sqrt(2 pi).
    const double density = kSqrtHalf * std::numbers::inv_sqrtpi;
    for (std::size_t i = 0; i < x.size(); ++i) {
        const double value = x[i];
        const double slope =
            0.5 * (1.0 + std::erf(value * kSqrtHalf)) + value * density * std::exp(-0.5 * value * value);
        dy[i] = static_cast<float>(dy[i] * slope);
    }
    storeFloats(call.outputs[0], dy);
    return {};
}

Result<void> scaleVector(const KernelCall& call) {
    SHARDSCOPE_TRY(expectOperands(call, 2, 1));
    auto x = loadFloats(call.inputs[0]);
    const auto v = loadFloats(call.inputs[1]);
    if (v.empty() || x.size() % v.size() != 0 || !sameCount(call.inputs[0], call.outputs[0]))
        return shapeError(call, "has operands of different sizes");
    for (std::size_t i = 0; i < x.size(); ++i) x[i] *= v[i % v.size()];
    storeFloats(call.outputs[0], x);
    return {};
}

Result<void> scaleVectorGrad(const KernelCall& call) {
    SHARDSCOPE_TRY(expectOperands(call, 3, 2));
    auto dy = loadFloats(call.inputs[0]);
    const auto x = loadFloats(call.inputs[1]), v = loadFloats(call.inputs[2]);
    if (v.empty() || x.size() != dy.size() || x.size() % v.size() != 0)
        return shapeError(call, "has operands of different sizes");
    std::vector<double> dv(v.size(), 0.0);
    for (std::size_t i = 0; i < x.size(); ++i) {
        dv[i % v.size()] += static_cast<double>(dy[i]) * x[i];
        dy[i] *= v[i % v.size()];
    }
    storeFloats(call.outputs[0], dy);
    storeFloats(call.outputs[1], std::vector<float>(dv.begin(), dv.end()));
    return {};
}

Result<void> embedding(const KernelCall& call) {
    SHARDSCOPE_TRY(expectOperands(call, 2, 1));
    const auto ids = loadIntegers(call.inputs[0]);
    const auto table = loadFloats(call.inputs[1]);
    const std::size_t width = lastOf(call.inputs[1]);
    if (width == 0 || call.outputs[0].elements() != static_cast<std::int64_t>(ids.size() * width))
        return shapeError(call, "has operands of different sizes");
    std::vector<float> y;
    y.reserve(ids.size() * width);
    for (std::int64_t id : ids) {
        if (id < 0 || static_cast<std::size_t>(id) >= table.size() / width)
            return core::fail(core::ErrorCode::Input,
                              fmt::format("a token id is {}, expected 0 to {}", id, table.size() / width - 1));
        const auto row = table.begin() + static_cast<std::ptrdiff_t>(static_cast<std::size_t>(id) * width);
        y.insert(y.end(), row, row + static_cast<std::ptrdiff_t>(width));
    }
    storeFloats(call.outputs[0], y);
    return {};
}

Result<void> embeddingGrad(const KernelCall& call) {
    SHARDSCOPE_TRY(expectOperands(call, 2, 1));
    const auto dy = loadFloats(call.inputs[0]);
    const auto ids = loadIntegers(call.inputs[1]);
    const std::size_t width = lastOf(call.outputs[0]);
    std::vector<double> dw(static_cast<std::size_t>(call.outputs[0].elements()), 0.0);
    if (dy.size() != ids.size() * width) return shapeError(call, "has operands of different sizes");
    for (std::size_t i = 0; i < ids.size(); ++i) {
        const auto row = static_cast<std::size_t>(ids[i]) * width;
        if (ids[i] < 0 || row + width > dw.size()) return shapeError(call, "has a token id outside the table");
        for (std::size_t j = 0; j < width; ++j) dw[row + j] += dy[i * width + j];
    }
    storeFloats(call.outputs[0], std::vector<float>(dw.begin(), dw.end()));
    return {};
}

Result<void> scale(const KernelCall& call) {
    SHARDSCOPE_TRY(expectOperands(call, 1, 1));
    if (!sameCount(call.inputs[0], call.outputs[0])) return shapeError(call, "has operands of different sizes");
    auto x = loadFloats(call.inputs[0]);
    for (float& value : x) value = static_cast<float>(value * call.kernel.scalar);
    storeFloats(call.outputs[0], x);
    return {};
}

Result<void> copyTensor(const KernelCall& call) {
    SHARDSCOPE_TRY(expectOperands(call, 1, 1));
    if (!sameCount(call.inputs[0], call.outputs[0])) return shapeError(call, "has operands of different sizes");
    storeFloats(call.outputs[0], loadFloats(call.inputs[0]));
    return {};
}

}  // namespace shardscope::runtime::reference
