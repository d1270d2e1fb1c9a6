#include "runtime/data/random_order.h"

#include <cassert>
#include <numeric>
#include <utility>

namespace shardscope::runtime {

std::vector<std::int64_t> randomPermutation(std::int64_t count, std::mt19937& engine) {
    assert(count >= 0);
    // From here on 32 bits would favour some places by more than PyTorch likes: (2^32 - 1) / 20.
    constexpr std::int64_t kLarge = 214'748'364;
    std::vector<std::int64_t> order(static_cast<std::size_t>(count));
    const auto n = static_cast<std::uint64_t>(count);
    if (count < kLarge) {
        std::iota(order.begin(), order.end(), 0);
        for (std::uint64_t i = 0; i + 1 < n; ++i) std::swap(order[i], order[i + engine() % (n - i)]);
        return order;
    }
    for (std::uint64_t i = 0; i < n; ++i) {
        const std::uint64_t high = engine(), place = (high << 32 | engine()) % (i + 1);
        order[i] = static_cast<std::int64_t>(i);
        order[i] = order[place];
        order[place] = static_cast<std::int64_t>(i);
    }
    return order;
}

std::vector<std::int64_t> randomPermutation(std::int64_t count, std::uint64_t seed) {
    std::mt19937 engine(static_cast<std::uint32_t>(seed));
    return randomPermutation(count, engine);
}

}  // namespace shardscope::runtime
