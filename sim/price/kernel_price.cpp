#include "sim/price/kernel_price.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "sim/price/attention_price.h"

namespace shardscope::sim {
namespace {

/// How many tiles it takes to cover `extent`.
double tilesOf(std::int64_t extent, std::int64_t tile) {
    const std::int64_t whole = (extent + tile - 1) / tile;
    return static_cast<double>(whole);
}

using core::KernelKind;

// GEMM. Fitted together to 684 published times: XLA's shipped matmul table (H100 and B200, bf16 and tf32, short bursts)
// and SimuMax's (A100-PCIe and B200, bf16, sustained); medians of the error 2 to 12 % by table (docs/model.md).
constexpr double kGemmFloor = 5.0e-6;
constexpr double kGemmMemoryShare = 0.6;  ///< of the peak bandwidth, operands read once
constexpr double kPrologue = 330;         ///< elements of k that filling and draining a tile's pipeline cost
constexpr double kTilePeak = 1.09;        ///< rate inside a tile over the best rate of a whole product
struct Tile {
    std::int32_t m, n;
    double share;  ///< of the rate of the largest tile
};
constexpr std::array<Tile, 5> kTiles{
    {{256, 128, 1.0}, {128, 256, 1.0}, {128, 128, 0.92}, {128, 64, 0.67}, {64, 64, 0.40}}};
constexpr std::int64_t kMostSplits = 32;
// H100, d_model 4096: 272.7 TFLOPS at d_ff 10922 against 398 at its aligned neighbours (cost model facts 4.1).
constexpr double kUnalignedShare = 0.68;

// Memory-bound. A kernel that does nothing takes 1.2 to 1.4 us (cost model facts 4.3); the rest is filling the machine.
constexpr double kMemoryFloor = 2.0e-6;

void finish(KernelPrice& price) {
    price.seconds = price.floor + std::max(price.compute, price.memory);
}

// Contiguous dimensions of the operands as the frameworks lay them out: the others may have any size.
bool alignedGemm(const core::Kernel& kernel, core::DType dtype) {
    const std::int64_t unit = std::max<std::int64_t>(1, 16 / core::sizeOf(dtype));
    const bool weightGrad =
        kernel.kind == KernelKind::LinearWeightGrad || kernel.kind == KernelKind::PatchEmbedWeightGrad;
    return kernel.n % unit == 0 && (weightGrad ? kernel.m : kernel.k) % unit == 0;
}

// Softmax over a vocabulary and its loss: .81 of the rate of plain kernels on A100, .32 on B200 (SimuMax, cost model
// facts 4.2).
double trafficFactorOf(KernelKind kind, GpuFamily family) {
    switch (kind) {
        case KernelKind::LogSoftmax:
        case KernelKind::LogSoftmaxGrad:
        case KernelKind::NllLoss:
        case KernelKind::NllLossGrad: return family == GpuFamily::Blackwell ? 0.32 : 0.81;
        default: return 1;
    }
}

// Bytes that really move: a look-up touches the rows it names, not the table, and the gradient of a picked element is a
// cleared tensor with a few elements in it.
double trafficOf(const core::Kernel& kernel) {
    const double read = static_cast<double>(kernel.read.value), written = static_cast<double>(kernel.written.value);
    switch (kernel.kind) {
        case KernelKind::Embedding: return 2 * written;
        case KernelKind::EmbeddingGrad: return 2 * read + written;  // cleared, then every row read, added and written
        case KernelKind::NllLoss:
        case KernelKind::NllLossGrad: return written;
        default: return read + written;
    }
}

}  // namespace

core::DType operandType(const core::Program& program, const core::Kernel& kernel) {
    for (const auto* operands : {&kernel.inputs, &kernel.outputs})
        for (core::TensorId id : *operands) {
            const core::DType dtype = program.tensor(id).dtype;
            if (dtype == core::DType::F32 || dtype == core::DType::BF16 || dtype == core::DType::F16) return dtype;
        }
    return core::DType::F32;
}

double memoryShareOf(const GpuRates& rates) {
    if (rates.memoryShare > 0) return rates.memoryShare;
    switch (rates.family) {
        case GpuFamily::Ampere: return 0.91;     // SimuMax, A100-PCIe element-wise fit
        case GpuFamily::Hopper: return 0.83;     // pytorch/ao casts on H100: 79 to 86 %
        case GpuFamily::Blackwell: return 0.70;  // SimuMax B200 67 %, pytorch/ao casts 68 to 82 %
        default: return 0.85;                    // between them; not measured
    }
}

KernelPrice priceTraffic(double traffic, double factor, const GpuRates& rates) {
    KernelPrice price;
    price.traffic = traffic;
    if (rates.memoryShare > 0) {
        price.memory = traffic / (rates.memoryBandwidth * rates.memoryShare);
    } else {
        price.floor = kMemoryFloor;
        price.memory = traffic / (rates.memoryBandwidth * memoryShareOf(rates) * factor);
    }
    finish(price);
    return price;
}

KernelPrice priceGemm(std::int64_t b, std::int64_t m, std::int64_t n, std::int64_t k, bool aligned, double traffic,
                      core::DType dtype, const GpuRates& rates) {
    KernelPrice price;
    price.peak = rates.peak(dtype);
    price.work =
        2.0 * static_cast<double>(b) * static_cast<double>(m) * static_cast<double>(n) * static_cast<double>(k);
    price.traffic = traffic;
    if (rates.computeShare > 0) {
        price.compute = price.work / (price.peak * rates.computeShare);
        finish(price);
        return price;
    }
    const double perUnit = price.peak / rates.multiprocessors * rates.gemmShare * kTilePeak;
    const double outputs = static_cast<double>(b) * static_cast<double>(m) * static_cast<double>(n);
    // Partial sums of a split are written and read once more, in fp32.
    const double splitTraffic = outputs * 8 / (rates.memoryBandwidth * kGemmMemoryShare);
    const double depth = static_cast<double>(k);
    double best = std::numeric_limits<double>::max();
    for (const Tile& tile : kTiles) {
        const double blocks = static_cast<double>(b) * tilesOf(m, tile.m) * tilesOf(n, tile.n);
        const double perDepth = 2.0 * tile.m * tile.n / (perUnit * tile.share);
        for (std::int64_t split = 1; split <= kMostSplits; split *= 2) {
            const double parts = blocks * static_cast<double>(split);
            if (split > 1 && parts > 2 * rates.multiprocessors) break;
            const double waves = std::ceil(parts / rates.multiprocessors);
            const double time =
                waves * perDepth * (depth / static_cast<double>(split) + kPrologue) + (split > 1 ? splitTraffic : 0);
            if (time >= best) continue;
            best = time;
            price.tileM = tile.m;
            price.tileN = tile.n;
            price.split = static_cast<std::int32_t>(split);
            price.waves = static_cast<std::int32_t>(std::min(waves, 2e9));
        }
    }
    price.floor = kGemmFloor;
    price.compute = best / (rates.sustainedShare * (aligned ? 1 : kUnalignedShare));
    price.memory = traffic / (rates.memoryBandwidth * kGemmMemoryShare);
    finish(price);
    return price;
}

KernelPrice priceKernel(const core::Kernel& kernel, core::DType dtype, const GpuRates& rates) {
    const double traffic = trafficOf(kernel);
    switch (core::classOf(kernel.kind)) {
        case core::KernelClass::Gemm:
            return priceGemm(kernel.b, kernel.m, kernel.n, kernel.k, alignedGemm(kernel, dtype), traffic, dtype, rates);
        case core::KernelClass::Attention:
            return priceAttention(attentionKernelOf(kernel, rates.family), kernel.b, kernel.heads, kernel.m, kernel.n,
                                  kernel.k, kernel.causal, kernel.kind == KernelKind::AttentionGrad,
                                  static_cast<double>(kernel.flops.value), traffic, dtype, rates);
        case core::KernelClass::Memory: break;
    }
    return priceTraffic(traffic, trafficFactorOf(kernel.kind, rates.family), rates);
}

}  // namespace shardscope::sim
