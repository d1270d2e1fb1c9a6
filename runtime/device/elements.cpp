#include "runtime/device/elements.h"

#include <bit>
#include <cassert>
#include <cmath>
#include <cstring>

namespace shardscope::runtime {

std::uint16_t toBfloat16(float value) {
    if (std::isnan(value)) return 0x7fc0;
    const auto bits = std::bit_cast<std::uint32_t>(value);
    return static_cast<std::uint16_t>((bits + 0x7fffu + ((bits >> 16) & 1u)) >> 16);
}

float fromBfloat16(std::uint16_t bits) {
    return std::bit_cast<float>(static_cast<std::uint32_t>(bits) << 16);
}

std::uint16_t toHalf(float value) {
    const auto sign = static_cast<std::uint16_t>(std::signbit(value) ? 0x8000 : 0);
    if (std::isnan(value)) return static_cast<std::uint16_t>(sign | 0x7e00);
    const double magnitude = std::fabs(static_cast<double>(value));
    // 65520 is half way between the largest half (65504) and the next power of two.
    if (magnitude >= 65520.0) return static_cast<std::uint16_t>(sign | 0x7c00);
    if (magnitude == 0) return sign;
    int exponent = std::ilogb(magnitude);
    if (exponent < -14) exponent = -14;
    // Units of the last place at this exponent; nearbyint rounds ties to even.
    const auto units = static_cast<std::uint32_t>(std::nearbyint(std::ldexp(magnitude, 10 - exponent)));
    // A mantissa of 1024 units has the implicit bit; a carry to 2048 moves into the exponent by itself.
    const std::uint32_t encoded = units < 1024 ? units : (static_cast<std::uint32_t>(exponent + 14) << 10) + units;
    return static_cast<std::uint16_t>(sign | encoded);
}

float fromHalf(std::uint16_t bits) {
    const int exponent = (bits >> 10) & 0x1f;
    const int mantissa = bits & 0x3ff;
    double value = 0;
    if (exponent == 31)
        value = mantissa != 0 ? std::nan("") : HUGE_VAL;
    else if (exponent == 0)
        value = std::ldexp(mantissa, -24);
    else
        value = std::ldexp(1024 + mantissa, exponent - 25);
    return static_cast<float>((bits & 0x8000) != 0 ? -value : value);
}

namespace {

/// Calls `visit(logical index, memory index)` for every element.
template <class Visit>
void forEachElement(const TensorView& view, Visit visit) {
    const std::int64_t count = view.elements();
    if (view.strides.empty()) {
        for (std::int64_t i = 0; i < count; ++i) visit(i, i);
        return;
    }
    assert(view.strides.size() == view.shape.size());
    core::Shape position(view.shape.size(), 0);
    std::int64_t offset = 0;
    for (std::int64_t i = 0; i < count; ++i) {
        visit(i, offset);
        for (std::size_t d = view.shape.size(); d-- > 0;) {
            offset += view.strides[d];
            if (++position[d] < view.shape[d]) break;
            offset -= view.strides[d] * view.shape[d];
            position[d] = 0;
        }
    }
}

template <class T>
T readAt(const std::byte* data, std::int64_t index) {
    T value;
    std::memcpy(&value, data + index * static_cast<std::int64_t>(sizeof(T)), sizeof(T));
    return value;
}

template <class T>
void writeAt(std::byte* data, std::int64_t index, T value) {
    std::memcpy(data + index * static_cast<std::int64_t>(sizeof(T)), &value, sizeof(T));
}

}  // namespace

bool isFloat(core::DType dtype) {
    return dtype == core::DType::F32 || dtype == core::DType::BF16 || dtype == core::DType::F16 ||
           dtype == core::DType::F64;
}

std::vector<float> loadFloats(const TensorView& view) {
    std::vector<float> values(static_cast<std::size_t>(view.elements()));
    if (view.dtype == core::DType::F32 && view.strides.empty()) {
        if (!values.empty()) std::memcpy(values.data(), view.data, static_cast<std::size_t>(view.bytes()));
        return values;
    }
    forEachElement(view, [&](std::int64_t i, std::int64_t at) {
        float value = 0;
        switch (view.dtype) {
            case core::DType::F32: value = readAt<float>(view.data, at); break;
            case core::DType::F64: value = static_cast<float>(readAt<double>(view.data, at)); break;
            case core::DType::BF16: value = fromBfloat16(readAt<std::uint16_t>(view.data, at)); break;
            case core::DType::F16: value = fromHalf(readAt<std::uint16_t>(view.data, at)); break;
            case core::DType::Bool: value = readAt<std::uint8_t>(view.data, at) != 0 ? 1.0f : 0.0f; break;
            default: assert(false && "a float tensor"); break;
        }
        values[static_cast<std::size_t>(i)] = value;
    });
    return values;
}

std::vector<std::int64_t> loadIntegers(const TensorView& view) {
    std::vector<std::int64_t> values(static_cast<std::size_t>(view.elements()));
    forEachElement(view, [&](std::int64_t i, std::int64_t at) {
        assert(view.dtype == core::DType::I64 || view.dtype == core::DType::I32);
        values[static_cast<std::size_t>(i)] =
            view.dtype == core::DType::I64 ? readAt<std::int64_t>(view.data, at) : readAt<std::int32_t>(view.data, at);
    });
    return values;
}

void storeFloats(const TensorView& view, std::span<const float> values) {
    assert(static_cast<std::int64_t>(values.size()) == view.elements());
    if (view.dtype == core::DType::F32 && view.strides.empty()) {
        if (!values.empty()) std::memcpy(view.data, values.data(), static_cast<std::size_t>(view.bytes()));
        return;
    }
    forEachElement(view, [&](std::int64_t i, std::int64_t at) {
        const float value = values[static_cast<std::size_t>(i)];
        switch (view.dtype) {
            case core::DType::F32: writeAt(view.data, at, value); break;
            case core::DType::F64: writeAt(view.data, at, static_cast<double>(value)); break;
            case core::DType::BF16: writeAt(view.data, at, toBfloat16(value)); break;
            case core::DType::F16: writeAt(view.data, at, toHalf(value)); break;
            case core::DType::Bool: writeAt(view.data, at, static_cast<std::uint8_t>(value != 0.0f)); break;
            default: assert(false && "a float tensor"); break;
        }
    });
}

}  // namespace shardscope::runtime
