#include "sim/price/gpu_rates.h"

#include <array>
#include <string_view>
#include <utility>

namespace shardscope::sim {

GpuFamily familyOf(const core::Gpu& gpu) {
    static constexpr std::array<std::pair<std::string_view, GpuFamily>, 6> kFamilies{{
        {"Volta", GpuFamily::Volta},
        {"Turing", GpuFamily::Turing},
        {"Ampere", GpuFamily::Ampere},
        {"Ada", GpuFamily::Ada},
        {"Hopper", GpuFamily::Hopper},
        {"Blackwell", GpuFamily::Blackwell},
    }};
    for (const auto& [name, family] : kFamilies)
        if (name == gpu.architecture) return family;
    return GpuFamily::Other;
}

GpuRates ratesOf(const core::Gpu& gpu, const PriceKnobs& knobs) {
    GpuRates rates;
    rates.family = familyOf(gpu);
    rates.fp32 = core::peakOf(gpu, core::DType::F32).value;
    rates.bf16 = core::peakOf(gpu, core::DType::BF16).value;
    rates.fp16 = core::peakOf(gpu, core::DType::F16).value;
    rates.multiprocessors = gpu.multiprocessors.value;
    rates.memoryBandwidth = gpu.memoryBandwidth.value;
    rates.gemmShare = gpu.gemmShare.value;
    rates.sustainedShare = gpu.sustainedShare.value;
    rates.computeShare = knobs.computeShare;
    rates.memoryShare = knobs.memoryShare;
    rates.hostLaunch = knobs.hostLaunch >= 0 ? knobs.hostLaunch : gpu.hostLaunch.value;
    return rates;
}

}  // namespace shardscope::sim
