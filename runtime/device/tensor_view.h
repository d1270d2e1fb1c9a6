#pragma once

// A tensor as a kernel sees it: where it starts, how it is laid out. Views own nothing.

#include <cstddef>
#include <utility>

#include "core/base/dtype.h"

namespace shardscope::runtime {

struct TensorView {
    std::byte* data = nullptr;
    core::DType dtype = core::DType::F32;
    core::Shape shape;
    core::Shape strides;  ///< elements, by dimension; empty: contiguous (last dimension fastest)

    [[nodiscard]] std::int64_t elements() const { return core::elementsOf(shape); }
    [[nodiscard]] std::int64_t bytes() const { return elements() * core::sizeOf(dtype); }
};

}  // namespace shardscope::runtime
