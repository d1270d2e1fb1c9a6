#include "core/model/tensor_layout.h"

#include <algorithm>
#include <numeric>

namespace shardscope::core {

Strides contiguousStrides(const Shape& shape) {
    Strides strides(shape.size());
    std::int64_t step = 1;
    for (std::size_t i = shape.size(); i-- > 0;) {
        strides[i] = step;
        step *= shape[i];
    }
    return strides;
}

Strides stridesOf(const Tensor& tensor) {
    return tensor.strides.empty() ? contiguousStrides(tensor.shape) : tensor.strides;
}

bool isContiguous(const Shape& shape, const Strides& strides) {
    std::int64_t step = 1;
    for (std::size_t i = shape.size(); i-- > 0;) {
        if (shape[i] == 1) continue;
        if (strides[i] != step) return false;
        step *= shape[i];
    }
    return true;
}

std::optional<Strides> viewStrides(const Shape& from, const Strides& strides, const Shape& to) {
    // Walks both shapes from the inside: runs of old dimensions that lie evenly in memory are matched with runs of new
    // ones.
    Strides result(to.size());
    if (from.empty()) {
        std::fill(result.begin(), result.end(), 1);
        return result;
    }
    std::size_t next = to.size();
    std::int64_t runStride = strides.back();
    std::int64_t oldSize = 1, newSize = 1;
    for (std::size_t i = from.size(); i-- > 0;) {
        oldSize *= from[i];
        const bool runEnds = i == 0 || (from[i - 1] != 1 && strides[i - 1] != oldSize * runStride);
        if (!runEnds) continue;
        while (next > 0 && (newSize < oldSize || to[next - 1] == 1)) {
            --next;
            result[next] = newSize * runStride;
            newSize *= to[next];
        }
        if (newSize != oldSize) return std::nullopt;
        if (i > 0) {
            runStride = strides[i - 1];
            oldSize = newSize = 1;
        }
    }
    if (next != 0) return std::nullopt;
    return result;
}

Strides denseStrides(const Shape& shape, const Strides& like) {
    std::vector<std::size_t> order(shape.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    // Outermost first. Dimensions of size 1 and broadcast ones keep their place: their stride says nothing.
    std::vector<std::size_t> moving;
    for (std::size_t i : order)
        if (shape[i] != 1 && like[i] != 0) moving.push_back(i);
    std::vector<std::size_t> sorted = moving;
    std::stable_sort(sorted.begin(), sorted.end(), [&](std::size_t a, std::size_t b) { return like[a] > like[b]; });
    for (std::size_t i = 0; i < moving.size(); ++i) order[moving[i]] = sorted[i];

    Strides strides(shape.size());
    std::int64_t step = 1;
    for (std::size_t i = order.size(); i-- > 0;) {
        strides[order[i]] = step;
        step *= shape[order[i]];
    }
    return strides;
}

}  // namespace shardscope::core
