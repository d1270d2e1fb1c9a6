#pragma once

// Float32 tensors as the CPU's kernels read them.

#include "runtime/device/device.h"

namespace shardscope::runtime::cpu {

/// The elements of a contiguous float32 tensor; null: it is none.
inline float* floatsOf(const TensorView& view) {
    if (view.dtype != core::DType::F32) return nullptr;
    std::int64_t stride = 1;
    for (std::size_t d = view.shape.size(); !view.strides.empty() && d-- > 0;) {
        if (view.shape[d] != 1 && view.strides[d] != stride) return nullptr;
        stride *= view.shape[d];
    }
    return reinterpret_cast<float*>(view.data);
}

inline std::int64_t lastOf(const TensorView& view) {
    return view.shape.empty() ? 1 : view.shape.back();
}

/// Sums of the columns of [rows, columns], added up in double.
void columnSums(const float* values, std::int64_t rows, std::int64_t columns, float* sums);

/// c[m,n] = alpha a[m,k] b[k,n] + beta c, row-major with rows so far apart; an operand that is stored transposed is
/// [k,m] or [n,k].
struct Product {
    std::int64_t m, n, k;
    bool transposeA = false, transposeB = false;
    float alpha = 1, beta = 0;
    std::int64_t strideA = 0, strideB = 0, strideC = 0;  ///< elements; 0: without gaps
};
[[nodiscard]] core::Result<void> multiply(const Product& product, const float* a, const float* b, float* c);

}  // namespace shardscope::runtime::cpu
