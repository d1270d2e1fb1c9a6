#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include "runtime/cpu/cpu_kernels.h"
#include "runtime/cpu/views.h"

namespace shardscope::runtime::cpu {

namespace {

/// Sum of term(i) over [0, count): in lanes, which the compiler keeps in one register, then in double.
template <class Term>
double sumOf(std::int64_t count, const Term& term) {
    constexpr std::int64_t kLanes = 16;
    std::array<float, kLanes> lanes{};
    std::int64_t i = 0;
    for (; i + kLanes <= count; i += kLanes)
        for (std::int64_t lane = 0; lane < kLanes; ++lane) lanes[static_cast<std::size_t>(lane)] += term(i + lane);
    double sum = 0;
    for (const float lane : lanes) sum += static_cast<double>(lane);
    for (; i < count; ++i) sum += static_cast<double>(term(i));
    return sum;
}

}  // namespace

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
    for (std::int64_t r = 0; r < rows; ++r) {
        const float* row = x + r * width;
        const auto mean =
            static_cast<float>(sumOf(width, [&](std::int64_t i) { return row[i]; }) / static_cast<double>(width));
        const double variance = sumOf(width, [&](std::int64_t i) { return (row[i] - mean) * (row[i] - mean); }) /
                                static_cast<double>(width);
        const auto rstd = static_cast<float>(1 / std::sqrt(variance + call.kernel.scalar));
        float* to = y + r * width;
        for (std::int64_t i = 0; i < width; ++i) to[i] = (row[i] - mean) * rstd * w[i] + bias[i];
        means[r] = mean;
        rstds[r] = rstd;
    }
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
    std::vector<double> weights(static_cast<std::size_t>(width), 0.0), biases(weights);
    std::vector<float> normed(static_cast<std::size_t>(width)), g(normed);
    for (std::int64_t r = 0; r < rows; ++r) {
        const float *row = x + r * width, *gradient = dy + r * width;
        for (std::size_t i = 0; i < normed.size(); ++i) {
            normed[i] = (row[i] - means[r]) * rstds[r];
            g[i] = gradient[i] * w[i];
            weights[i] += static_cast<double>(gradient[i] * normed[i]);
            biases[i] += static_cast<double>(gradient[i]);
        }
        const auto at = [](std::int64_t i) { return static_cast<std::size_t>(i); };
        const auto mean =
            static_cast<float>(sumOf(width, [&](std::int64_t i) { return g[at(i)]; }) / static_cast<double>(width));
        const auto tilt = static_cast<float>(sumOf(width, [&](std::int64_t i) { return g[at(i)] * normed[at(i)]; }) /
                                             static_cast<double>(width));
        float* to = dx + r * width;
        for (std::size_t i = 0; i < normed.size(); ++i) to[i] = rstds[r] * (g[i] - mean - normed[i] * tilt);
    }
    std::transform(weights.begin(), weights.end(), dw, [](double sum) { return static_cast<float>(sum); });
    std::transform(biases.begin(), biases.end(), db, [](double sum) { return static_cast<float>(sum); });
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
    for (std::int64_t i = 0; i < count; ++i) sum[i] = a[i] + b[i];
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
    for (std::int64_t row = 0; row < count; row += width)
        for (std::int64_t i = 0; i < width; ++i) sum[row + i] = x[row + i] + p[i];
    return true;
}

bool copyRows(const TensorView& from, const TensorView& to) {
    if (from.dtype != core::DType::F32 || to.dtype != core::DType::F32 || from.shape != to.shape ||
        from.shape.empty() || from.elements() == 0)
        return false;
    const std::size_t last = from.shape.size() - 1;
    const auto tight = [](const TensorView& view) {
        core::Shape strides(view.shape.size(), 1);
        for (std::size_t d = strides.size() - 1; d-- > 0;) strides[d] = strides[d + 1] * view.shape[d + 1];
        return strides;
    };
    const core::Shape read = from.strides.empty() ? tight(from) : from.strides,
                      written = to.strides.empty() ? tight(to) : to.strides;
    if (read[last] != 1 || written[last] != 1) return false;
    const auto* source = reinterpret_cast<const float*>(from.data);
    auto* target = reinterpret_cast<float*>(to.data);
    core::Shape position(from.shape.size(), 0);
    std::int64_t readAt = 0, writtenAt = 0;
    while (true) {
        std::copy_n(source + readAt, from.shape[last], target + writtenAt);
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

bool concatParts(const KernelCall& call) {
    if (call.inputs.empty() || call.outputs.size() != call.inputs.size() + 1) return false;
    for (std::size_t i = 0; i < call.inputs.size(); ++i)
        if (!copyRows(call.inputs[i], call.outputs[i + 1])) return false;
    return true;
}

}  // namespace shardscope::runtime::cpu
