#pragma once

// Element types and tensor shapes.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/quantities.h"

namespace shardscope::core {

enum class DType : std::uint8_t { F64, F32, BF16, F16, I64, I32, U64, U8, Bool };

/// Bytes of one element.
[[nodiscard]] constexpr std::int64_t sizeOf(DType type) {
    switch (type) {
        case DType::F64:
        case DType::I64:
        case DType::U64: return 8;
        case DType::F32:
        case DType::I32: return 4;
        case DType::BF16:
        case DType::F16: return 2;
        case DType::U8:
        case DType::Bool: return 1;
    }
    return 0;
}

/// Of floating point: such tensors can have gradients.
[[nodiscard]] constexpr bool isFloat(DType type) {
    return type == DType::F64 || type == DType::F32 || type == DType::BF16 || type == DType::F16;
}

/// "float32", "bfloat16", ...: PyTorch's names.
[[nodiscard]] std::string_view nameOf(DType type);
/// Accepts PyTorch's names and the short ones of torchtitan and the recordings ("fp32", "bf16", "f32", ...).
[[nodiscard]] std::optional<DType> dtypeFromName(std::string_view name);

/// Dimensions, outermost first. Empty: a scalar (one element).
using Shape = std::vector<std::int64_t>;

/// Product of the dimensions. Shapes read from files are checked for overflow by their reader, so this one may assume
/// that the product fits.
[[nodiscard]] inline std::int64_t elementsOf(const Shape& shape) {
    std::int64_t n = 1;
    for (std::int64_t d : shape) n *= d;
    return n;
}

/// "[3, 224, 224]"
[[nodiscard]] std::string toString(const Shape& shape);

}  // namespace shardscope::core
