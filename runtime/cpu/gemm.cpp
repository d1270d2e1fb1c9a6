#include <dnnl.h>
#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "runtime/cpu/cpu_kernels.h"
#include "runtime/cpu/views.h"

namespace shardscope::runtime::cpu {

using core::Result;

namespace {

void addToRows(float* values, std::int64_t rows, std::int64_t columns, const float* added) {
    for (std::int64_t r = 0; r < rows; ++r)
        for (std::int64_t c = 0; c < columns; ++c) values[r * columns + c] += added[c];
}

/// [B,C,H,W] images as [B*patches, C*p*p], patches row-major, the order of a convolution weight's columns.
struct Patches {
    std::int64_t batch = 0, channels = 0, height = 0, width = 0, patch = 0;

    Patches(const TensorView& images, std::int64_t side) {
        if (images.shape.size() != 4 || side <= 0 || images.shape[2] % side != 0 || images.shape[3] % side != 0) return;
        batch = images.shape[0];
        channels = images.shape[1];
        height = images.shape[2];
        width = images.shape[3];
        patch = side;
    }
    [[nodiscard]] bool valid() const { return patch > 0; }
    [[nodiscard]] std::int64_t rows() const { return batch * (height / patch) * (width / patch); }
    [[nodiscard]] std::int64_t columns() const { return channels * patch * patch; }
    [[nodiscard]] std::vector<float> unfold(const float* images) const {
        std::vector<float> result(static_cast<std::size_t>(rows() * columns()));
        float* to = result.data();
        for (std::int64_t b = 0; b < batch; ++b)
            for (std::int64_t top = 0; top < height; top += patch)
                for (std::int64_t left = 0; left < width; left += patch)
                    for (std::int64_t c = 0; c < channels; ++c)
                        for (std::int64_t y = 0; y < patch; ++y, to += patch)
                            std::copy_n(images + ((b * channels + c) * height + top + y) * width + left, patch, to);
        return result;
    }
};

}  // namespace

void columnSums(const float* values, std::int64_t rows, std::int64_t columns, float* sums) {
    std::vector<double> exact(static_cast<std::size_t>(columns), 0.0);
    for (std::int64_t r = 0; r < rows; ++r)
        for (std::int64_t c = 0; c < columns; ++c)
            exact[static_cast<std::size_t>(c)] += static_cast<double>(values[r * columns + c]);
    std::transform(exact.begin(), exact.end(), sums, [](double sum) { return static_cast<float>(sum); });
}

Result<void> multiply(const Product& p, const float* a, const float* b, float* c) {
    const auto orTight = [](std::int64_t stride, std::int64_t tight) { return stride == 0 ? tight : stride; };
    if (p.m == 0 || p.n == 0) return {};
    const dnnl_status_t status =
        dnnl_sgemm(p.transposeA ? 'T' : 'N', p.transposeB ? 'T' : 'N', p.m, p.n, p.k, p.alpha, a,
                   orTight(p.strideA, p.transposeA ? p.m : p.k), b, orTight(p.strideB, p.transposeB ? p.k : p.n),
                   p.beta, c, orTight(p.strideC, p.n));
    if (status == dnnl_success) return {};
    return core::fail(core::ErrorCode::Unsupported, fmt::format("oneDNN cannot multiply {} x {} by {} x {} (status {})",
                                                                p.m, p.k, p.k, p.n, static_cast<int>(status)));
}

Result<bool> linear(const KernelCall& call) {
    if (call.inputs.size() < 2 || call.outputs.empty()) return false;
    const float *x = floatsOf(call.inputs[0]), *w = floatsOf(call.inputs[1]);
    float* y = floatsOf(call.outputs[0]);
    const float* bias = call.inputs.size() > 2 ? floatsOf(call.inputs[2]) : nullptr;
    const std::int64_t in = lastOf(call.inputs[0]), out = lastOf(call.outputs[0]);
    if (x == nullptr || w == nullptr || y == nullptr || in <= 0 || (call.inputs.size() > 2 && bias == nullptr))
        return false;
    const std::int64_t rows = call.inputs[0].elements() / in;
    if (call.inputs[1].elements() != in * out || call.outputs[0].elements() != rows * out ||
        (bias != nullptr && call.inputs[2].elements() != out))
        return false;
    SHARDSCOPE_TRY(multiply({rows, out, in, false, !call.kernel.weightTransposed}, x, w, y));
    if (bias != nullptr) addToRows(y, rows, out, bias);
    return true;
}

Result<bool> linearInputGrad(const KernelCall& call) {
    if (call.inputs.size() < 2 || call.outputs.empty()) return false;
    const float *dy = floatsOf(call.inputs[0]), *w = floatsOf(call.inputs[1]);
    float* dx = floatsOf(call.outputs[0]);
    const std::int64_t out = lastOf(call.inputs[0]), in = lastOf(call.outputs[0]);
    if (dy == nullptr || w == nullptr || dx == nullptr || out <= 0) return false;
    const std::int64_t rows = call.inputs[0].elements() / out;
    if (call.inputs[1].elements() != in * out || call.outputs[0].elements() != rows * in) return false;
    SHARDSCOPE_TRY(multiply({rows, in, out, false, call.kernel.weightTransposed}, dy, w, dx));
    return true;
}

Result<bool> linearWeightGrad(const KernelCall& call) {
    if (call.inputs.size() < 2 || call.outputs.empty()) return false;
    const float *dy = floatsOf(call.inputs[0]), *x = floatsOf(call.inputs[1]);
    float* dw = floatsOf(call.outputs[0]);
    const std::int64_t out = lastOf(call.inputs[0]), in = lastOf(call.inputs[1]);
    if (dy == nullptr || x == nullptr || dw == nullptr || out <= 0) return false;
    const std::int64_t rows = call.inputs[0].elements() / out;
    if (call.inputs[1].elements() != rows * in || call.outputs[0].elements() != in * out) return false;
    if (call.kernel.weightTransposed) {
        SHARDSCOPE_TRY(multiply({in, out, rows, true, false}, x, dy, dw));
    } else {
        SHARDSCOPE_TRY(multiply({out, in, rows, true, false}, dy, x, dw));
    }
    return true;
}

Result<bool> biasGrad(const KernelCall& call) {
    if (call.inputs.empty() || call.outputs.empty()) return false;
    const float* dy = floatsOf(call.inputs[0]);
    float* db = floatsOf(call.outputs[0]);
    const std::int64_t out = call.outputs[0].elements();
    if (dy == nullptr || db == nullptr || out <= 0 || call.inputs[0].elements() % out != 0) return false;
    columnSums(dy, call.inputs[0].elements() / out, out, db);
    return true;
}

Result<bool> patchEmbed(const KernelCall& call) {
    if (call.inputs.size() < 3 || call.outputs.empty() || call.inputs[1].shape.size() != 4) return false;
    const float *images = floatsOf(call.inputs[0]), *w = floatsOf(call.inputs[1]), *bias = floatsOf(call.inputs[2]);
    float* y = floatsOf(call.outputs[0]);
    const Patches patches(call.inputs[0], call.inputs[1].shape[3]);
    const std::int64_t hidden = call.inputs[1].shape[0];
    if (images == nullptr || w == nullptr || bias == nullptr || y == nullptr || !patches.valid() ||
        call.outputs[0].elements() != patches.rows() * hidden || call.inputs[2].elements() != hidden ||
        call.inputs[1].elements() != hidden * patches.columns())
        return false;
    const std::vector<float> columns = patches.unfold(images);
    SHARDSCOPE_TRY(multiply({patches.rows(), hidden, patches.columns(), false, true}, columns.data(), w, y));
    addToRows(y, patches.rows(), hidden, bias);
    return true;
}

Result<bool> patchEmbedWeightGrad(const KernelCall& call) {
    if (call.inputs.size() < 2 || call.outputs.empty() || call.outputs[0].shape.size() != 4) return false;
    const float *dy = floatsOf(call.inputs[0]), *images = floatsOf(call.inputs[1]);
    float* dw = floatsOf(call.outputs[0]);
    const Patches patches(call.inputs[1], call.outputs[0].shape[3]);
    const std::int64_t hidden = call.outputs[0].shape[0];
    float* db = call.outputs.size() > 1 ? floatsOf(call.outputs[1]) : nullptr;
    if (dy == nullptr || images == nullptr || dw == nullptr || !patches.valid() ||
        call.inputs[0].elements() != patches.rows() * hidden ||
        call.outputs[0].elements() != hidden * patches.columns() ||
        (call.outputs.size() > 1 && (db == nullptr || call.outputs[1].elements() != hidden)))
        return false;
    const std::vector<float> columns = patches.unfold(images);
    SHARDSCOPE_TRY(multiply({hidden, patches.columns(), patches.rows(), true, false}, dy, columns.data(), dw));
    if (db != nullptr) columnSums(dy, patches.rows(), hidden, db);
    return true;
}

}  // namespace shardscope::runtime::cpu
