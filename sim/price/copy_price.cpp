#include "sim/price/copy_price.h"

#include <algorithm>

namespace shardscope::sim {
namespace {

KernelPrice repeat(KernelPrice price, std::int64_t launches) {
    const double more = price.floor * static_cast<double>(std::max<std::int64_t>(launches, 1) - 1);
    price.floor += more;
    price.seconds += more;
    return price;
}

}  // namespace

KernelPrice priceCopy(double traffic, std::int64_t launches, const GpuRates& rates) {
    if (!(traffic > 0)) return {};
    return repeat(priceTraffic(traffic, 1, rates), launches);
}

KernelPrice priceOptimizer(double traffic, std::int64_t launches, bool fused, const GpuRates& rates) {
    if (!(traffic > 0)) return {};
    return repeat(priceTraffic(traffic, (fused ? 0.8 : 0.33) / memoryShareOf(rates), rates), launches);
}

}  // namespace shardscope::sim
