#include <fmt/format.h>

#include "runtime/device/elements.h"
#include "runtime/device/reference_kernels.h"

namespace shardscope::runtime::reference {

using core::Result;

Result<void> expectOperands(const KernelCall& call, std::size_t inputs, std::size_t outputs) {
    if (call.inputs.size() >= inputs && call.outputs.size() >= outputs) return {};
    return shapeError(call, fmt::format("has {} inputs and {} outputs, expected at least {} and {}", call.inputs.size(),
                                        call.outputs.size(), inputs, outputs));
}

tl::unexpected<core::Error> shapeError(const KernelCall& call, const std::string& what) {
    return core::fail(core::ErrorCode::Unsupported,
                      fmt::format("kernel {} ({}) {}", core::nameOf(call.kernel.kind), call.kernel.op, what));
}

namespace {

/// c[m,n] = a[m,k] b[k,n], either operand possibly stored transposed.
struct Product {
    std::int64_t m, n, k;
    bool transposeA = false, transposeB = false;  ///< a is stored [k,m], b is stored [n,k]
};

void multiply(const Product& p, const float* a, const float* b, float* c) {
    std::vector<double> row(static_cast<std::size_t>(p.n));
    for (std::int64_t i = 0; i < p.m; ++i) {
        std::fill(row.begin(), row.end(), 0.0);
        for (std::int64_t l = 0; l < p.k; ++l) {
            const double left = p.transposeA ? a[l * p.m + i] : a[i * p.k + l];
            for (std::int64_t j = 0; j < p.n; ++j)
                row[static_cast<std::size_t>(j)] +=
                    left * static_cast<double>(p.transposeB ? b[j * p.k + l] : b[l * p.n + j]);
        }
        for (std::int64_t j = 0; j < p.n; ++j) c[i * p.n + j] = static_cast<float>(row[static_cast<std::size_t>(j)]);
    }
}

std::int64_t lastOf(const TensorView& view) {
    return view.shape.empty() ? 1 : view.shape.back();
}

/// [B,C,H,W] images -> [B*patches, C*p*p], patches row-major, the order of a convolution weight's columns.
struct Patches {
    std::int64_t batch, channels, height, width, patch;
    [[nodiscard]] std::int64_t rows() const { return batch * (height / patch) * (width / patch); }
    [[nodiscard]] std::int64_t columns() const { return channels * patch * patch; }
};

std::vector<float> unfold(const Patches& p, const std::vector<float>& images) {
    std::vector<float> result;
    result.reserve(images.size());
    for (std::int64_t b = 0; b < p.batch; ++b)
        for (std::int64_t top = 0; top + p.patch <= p.height; top += p.patch)
            for (std::int64_t left = 0; left + p.patch <= p.width; left += p.patch)
                for (std::int64_t c = 0; c < p.channels; ++c)
                    for (std::int64_t y = 0; y < p.patch; ++y)
                        for (std::int64_t x = 0; x < p.patch; ++x)
                            result.push_back(images[static_cast<std::size_t>(
                                ((b * p.channels + c) * p.height + top + y) * p.width + left + x)]);
    return result;
}

Result<Patches> patchesOf(const KernelCall& call, const TensorView& images, std::int64_t patch) {
    if (images.shape.size() != 4 || patch <= 0) return shapeError(call, "needs images [B,C,H,W] and a square patch");
    const Patches p{images.shape[0], images.shape[1], images.shape[2], images.shape[3], patch};
    if (p.height % patch != 0 || p.width % patch != 0)
        return shapeError(
            call, fmt::format("has images {} that patches of {} do not divide", core::toString(images.shape), patch));
    return p;
}

std::vector<float> columnSums(const std::vector<float>& values, std::int64_t columns) {
    std::vector<double> sums(static_cast<std::size_t>(columns), 0.0);
    for (std::size_t i = 0; i < values.size(); ++i) sums[i % static_cast<std::size_t>(columns)] += values[i];
    return {sums.begin(), sums.end()};
}

}  // namespace

Result<void> linear(const KernelCall& call) {
    SHARDSCOPE_TRY(expectOperands(call, 2, 1));
    const std::int64_t in = lastOf(call.inputs[0]), out = lastOf(call.outputs[0]);
    const std::int64_t rows = call.inputs[0].elements() / std::max<std::int64_t>(in, 1);
    if (call.inputs[1].elements() != in * out || call.outputs[0].elements() != rows * out)
        return shapeError(call,
                          fmt::format("has x {}, weight {}, y {}", core::toString(call.inputs[0].shape),
                                      core::toString(call.inputs[1].shape), core::toString(call.outputs[0].shape)));
    const auto x = loadFloats(call.inputs[0]), w = loadFloats(call.inputs[1]);
    const auto bias = call.inputs.size() > 2 ? loadFloats(call.inputs[2]) : std::vector<float>{};
    std::vector<float> y(static_cast<std::size_t>(rows * out));
    for (std::int64_t r = 0; r < rows; ++r)
        for (std::int64_t o = 0; o < out; ++o) {
            double sum = bias.empty() ? 0.0 : bias[static_cast<std::size_t>(o)];
            for (std::int64_t i = 0; i < in; ++i) {
                const std::int64_t at = call.kernel.weightTransposed ? i * out + o : o * in + i;
                sum += static_cast<double>(x[static_cast<std::size_t>(r * in + i)]) * w[static_cast<std::size_t>(at)];
            }
            y[static_cast<std::size_t>(r * out + o)] = static_cast<float>(sum);
        }
    storeFloats(call.outputs[0], y);
    return {};
}

Result<void> linearInputGrad(const KernelCall& call) {
    SHARDSCOPE_TRY(expectOperands(call, 2, 1));
    const std::int64_t out = lastOf(call.inputs[0]), in = lastOf(call.outputs[0]);
    const std::int64_t rows = call.inputs[0].elements() / std::max<std::int64_t>(out, 1);
    if (call.inputs[1].elements() != in * out || call.outputs[0].elements() != rows * in)
        return shapeError(call, "has operands of different sizes");
    const auto dy = loadFloats(call.inputs[0]), w = loadFloats(call.inputs[1]);
    std::vector<float> dx(static_cast<std::size_t>(rows * in));
    multiply({rows, in, out, false, call.kernel.weightTransposed}, dy.data(), w.data(), dx.data());
    storeFloats(call.outputs[0], dx);
    return {};
}

Result<void> linearWeightGrad(const KernelCall& call) {
    SHARDSCOPE_TRY(expectOperands(call, 2, 1));
    const std::int64_t out = lastOf(call.inputs[0]), in = lastOf(call.inputs[1]);
    const std::int64_t rows = call.inputs[0].elements() / std::max<std::int64_t>(out, 1);
    if (call.inputs[1].elements() != rows * in || call.outputs[0].elements() != in * out)
        return shapeError(call, "has operands of different sizes");
    const auto dy = loadFloats(call.inputs[0]), x = loadFloats(call.inputs[1]);
    std::vector<float> dw(static_cast<std::size_t>(in * out));
    if (call.kernel.weightTransposed)
        multiply({in, out, rows, true, false}, x.data(), dy.data(), dw.data());
    else
        multiply({out, in, rows, true, false}, dy.data(), x.data(), dw.data());
    storeFloats(call.outputs[0], dw);
    return {};
}

Result<void> biasGrad(const KernelCall& call) {
    SHARDSCOPE_TRY(expectOperands(call, 1, 1));
    const std::int64_t out = call.outputs[0].elements();
    if (out <= 0 || call.inputs[0].elements() % out != 0) return shapeError(call, "has operands of different sizes");
    storeFloats(call.outputs[0], columnSums(loadFloats(call.inputs[0]), out));
    return {};
}

Result<void> patchEmbed(const KernelCall& call) {
    SHARDSCOPE_TRY(expectOperands(call, 3, 1));
    if (call.inputs[1].shape.size() != 4) return shapeError(call, "needs a weight [h,C,p,p]");
    SHARDSCOPE_ASSIGN(const Patches p, patchesOf(call, call.inputs[0], call.inputs[1].shape[3]));
    const std::int64_t hidden = call.inputs[1].shape[0];
    if (call.outputs[0].elements() != p.rows() * hidden || call.inputs[1].elements() != hidden * p.columns())
        return shapeError(call, "has operands of different sizes");
    const auto columns = unfold(p, loadFloats(call.inputs[0]));
    const auto w = loadFloats(call.inputs[1]), bias = loadFloats(call.inputs[2]);
    std::vector<float> y(static_cast<std::size_t>(p.rows() * hidden));
    for (std::int64_t r = 0; r < p.rows(); ++r)
        for (std::int64_t o = 0; o < hidden; ++o) {
            double sum = bias[static_cast<std::size_t>(o)];
            for (std::int64_t i = 0; i < p.columns(); ++i)
                sum += static_cast<double>(columns[static_cast<std::size_t>(r * p.columns() + i)]) *
                       w[static_cast<std::size_t>(o * p.columns() + i)];
            y[static_cast<std::size_t>(r * hidden + o)] = static_cast<float>(sum);
        }
    storeFloats(call.outputs[0], y);
    return {};
}

Result<void> patchEmbedWeightGrad(const KernelCall& call) {
    SHARDSCOPE_TRY(expectOperands(call, 2, 1));
    if (call.outputs[0].shape.size() != 4) return shapeError(call, "needs a weight gradient [h,C,p,p]");
    SHARDSCOPE_ASSIGN(const Patches p, patchesOf(call, call.inputs[1], call.outputs[0].shape[3]));
    const std::int64_t hidden = call.outputs[0].shape[0];
    if (call.inputs[0].elements() != p.rows() * hidden) return shapeError(call, "has operands of different sizes");
    const auto dy = loadFloats(call.inputs[0]);
    const auto columns = unfold(p, loadFloats(call.inputs[1]));
    std::vector<float> dw(static_cast<std::size_t>(hidden * p.columns()));
    multiply({hidden, p.columns(), p.rows(), true, false}, dy.data(), columns.data(), dw.data());
    storeFloats(call.outputs[0], dw);
    if (call.outputs.size() > 1) storeFloats(call.outputs[1], columnSums(dy, hidden));
    return {};
}

Result<void> batchedGemm(const KernelCall& call) {
    SHARDSCOPE_TRY(expectOperands(call, 2, 1));
    const TensorView &a = call.inputs[0], &b = call.inputs[1], &c = call.outputs[0];
    if (a.shape.size() < 2 || b.shape.size() < 2) return shapeError(call, "needs matrices");
    const std::int64_t m = a.shape[a.shape.size() - 2], k = lastOf(a), n = lastOf(b);
    const std::int64_t batch = a.elements() / std::max<std::int64_t>(m * k, 1);
    if (b.shape[b.shape.size() - 2] != k || b.elements() != batch * k * n || c.elements() != batch * m * n)
        return shapeError(call, fmt::format("has {} x {} -> {}", core::toString(a.shape), core::toString(b.shape),
                                            core::toString(c.shape)));
    const auto left = loadFloats(a), right = loadFloats(b);
    std::vector<float> result(static_cast<std::size_t>(batch * m * n));
    for (std::int64_t i = 0; i < batch; ++i)
        multiply({m, n, k}, left.data() + i * m * k, right.data() + i * k * n, result.data() + i * m * n);
    storeFloats(c, result);
    return {};
}

}  // namespace shardscope::runtime::reference
