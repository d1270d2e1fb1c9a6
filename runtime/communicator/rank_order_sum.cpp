#include "runtime/communicator/rank_order_sum.h"

#include <algorithm>
#include <array>
#include <cassert>
#include <cstring>

#include "runtime/device/elements.h"

namespace shardscope::runtime {

namespace {

constexpr std::size_t kBlock = 2048;  // elements whose sums stay in the first cache level

}  // namespace

void sumInRankOrder(std::span<const std::byte* const> parts, std::span<std::byte> target, core::DType dtype,
                    bool average) {
    assert(!parts.empty());
    const auto width = static_cast<std::size_t>(core::sizeOf(dtype));
    const std::size_t elements = target.size() / width;
    assert(elements * width == target.size());
    std::array<float, kBlock> sum, plain;
    for (std::size_t begin = 0; begin < elements; begin += kBlock) {
        const std::size_t count = std::min(kBlock, elements - begin);
        const std::size_t at = begin * width;
        for (std::size_t part = 0; part < parts.size(); ++part) {
            float* values = part == 0 ? sum.data() : plain.data();
            if (dtype == core::DType::F32) {
                std::memcpy(values, parts[part] + at, count * width);
            } else {
                // The view only reads; TensorView has no const form.
                auto* bytes = const_cast<std::byte*>(parts[part]) + at;
                const auto loaded = loadFloats({bytes, dtype, {static_cast<std::int64_t>(count)}, {}});
                std::copy(loaded.begin(), loaded.end(), values);
            }
            if (part > 0)
                for (std::size_t i = 0; i < count; ++i) sum[i] += plain[i];
        }
        if (average)
            for (std::size_t i = 0; i < count; ++i) sum[i] /= static_cast<float>(parts.size());
        storeFloats({target.data() + at, dtype, {static_cast<std::int64_t>(count)}, {}}, std::span(sum).first(count));
    }
}

}  // namespace shardscope::runtime
