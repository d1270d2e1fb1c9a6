#pragma once

// Tensors as the CPU's kernels read them.

#include "runtime/device/device.h"

namespace shardscope::runtime::cpu {

/// The elements of a contiguous tensor; null: it is none, or of another dtype.
inline std::byte* elementsIn(const TensorView& view, core::DType dtype) {
    if (view.dtype != dtype) return nullptr;
    std::int64_t stride = 1;
    for (std::size_t d = view.shape.size(); !view.strides.empty() && d-- > 0;) {
        if (view.shape[d] != 1 && view.strides[d] != stride) return nullptr;
        stride *= view.shape[d];
    }
    return view.data;
}

/// The elements of a contiguous float32 tensor; null: it is none.
inline float* floatsOf(const TensorView& view) {
    return reinterpret_cast<float*>(elementsIn(view, core::DType::F32));
}

inline std::int64_t lastOf(const TensorView& view) {
    return view.shape.empty() ? 1 : view.shape.back();
}

/// Sums of the columns of [rows, columns], added up in double.
void columnSums(const float* values, std::int64_t rows, std::int64_t columns, float* sums);

}  // namespace shardscope::runtime::cpu
