#pragma once

// The numbers of a GPU that prices need, worked out once per pricing.

#include <cstdint>

#include "core/cluster/cluster.h"
#include "core/model/kernel.h"
#include "sim/price/price_knobs.h"

namespace shardscope::sim {

/// Families that share constants. Other: an architecture without measurements.
enum class GpuFamily : std::uint8_t { Volta, Turing, Ampere, Ada, Hopper, Blackwell, Other };
[[nodiscard]] GpuFamily familyOf(const core::Gpu& gpu);

struct GpuRates {
    GpuFamily family = GpuFamily::Other;
    double fp32 = 0, bf16 = 0, fp16 = 0;  ///< dense peaks, FLOP/s
    double multiprocessors = 1;
    double memoryBandwidth = 1;  ///< bytes/s, peak
    double gemmShare = 1, sustainedShare = 1;
    double computeShare = 0, memoryShare = 0;  ///< of PriceKnobs
    double hostLaunch = 0;                     ///< seconds

    [[nodiscard]] double peak(core::DType dtype) const {
        if (dtype == core::DType::BF16) return bf16;
        if (dtype == core::DType::F16) return fp16;
        return fp32;
    }
};
[[nodiscard]] GpuRates ratesOf(const core::Gpu& gpu, const PriceKnobs& knobs);

}  // namespace shardscope::sim
