#include <dnnl.h>
#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "runtime/cpu/cpu_kernels.h"
#include "runtime/cpu/loops.h"
#include "runtime/cpu/primitives.h"
#include "runtime/cpu/views.h"

namespace shardscope::runtime::cpu {

using core::Result;

namespace {

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
    loops().columnSums(values, rows, columns, exact.data());
    std::transform(exact.begin(), exact.end(), sums, [](double sum) { return static_cast<float>(sum); });
}

namespace {

/// Rows of so many floats lie a multiple of 4 KiB apart: the same elements of all rows fall into the same set of the
/// first cache. oneDNN's matmul primitive then takes twice the time, its sgemm does not.
bool inOneSet(std::int64_t floats) {
    return floats % 1024 == 0;
}

Result<bool> multiply(const MatrixProduct& p, const float* a, const float* b, float* c) {
    if (p.m == 0 || p.n == 0) return true;
    const dnnl_status_t status = dnnl_sgemm(p.transposeA ? 'T' : 'N', p.transposeB ? 'T' : 'N', p.m, p.n, p.k, 1, a,
                                            p.transposeA ? p.m : p.k, b, p.transposeB ? p.k : p.n, 0, c, p.n);
    return outcomeOf(status, fmt::format("the product of {} x {} and {} x {}", p.m, p.k, p.k, p.n));
}

/// Whether products of that dtype are oneDNN's to do.
bool multiplies(core::DType dtype) {
    return dtype == core::DType::F32 || (dtype == core::DType::BF16 && multipliesBfloat16());
}

/// A product without a bias: float32 through sgemm, which is as fast as the primitive on round shapes and faster on
/// those above; bfloat16 through the primitive.
Result<bool> multiply(Primitives& primitives, const MatrixProduct& p, const std::byte* a, const std::byte* b,
                      std::byte* c) {
    if (p.dtype == core::DType::BF16) return primitives.multiply(p, a, b, nullptr, c);
    return multiply(p, reinterpret_cast<const float*>(a), reinterpret_cast<const float*>(b),
                    reinterpret_cast<float*>(c));
}

}  // namespace

Result<bool> linear(Primitives& primitives, const KernelCall& call) {
    if (call.inputs.size() < 2 || call.outputs.empty()) return false;
    const core::DType dtype = call.inputs[0].dtype;
    const std::byte *x = elementsIn(call.inputs[0], dtype), *w = elementsIn(call.inputs[1], dtype);
    std::byte* y = elementsIn(call.outputs[0], dtype);
    const bool hasBias = call.inputs.size() > 2;
    const std::byte* bias = hasBias ? elementsIn(call.inputs[2], dtype) : nullptr;
    const std::int64_t in = lastOf(call.inputs[0]), out = lastOf(call.outputs[0]);
    if (!multiplies(dtype) || x == nullptr || w == nullptr || y == nullptr || in <= 0 || (hasBias && bias == nullptr))
        return false;
    const std::int64_t rows = call.inputs[0].elements() / in;
    if (call.inputs[1].elements() != in * out || call.outputs[0].elements() != rows * out ||
        (hasBias && call.inputs[2].elements() != out))
        return false;
    const MatrixProduct product{rows, out, in, false, !call.kernel.weightTransposed, hasBias, dtype};
    if (dtype == core::DType::BF16 || (hasBias && !inOneSet(in) && !inOneSet(out)))
        return primitives.multiply(product, x, w, bias, y);
    SHARDSCOPE_ASSIGN(const bool multiplied, multiply(primitives, product, x, w, y));
    auto* sums = reinterpret_cast<float*>(y);
    if (multiplied && hasBias) loops().addToRows(sums, reinterpret_cast<const float*>(bias), sums, rows, out);
    return multiplied;
}

Result<bool> linearInputGrad(Primitives& primitives, const KernelCall& call) {
    if (call.inputs.size() < 2 || call.outputs.empty()) return false;
    const core::DType dtype = call.inputs[0].dtype;
    const std::byte *dy = elementsIn(call.inputs[0], dtype), *w = elementsIn(call.inputs[1], dtype);
    std::byte* dx = elementsIn(call.outputs[0], dtype);
    const std::int64_t out = lastOf(call.inputs[0]), in = lastOf(call.outputs[0]);
    if (!multiplies(dtype) || dy == nullptr || w == nullptr || dx == nullptr || out <= 0) return false;
    const std::int64_t rows = call.inputs[0].elements() / out;
    if (call.inputs[1].elements() != in * out || call.outputs[0].elements() != rows * in) return false;
    return multiply(primitives, {rows, in, out, false, call.kernel.weightTransposed, false, dtype}, dy, w, dx);
}

Result<bool> linearWeightGrad(Primitives& primitives, const KernelCall& call) {
    if (call.inputs.size() < 2 || call.outputs.empty()) return false;
    const core::DType dtype = call.inputs[0].dtype;
    const std::byte *dy = elementsIn(call.inputs[0], dtype), *x = elementsIn(call.inputs[1], dtype);
    std::byte* dw = elementsIn(call.outputs[0], dtype);
    const std::int64_t out = lastOf(call.inputs[0]), in = lastOf(call.inputs[1]);
    if (!multiplies(dtype) || dy == nullptr || x == nullptr || dw == nullptr || out <= 0) return false;
    const std::int64_t rows = call.inputs[0].elements() / out;
    if (call.inputs[1].elements() != rows * in || call.outputs[0].elements() != in * out) return false;
    if (call.kernel.weightTransposed)
        return multiply(primitives, {in, out, rows, true, false, false, dtype}, x, dy, dw);
    return multiply(primitives, {out, in, rows, true, false, false, dtype}, dy, x, dw);
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
    SHARDSCOPE_ASSIGN(const bool multiplied,
                      multiply({patches.rows(), hidden, patches.columns(), false, true}, columns.data(), w, y));
    if (multiplied) loops().addToRows(y, bias, y, patches.rows(), hidden);
    return multiplied;
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
    SHARDSCOPE_ASSIGN(const bool multiplied,
                      multiply({hidden, patches.columns(), patches.rows(), true, false}, dy, columns.data(), dw));
    if (multiplied && db != nullptr) columnSums(dy, patches.rows(), hidden, db);
    return multiplied;
}

}  // namespace shardscope::runtime::cpu
