#include "sim/price/attention_price.h"

#include <algorithm>
#include <cmath>

namespace shardscope::sim {
namespace {

// Share of the peak = forward or backward share x l/(l + ramp) x units/(units + spread x SMs) x head dimension; l =
// keys (half of them under a causal mask), units = heads x samples x blocks of 128 queries. Fitted to the figures of
// that kernel and family; errors in docs/model.md.
struct AttentionFit {
    double forward, backward;
    double ramp, causalRamp;
    double spread, backwardSpread;
    double headRamp;  ///< below 0: smaller heads are faster, down to 64
};
// FlashAttention's repository and the FlashAttention-3 paper; B200: cuDNN through Transformer Engine (SimuMax).
constexpr AttentionFit kAmpereFlash2{0.717, 0.650, 149, 246, 1.4, 1.4, 22};
constexpr AttentionFit kHopperFlash2{0.404, 0.338, 82, 220, 1.6, 1.6, 24};
constexpr AttentionFit kHopperFlash3{0.766, 0.625, 237, 336, 1.6, 1.6, 102};
constexpr AttentionFit kHopperCudnn{0.664, 0.541, 80, 206, 1.6, 1.6, 145};
constexpr AttentionFit kBlackwellCudnn{0.562, 0.429, 0, 0, 4.5, 0.6, 22};
// Forward and backward are published together only: one share for both.
constexpr AttentionFit kAmpereFlash1{0.279, 0.279, 109, 176, 1.4, 1.4, -25};
constexpr AttentionFit kHopperFlash1{0.151, 0.151, 31, 144, 1.6, 1.6, -15};
constexpr AttentionFit kAmpereEfficient{0.323, 0.323, 56, 147, 1.4, 1.4, 51};
constexpr double kAttentionFloor = 5.0e-6;

/// Where there are no figures, FlashAttention 2 of the family at the ratio that the two kernels have on A100.
AttentionFit scaledTo(AttentionFit fit, const AttentionFit& from, const AttentionFit& to) {
    const double both = (to.forward + to.backward) / (from.forward + from.backward);
    fit.forward *= both;
    fit.backward *= both;
    return fit;
}

AttentionFit fitOf(AttentionKernel kernel, GpuFamily family) {
    const bool hopper = family == GpuFamily::Hopper, blackwell = family == GpuFamily::Blackwell;
    // Blackwell has figures of cuDNN alone; A100's cuDNN is as fast as FlashAttention 2 there (SimuMax, A100-PCIe).
    const AttentionFit flash2 = hopper ? kHopperFlash2 : blackwell ? kBlackwellCudnn : kAmpereFlash2;
    switch (kernel) {
        case AttentionKernel::Flash1:
            return hopper ? kHopperFlash1 : blackwell ? scaledTo(flash2, kAmpereFlash2, kAmpereFlash1) : kAmpereFlash1;
        case AttentionKernel::Flash3: return hopper ? kHopperFlash3 : flash2;
        case AttentionKernel::Efficient:
            return hopper || blackwell ? scaledTo(flash2, kAmpereFlash2, kAmpereEfficient) : kAmpereEfficient;
        case AttentionKernel::Cudnn: return hopper ? kHopperCudnn : flash2;
        case AttentionKernel::Flash2: break;
    }
    return flash2;
}

}  // namespace

std::string_view nameOf(AttentionKernel kernel) {
    switch (kernel) {
        case AttentionKernel::Flash1: return "FlashAttention 1";
        case AttentionKernel::Flash2: return "FlashAttention 2";
        case AttentionKernel::Flash3: return "FlashAttention 3";
        case AttentionKernel::Efficient: return "memory-efficient attention";
        case AttentionKernel::Cudnn: return "cuDNN's attention";
    }
    return "";
}

AttentionKernel attentionKernelOf(const core::Kernel& kernel, GpuFamily family) {
    if (kernel.op.find("efficient") != std::string_view::npos) return AttentionKernel::Efficient;
    if (kernel.op.find("cudnn") != std::string_view::npos) return AttentionKernel::Cudnn;
    if (kernel.op.starts_with("flash_attention_1")) return AttentionKernel::Flash1;
    if (kernel.op.starts_with("flash_attention_3") && family == GpuFamily::Hopper) return AttentionKernel::Flash3;
    return AttentionKernel::Flash2;
}

bool attentionIsMeasured(AttentionKernel kernel, GpuFamily family) {
    switch (family) {
        case GpuFamily::Hopper: return kernel != AttentionKernel::Efficient;
        case GpuFamily::Blackwell: return kernel == AttentionKernel::Cudnn;
        default: return family == GpuFamily::Ampere;
    }
}

KernelPrice priceAttention(AttentionKernel kernel, std::int64_t b, std::int64_t heads, std::int64_t queries,
                           std::int64_t keys, std::int64_t dim, bool causal, bool backward, double flops,
                           double traffic, core::DType dtype, const GpuRates& rates) {
    KernelPrice price;
    price.peak = rates.peak(dtype);
    price.work = causal ? flops / 2 : flops;
    price.traffic = traffic;
    if (rates.computeShare > 0) {
        price.compute = price.work / (price.peak * rates.computeShare);
        price.seconds = price.compute;
        return price;
    }
    const AttentionFit fit = fitOf(kernel, rates.family);
    // Blocks of queries are computed whole: 197 cost what 256 cost.
    const double blocks = static_cast<double>((queries + 127) / 128);
    const double whole = blocks * 128 / static_cast<double>(queries);
    const double units = static_cast<double>(b) * static_cast<double>(heads) * blocks;
    const double length = static_cast<double>(keys) / (causal ? 2 : 1);
    const double spread = backward ? fit.backwardSpread : fit.spread;
    const double width = std::clamp(static_cast<double>(dim), fit.headRamp < 0 ? 64.0 : 1.0, 128.0);
    const double share =
        (backward ? fit.backward : fit.forward) * length / (length + (causal ? fit.causalRamp : fit.ramp)) * units /
        (units + spread * rates.multiprocessors) * (width / (width + fit.headRamp)) * ((128 + fit.headRamp) / 128);
    price.floor = kAttentionFloor;
    price.compute = price.work * whole / (price.peak * share);
    price.memory = traffic / (rates.memoryBandwidth * memoryShareOf(rates));
    price.seconds = price.floor + std::max(price.compute, price.memory);
    return price;
}

}  // namespace shardscope::sim
