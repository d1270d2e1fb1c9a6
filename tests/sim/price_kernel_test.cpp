#include "sim/price/kernel_price.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "core/cluster/cluster.h"
#include "sim/price/attention_price.h"
#include "sim/price/copy_price.h"

namespace shardscope::sim {
namespace {

GpuRates ratesOfPreset(const char* name, const PriceKnobs& knobs = {}, bool burst = false) {
    core::Gpu gpu = core::gpuPreset(name).value();
    if (burst) gpu.sustainedShare.value = 1;
    return ratesOf(gpu, knobs);
}

double gemmSeconds(std::int64_t b, std::int64_t m, std::int64_t n, std::int64_t k, const GpuRates& rates) {
    const double traffic = 2.0 * static_cast<double>(b * (m * k + k * n + m * n));
    return priceGemm(b, m, n, k, true, traffic, core::DType::BF16, rates).seconds;
}

double attentionSeconds(std::int64_t b, std::int64_t heads, std::int64_t s, std::int64_t d, bool causal, bool backward,
                        const GpuRates& rates, AttentionKernel kernel = AttentionKernel::Flash2) {
    const double flops = 4.0 * static_cast<double>(b * heads * s * s * d) * (backward ? 2.5 : 1);
    return priceAttention(kernel, b, heads, s, s, d, causal, backward, flops, 0, core::DType::F16, rates).seconds;
}

// XLA's shipped matmul table (Intel-tensorflow/xla@756478bb), short bursts: 4096^3 bf16 at 780 to 804 TFLOPS on H100,
// 1,417 on B200; 256^3 in 4.96 us on B200.
TEST(GemmPrice, IsNearPublishedBursts) {
    const GpuRates h100 = ratesOfPreset("h100-sxm", {}, true), b200 = ratesOfPreset("b200-sxm", {}, true);
    const double flops = 2.0 * 4096 * 4096 * 4096;
    EXPECT_NEAR(std::log(gemmSeconds(1, 4096, 4096, 4096, h100) / (flops / 792e12)), 0, 0.15);
    EXPECT_NEAR(std::log(gemmSeconds(1, 4096, 4096, 4096, b200) / (flops / 1417e12)), 0, 0.15);
    EXPECT_NEAR(std::log(gemmSeconds(1, 256, 256, 256, b200) / 4.96e-6), 0, 0.3);
}

// SimuMax@4dcaae51, sustained: medians of .72 of 312 TFLOPS on A100-PCIe and .485 of 2,250 on B200 over layer shapes.
TEST(GemmPrice, LargeSustainedProductsReachAboutThePublishedMedianShare) {
    const double flops = 2.0 * 8192 * 8192 * 8192;
    EXPECT_NEAR(flops / gemmSeconds(1, 8192, 8192, 8192, ratesOfPreset("a100-pcie-80gb")) / 312e12, 0.72, 0.08);
    EXPECT_NEAR(flops / gemmSeconds(1, 8192, 8192, 8192, ratesOfPreset("b200-sxm")) / 2250e12, 0.485, 0.08);
}

// pytorch/ao, H100 fp16, weight 8192 x 8192: 84 us for one row, so bound by memory at about half of the peak bandwidth.
TEST(GemmPrice, FewRowsAreBoundByReadingTheWeight) {
    const GpuRates rates = ratesOfPreset("h100-sxm", {}, true);
    const KernelPrice price = priceGemm(1, 8, 8192, 8192, true, 2.0 * 8192 * 8192, core::DType::F16, rates);
    EXPECT_NEAR(std::log(price.seconds / 84e-6), 0, 0.35);
    EXPECT_GT(price.memory, price.compute);
}

TEST(GemmPrice, GrowsWithEveryDimensionAndNeverBeatsThePeaks) {
    std::mt19937_64 random(20261129);
    std::uniform_int_distribution<std::int64_t> size(1, 1200);
    for (const char* name : {"h100-sxm", "a100-sxm-40gb", "t4", "rtx-4090", "b200-sxm"}) {
        const GpuRates rates = ratesOfPreset(name);
        for (int i = 0; i < 400; ++i) {
            const std::int64_t b = 1 + size(random) % 4, m = 8 * size(random), n = 8 * size(random),
                               k = 8 * size(random);
            const double here = gemmSeconds(b, m, n, k, rates);
            EXPECT_GE(gemmSeconds(b + 1, m, n, k, rates), here);
            EXPECT_GE(gemmSeconds(b, m + 8 * size(random), n, k, rates), here);
            EXPECT_GE(gemmSeconds(b, m, n + 8 * size(random), k, rates), here);
            EXPECT_GE(gemmSeconds(b, m, n, k + 8 * size(random), rates), here);
            const double flops = 2.0 * static_cast<double>(b * m * n) * static_cast<double>(k);
            EXPECT_GE(here, flops / rates.peak(core::DType::BF16));
            EXPECT_GE(here, 2.0 * static_cast<double>(b * (m * k + k * n + m * n)) / rates.memoryBandwidth);
        }
    }
}

// H100 SwiGLU block (stas00/ml-engineering): 272.7 TFLOPS at d_ff 10922 against 398.4 at 10944.
TEST(GemmPrice, UnalignedContiguousDimensionsCostAboutAThird) {
    const GpuRates rates = ratesOfPreset("h100-sxm");
    const double aligned = priceGemm(1, 8192, 10944, 4096, true, 0, core::DType::BF16, rates).seconds;
    const double unaligned = priceGemm(1, 8192, 10922, 4096, false, 0, core::DType::BF16, rates).seconds;
    EXPECT_NEAR(aligned / unaligned, 272.7 / 398.4, 0.03);

    core::Kernel kernel;
    kernel.kind = core::KernelKind::Linear;
    kernel.m = 197 * 3;  // rows lie along no contiguous dimension
    kernel.n = kernel.k = 4096;
    const double forward = priceKernel(kernel, core::DType::BF16, rates).seconds;
    EXPECT_DOUBLE_EQ(forward, priceGemm(1, 591, 4096, 4096, true, 0, core::DType::BF16, rates).seconds);
    kernel.n = 4094;
    EXPECT_GT(priceKernel(kernel, core::DType::BF16, rates).seconds, 1.3 * forward);
    kernel.kind = core::KernelKind::LinearWeightGrad;  // out x in, summed over rows: k may have any size
    kernel.m = kernel.n = 4096;
    kernel.k = 591;
    EXPECT_DOUBLE_EQ(priceKernel(kernel, core::DType::BF16, rates).seconds,
                     priceGemm(1, 4096, 4096, 591, true, 0, core::DType::BF16, rates).seconds);
}

// FlashAttention 2's figures (Dao-AILab/flash-attention@0251105a), hidden 2048, 16k tokens, TFLOPS counted with half
// the FLOPs under a causal mask: A100 forward and backward 201 at 8k (head 128), 99 causal at 512; H100 forward 362 at
// 2k.
TEST(AttentionPrice, IsNearPublishedFigures) {
    const GpuRates a100 = ratesOfPreset("a100-sxm-80gb"), h100 = ratesOfPreset("h100-sxm");
    const auto both = [&](std::int64_t b, std::int64_t s, bool causal) {
        const double flops = 3.5 * 4.0 * static_cast<double>(b * 16 * s * s) * 128 * (causal ? 0.5 : 1);
        return flops / (attentionSeconds(b, 16, s, 128, causal, false, a100) +
                        attentionSeconds(b, 16, s, 128, causal, true, a100));
    };
    EXPECT_NEAR(both(2, 8192, false) / 201e12, 1, 0.1);
    EXPECT_NEAR(both(32, 512, true) / 99e12, 1, 0.1);
    const double forward = 4.0 * 8 * 16 * 2048 * 2048 * 128;
    EXPECT_NEAR(forward / attentionSeconds(8, 16, 2048, 128, false, false, h100) / 362e12, 1, 0.1);
}

// The same repository and the FlashAttention-3 paper, 16k tokens in one sequence, head 128, TFLOPS: H100 forward of
// version 3 648 (616 causal) and backward 561, of cuDNN 595 and 539 causal; A100 forward and backward under a causal
// mask of version 1 83, of xformers' kernel 92; H100's version 1 137.
TEST(AttentionPrice, KernelsAreAsFarApartAsPublished) {
    const GpuRates a100 = ratesOfPreset("a100-sxm-80gb"), h100 = ratesOfPreset("h100-sxm");
    const auto rate = [](AttentionKernel kernel, bool causal, bool forward, bool backward, const GpuRates& rates) {
        const double flops = 4.0 * 16 * 16384 * 16384 * 128 * (causal ? 0.5 : 1);
        double seconds = 0;
        if (forward) seconds += attentionSeconds(1, 16, 16384, 128, causal, false, rates, kernel);
        if (backward) seconds += attentionSeconds(1, 16, 16384, 128, causal, true, rates, kernel);
        return flops * ((forward ? 1 : 0) + (backward ? 2.5 : 0)) / seconds / 1e12;
    };
    using Kernel = AttentionKernel;
    EXPECT_NEAR(rate(Kernel::Flash3, false, true, false, h100), 648, 65);
    EXPECT_NEAR(rate(Kernel::Flash3, true, true, false, h100), 616, 62);
    EXPECT_NEAR(rate(Kernel::Flash3, false, false, true, h100), 561, 56);
    EXPECT_NEAR(rate(Kernel::Cudnn, false, true, false, h100), 595, 60);
    EXPECT_NEAR(rate(Kernel::Cudnn, true, true, false, h100), 539, 60);
    EXPECT_NEAR(rate(Kernel::Flash1, true, true, true, a100), 83, 9);
    EXPECT_NEAR(rate(Kernel::Efficient, true, true, true, a100), 92, 9);
    EXPECT_NEAR(rate(Kernel::Flash1, true, true, true, h100), 137, 14);
    // Version 3 is written for Hopper.
    EXPECT_EQ(rate(Kernel::Flash3, true, true, false, a100), rate(Kernel::Flash2, true, true, false, a100));
}

TEST(AttentionPrice, AKernelIsKnownByItsName) {
    const auto called = [](std::string_view op, GpuFamily family) {
        core::Kernel kernel;
        kernel.op = op;
        return attentionKernelOf(kernel, family);
    };
    using Kernel = AttentionKernel;
    EXPECT_EQ(called("scaled_dot_product_flash_attention", GpuFamily::Hopper), Kernel::Flash2);
    EXPECT_EQ(called("scaled_dot_product_flash_attention_for_cpu", GpuFamily::Hopper), Kernel::Flash2);
    EXPECT_EQ(called("scaled_dot_product_efficient_attention_backward", GpuFamily::Hopper), Kernel::Efficient);
    EXPECT_EQ(called("scaled_dot_product_cudnn_attention", GpuFamily::Ampere), Kernel::Cudnn);
    EXPECT_EQ(called("flash_attention_1_backward", GpuFamily::Ampere), Kernel::Flash1);
    EXPECT_EQ(called("flash_attention_3", GpuFamily::Hopper), Kernel::Flash3);
    EXPECT_EQ(called("flash_attention_3", GpuFamily::Blackwell), Kernel::Flash2);
}

// SimuMax, A100-PCIe, causal, s = 4096, head 128, forward: 64 heads 185, 8 heads 121 to 123, 4 heads 80 TFLOPS.
TEST(AttentionPrice, CollapsesWithFewHeads) {
    const GpuRates rates = ratesOfPreset("a100-pcie-80gb");
    const auto rate = [&](std::int64_t heads) {
        return 2.0 * static_cast<double>(heads) * 4096 * 4096 * 128 /
               attentionSeconds(1, heads, 4096, 128, true, false, rates);
    };
    EXPECT_NEAR(rate(64) / 185e12, 1, 0.15);
    EXPECT_NEAR(rate(8) / 122e12, 1, 0.15);
    EXPECT_NEAR(rate(4) / 80e12, 1, 0.15);
}

TEST(AttentionPrice, GrowsWithLengthHeadsAndBatchAndNeverBeatsThePeak) {
    using Kernel = AttentionKernel;
    for (const char* name : {"h100-sxm", "a100-sxm-40gb", "b200-sxm", "l4"}) {
        const GpuRates rates = ratesOfPreset(name);
        for (Kernel kernel : {Kernel::Flash1, Kernel::Flash2, Kernel::Flash3, Kernel::Efficient, Kernel::Cudnn})
            for (int both = 0; both < 4; ++both)
                for (std::int64_t s : {1, 63, 197, 512, 4096, 100000}) {
                    const bool causal = both % 2 == 1, backward = both >= 2;
                    const double here = attentionSeconds(2, 12, s, 64, causal, backward, rates, kernel);
                    EXPECT_GE(attentionSeconds(2, 12, s + 7, 64, causal, backward, rates, kernel), here);
                    EXPECT_GE(attentionSeconds(2, 13, s, 64, causal, backward, rates, kernel), here);
                    EXPECT_GE(attentionSeconds(3, 12, s, 64, causal, backward, rates, kernel), here);
                    EXPECT_GE(attentionSeconds(2, 12, s, 128, causal, backward, rates, kernel), here);
                    EXPECT_LE(attentionSeconds(2, 12, s, 32, causal, backward, rates, kernel), here);
                    const double flops = 4.0 * 24 * static_cast<double>(s) * static_cast<double>(s) * 64 *
                                         (backward ? 2.5 : 1) * (causal ? 0.5 : 1);
                    EXPECT_GE(here, flops / rates.peak(core::DType::F16));
                }
    }
}

TEST(MemoryPrice, MoreBytesAreNeverFasterAndNothingBeatsTheBandwidth) {
    const GpuRates rates = ratesOfPreset("h100-sxm");
    double before = 0;
    for (double bytes = 1; bytes < 1e11; bytes *= 1.7) {
        const double seconds = priceTraffic(bytes, 1, rates).seconds;
        EXPECT_GT(seconds, before);
        EXPECT_GE(seconds, bytes / rates.memoryBandwidth);
        before = seconds;
    }
}

// pytorch/ao blockwise README: casts on H100 at 2.63 to 2.89 TB/s (32k to 131k x 4096 elements).
TEST(MemoryPrice, LargeCastsAreNearPublishedRates) {
    const double bytes = 65536.0 * 4096 * 3;
    EXPECT_NEAR(bytes / priceTraffic(bytes, 1, ratesOfPreset("h100-sxm")).seconds / 2.76e12, 1, 0.06);
}

TEST(MemoryPrice, ALookUpMovesItsRowsAndNotTheTable) {
    const GpuRates rates = ratesOfPreset("h100-sxm");
    core::Kernel kernel;
    kernel.kind = core::KernelKind::Embedding;
    kernel.read = {128256ll * 4096 * 2 + 8192 * 8};
    kernel.written = {8192ll * 4096 * 2};
    EXPECT_DOUBLE_EQ(priceKernel(kernel, core::DType::BF16, rates).traffic, 2.0 * 8192 * 4096 * 2);
    kernel.kind = core::KernelKind::EmbeddingGrad;  // clears and fills the whole gradient of the table
    std::swap(kernel.read, kernel.written);
    EXPECT_GT(priceKernel(kernel, core::DType::BF16, rates).traffic, 128256.0 * 4096 * 2);
}

// 8.03 billion all-bf16 parameters (14 bytes each), default foreach AdamW on B200: 46.6 ms (stas00/ml-engineering).
TEST(OptimizerPrice, IsNearThePublishedStep) {
    const GpuRates rates = ratesOfPreset("b200-sxm");
    EXPECT_NEAR(priceOptimizer(8.03e9 * 14, 1, false, rates).seconds / 46.6e-3, 1, 0.12);
    EXPECT_LT(priceOptimizer(8.03e9 * 14, 1, true, rates).seconds,
              0.5 * priceOptimizer(8.03e9 * 14, 1, false, rates).seconds);
    EXPECT_EQ(priceOptimizer(0, 1, false, rates).seconds, 0);
}

TEST(PriceKnobs, GivenSharesReplaceTheModelExactly) {
    PriceKnobs knobs;
    knobs.computeShare = 0.5;
    knobs.memoryShare = 1;
    const GpuRates rates = ratesOfPreset("a100-sxm-80gb", knobs);
    EXPECT_DOUBLE_EQ(gemmSeconds(2, 100, 200, 300, rates), 2.0 * 2 * 100 * 200 * 300 / (0.5 * 312e12));
    EXPECT_DOUBLE_EQ(attentionSeconds(2, 3, 100, 64, true, false, rates), 2.0 * 6 * 100 * 100 * 64 / (0.5 * 312e12));
    EXPECT_DOUBLE_EQ(priceTraffic(2039e6, 1, rates).seconds, 1e-3);
    EXPECT_DOUBLE_EQ(priceOptimizer(2039e6, 3, false, rates).seconds, 1e-3);
}

}  // namespace
}  // namespace shardscope::sim
