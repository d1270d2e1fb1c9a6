#pragma once

// Elements of any float dtype as float, in logical order, whatever the layout. The reference kernels compute on these:
// load, plain loop, store. Storing rounds once to the tensor's dtype, as PyTorch rounds every operation's result.

#include <cstdint>
#include <span>
#include <vector>

#include "runtime/device/tensor_view.h"

namespace shardscope::runtime {

/// Round to nearest, ties to even.
[[nodiscard]] std::uint16_t toBfloat16(float value);
[[nodiscard]] float fromBfloat16(std::uint16_t bits);
[[nodiscard]] std::uint16_t toHalf(float value);
[[nodiscard]] float fromHalf(std::uint16_t bits);

/// F32, BF16, F16 (and F64, narrowed); of Bool 0 and 1.
[[nodiscard]] std::vector<float> loadFloats(const TensorView& view);
/// I64 or I32.
[[nodiscard]] std::vector<std::int64_t> loadIntegers(const TensorView& view);
/// `values` must hold view.elements() values. Bool: whether they are not 0.
void storeFloats(const TensorView& view, std::span<const float> values);

[[nodiscard]] bool isFloat(core::DType dtype);

}  // namespace shardscope::runtime
