#pragma once

// Strides of dense tensors and of views, in elements: PyTorch's rules for which reshape is a view and how the result of
// an element-wise operation lies in memory. A size that overflows 63 bits is the caller's to refuse beforehand.

#include <optional>
#include <vector>

#include "core/base/dtype.h"
#include "core/model/program.h"

namespace shardscope::core {

using Strides = std::vector<std::int64_t>;

/// Strides of a tensor that lies in the order of its dimensions.
[[nodiscard]] Strides contiguousStrides(const Shape& shape);

/// The tensor's own strides, worked out where they are left empty.
[[nodiscard]] Strides stridesOf(const Tensor& tensor);

/// True if elements in the order of `shape` lie one after another (dimensions of size 1 may have any stride).
[[nodiscard]] bool isContiguous(const Shape& shape, const Strides& strides);

/// Strides with which the same memory is seen in another shape of equal size; none if that needs a copy.
[[nodiscard]] std::optional<Strides> viewStrides(const Shape& from, const Strides& strides, const Shape& to);

/// Strides of a dense tensor whose dimensions are ordered in memory as those of the given one
/// (what `empty_like` and element-wise operations give).
[[nodiscard]] Strides denseStrides(const Shape& shape, const Strides& like);

}  // namespace shardscope::core
