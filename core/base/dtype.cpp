#include "core/base/dtype.h"

#include <array>
#include <utility>

namespace shardscope::core {

std::string_view nameOf(DType type) {
    switch (type) {
        case DType::F64: return "float64";
        case DType::F32: return "float32";
        case DType::BF16: return "bfloat16";
        case DType::F16: return "float16";
        case DType::I64: return "int64";
        case DType::I32: return "int32";
        case DType::U64: return "uint64";
        case DType::U8: return "uint8";
        case DType::Bool: return "bool";
    }
    return "?";
}

std::optional<DType> dtypeFromName(std::string_view name) {
    static constexpr std::array<std::pair<std::string_view, DType>, 24> kNames{{
        {"float64", DType::F64}, {"fp64", DType::F64},      {"f64", DType::F64},   {"F64", DType::F64},
        {"float32", DType::F32}, {"fp32", DType::F32},      {"f32", DType::F32},   {"F32", DType::F32},
        {"float", DType::F32},   {"bfloat16", DType::BF16}, {"bf16", DType::BF16}, {"BF16", DType::BF16},
        {"float16", DType::F16}, {"fp16", DType::F16},      {"f16", DType::F16},   {"F16", DType::F16},
        {"half", DType::F16},    {"int64", DType::I64},     {"I64", DType::I64},   {"int32", DType::I32},
        {"I32", DType::I32},     {"uint64", DType::U64},    {"uint8", DType::U8},  {"bool", DType::Bool},
    }};
    for (const auto& [known, type] : kNames)
        if (known == name) return type;
    return std::nullopt;
}

std::string toString(const Shape& shape) {
    std::string text = "[";
    for (std::size_t i = 0; i < shape.size(); ++i) {
        if (i > 0) text += ", ";
        text += std::to_string(shape[i]);
    }
    return text + "]";
}

}  // namespace shardscope::core
