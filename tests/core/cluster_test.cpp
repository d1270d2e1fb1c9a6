#include "core/cluster/cluster.h"

#include <gtest/gtest.h>

#include <cmath>
#include <string>

#include "core/base/document.h"

namespace shardscope::core {
namespace {

Result<Cluster> parse(const std::string& toml) {
    const auto document = parseToml(toml, "my.toml");
    EXPECT_TRUE(document) << (document ? "" : describe(document.error()));
    return document ? parseCluster(*document, "my.toml") : Result<Cluster>(tl::unexpected(document.error()));
}

Error errorOf(const std::string& toml) {
    const auto cluster = parse(toml);
    EXPECT_FALSE(cluster) << "accepted:\n" << toml;
    return cluster ? Error{} : cluster.error();
}

constexpr const char* kOwnGpu =
    "[gpu]\ntitle = \"X\"\nbf16_tflops = 100\nfp32_tflops = 10\nmultiprocessors = 50\nmemory_gib = 16\n"
    "memory_bandwidth_gbs = 500\n";

TEST(ClusterPresets, EveryGpuAndNodeReadsAndNamesAPartnerThatExists) {
    EXPECT_GE(gpuPresetNames().size(), 10u);
    EXPECT_GE(nodePresetNames().size(), 10u);
    for (const std::string& name : gpuPresetNames()) {
        const auto gpu = gpuPreset(name);
        ASSERT_TRUE(gpu) << describe(gpu.error());
        EXPECT_EQ(gpu->name, name);
        EXPECT_TRUE(nodePreset(gpu->usualNode)) << name;
        EXPECT_TRUE(gpu->bf16Flops.known || gpu->fp16Flops.known) << name;
        EXPECT_FALSE(gpu->memoryBandwidth.source.empty()) << name;
        EXPECT_LE(gpu->memoryUsable.value, gpu->memory.value) << name;
    }
    for (const std::string& name : nodePresetNames()) {
        const auto node = nodePreset(name);
        ASSERT_TRUE(node) << describe(node.error());
        EXPECT_TRUE(gpuPreset(node->gpu)) << name;
        EXPECT_FALSE(node->linkBandwidth.source.empty()) << name;
    }
}

// stas00/ml-engineering@744d01e1, accelerator tables: H100 SXM 989 dense bf16 TFLOPS, 3.35 TB/s, 132 SMs; NVLink 4 has
// 450 GB/s and the node's eight 400 Gb NICs 400 GB/s per direction.
TEST(ClusterPresets, H100InItsUsualNode) {
    const auto cluster = makeCluster("h100-sxm", {}, 2);
    ASSERT_TRUE(cluster) << describe(cluster.error());
    EXPECT_EQ(cluster->node.name, "dgx-h100");
    EXPECT_EQ(cluster->ranks(), 16);
    EXPECT_DOUBLE_EQ(peakOf(cluster->gpu, DType::BF16).value, 989e12);
    EXPECT_DOUBLE_EQ(peakOf(cluster->gpu, DType::F32).value, 67e12);
    EXPECT_DOUBLE_EQ(cluster->gpu.memoryBandwidth.value, 3350e9);
    EXPECT_DOUBLE_EQ(cluster->gpu.multiprocessors.value, 132);
    EXPECT_DOUBLE_EQ(cluster->node.linkBandwidth.value, 450e9);
    EXPECT_DOUBLE_EQ(cluster->networkPerRank(), 50e9);
    EXPECT_EQ(cluster->gpu.bf16Flops.confidence, Confidence::High);
}

TEST(ClusterPresets, WithoutBf16UnitsBf16RunsAtTheFp32Rate) {
    const auto gpu = gpuPreset("v100-sxm-32gb");
    ASSERT_TRUE(gpu);
    EXPECT_DOUBLE_EQ(peakOf(*gpu, DType::BF16).value, peakOf(*gpu, DType::F32).value);
    EXPECT_DOUBLE_EQ(peakOf(*gpu, DType::F16).value, 125e12);
}

TEST(ClusterRanks, FillNodesInOrder) {
    const auto cluster = makeCluster("a100-sxm-80gb", "dgx-a100", 3, 4);
    ASSERT_TRUE(cluster) << describe(cluster.error());
    EXPECT_EQ(cluster->ranks(), 12);
    EXPECT_EQ(cluster->nodeOf(3), 0);
    EXPECT_EQ(cluster->nodeOf(4), 1);
    EXPECT_EQ(cluster->nodeOf(11), 2);
    EXPECT_EQ(cluster->domainRanks(), 4);
}

TEST(ClusterRanks, TraysOfOneNvlinkDomainCountTogether) {
    const auto cluster = makeCluster("gb200", {}, 36);
    ASSERT_TRUE(cluster) << describe(cluster.error());
    EXPECT_EQ(cluster->domainRanks(), 72);
    EXPECT_EQ(cluster->domainOf(71), 0);
    EXPECT_EQ(cluster->domainOf(72), 1);
}

TEST(ClusterFile, AllGpusOfTheNodeAreUsedUnlessToldOtherwise) {
    const auto all = parse("node = \"g5\"\n");
    ASSERT_TRUE(all) << describe(all.error());
    EXPECT_EQ(all->gpusPerNode, 8);
    EXPECT_EQ(all->gpu.name, "a10g");
    const auto four = parse("gpu = \"h100-sxm\"\ngpus_per_node = 4\n");
    ASSERT_TRUE(four) << describe(four.error());
    EXPECT_EQ(four->ranks(), 4);
    EXPECT_EQ(four->name, "4 x NVIDIA H100 SXM 80 GB");
}

TEST(ClusterFile, AnOwnGpuMayStartFromAPresetAndChangesOnlyWhatItNames) {
    const auto cluster = parse(
        "[gpu]\npreset = \"h100-sxm\"\nmemory_gib = 96\n"
        "memory_usable_gib = { value = 95, source = \"nvidia-smi\", confidence = \"medium\" }\n");
    ASSERT_TRUE(cluster) << describe(cluster.error());
    EXPECT_DOUBLE_EQ(cluster->gpu.memory.value, 96.0 * (1 << 30));
    EXPECT_EQ(cluster->gpu.memory.source, "given in my.toml");
    EXPECT_EQ(cluster->gpu.memory.confidence, Confidence::High);
    EXPECT_EQ(cluster->gpu.memoryUsable.source, "nvidia-smi");
    EXPECT_EQ(cluster->gpu.memoryUsable.confidence, Confidence::Medium);
    EXPECT_DOUBLE_EQ(cluster->gpu.bf16Flops.value, 989e12);
    EXPECT_EQ(cluster->node.name, "dgx-h100");
}

TEST(ClusterFile, WhatAnOwnGpuLeavesOutIsAssumedAndSaysSo) {
    const auto cluster = parse(std::string("node = \"pcie4-box\"\n") + kOwnGpu);
    ASSERT_TRUE(cluster) << describe(cluster.error());
    EXPECT_EQ(cluster->gpu.memoryUsable.confidence, Confidence::Low);
    bool said = false;
    for (const std::string& doubt : doubtsOf(*cluster)) said |= doubt.find("usable memory of X") != std::string::npos;
    EXPECT_TRUE(said);
}

TEST(ClusterFile, DoubtsNameOnlyWhatTheClusterUses) {
    const auto one = makeCluster("rtx-4090", {}, 1);
    const auto two = makeCluster("rtx-4090", {}, 2);
    ASSERT_TRUE(one && two);
    const auto mentions = [](const std::vector<std::string>& doubts, const std::string& what) {
        for (const std::string& doubt : doubts)
            if (doubt.find(what) != std::string::npos) return true;
        return false;
    };
    EXPECT_FALSE(mentions(doubtsOf(*one), "network bandwidth"));
    EXPECT_TRUE(mentions(doubtsOf(*two), "network bandwidth"));
    auto doubtful = *two;
    for (Sourced* value : {&doubtful.node.networkLatency, &doubtful.node.nics})
        *value = {4, "a guess", Confidence::Low, true};
    EXPECT_TRUE(mentions(doubtsOf(doubtful), "network latency"));
    EXPECT_TRUE(mentions(doubtsOf(doubtful), "NICs"));
    doubtful.nodes = 1;
    EXPECT_FALSE(mentions(doubtsOf(doubtful), "network latency"));
}

TEST(ClusterErrors, UnknownKeysAndNamesOfferTheNearestKnownOne) {
    EXPECT_EQ(errorOf("gpu = \"h100-sxm\"\ngpu_per_node = 4\n").hint, "did you mean \"gpus_per_node\"?");
    EXPECT_EQ(errorOf("gpu = \"h100-sxn\"\n").hint, "did you mean \"h100-sxm\"?");
    EXPECT_EQ(errorOf("gpu = \"h100-sxm\"\nnode = \"dgx-h10\"\n").hint, "did you mean \"dgx-h100\"?");
    const Error inner = errorOf("[gpu]\npreset = \"h100-sxm\"\nbf16_tflop = 1\n");
    EXPECT_EQ(inner.hint, "did you mean \"bf16_tflops\"?");
    EXPECT_EQ(inner.where, "my.toml:3 [cluster.gpu] bf16_tflop");
    EXPECT_EQ(errorOf("[node]\npreset = \"dgx-h100\"\nlink = \"nvswich\"\n").hint, "did you mean \"nvswitch\"?");
}

TEST(ClusterErrors, NumbersThatMeanNothingAreRefusedWithTheirPlace) {
    for (const char* bad : {"0", "-3", "nan", "inf", "1e30", "\"fast\"", "true", "1e-300"}) {
        const Error error = errorOf("[gpu]\npreset = \"t4\"\nmemory_bandwidth_gbs = " + std::string(bad) + "\n");
        EXPECT_EQ(error.where, "my.toml:3 [cluster.gpu] memory_bandwidth_gbs") << bad;
        EXPECT_EQ(error.code, ErrorCode::Input);
    }
    for (const char* bad : {"0", "-1", "1.5", "nan", "9223372036854775807", "\"two\""}) {
        EXPECT_EQ(errorOf("gpu = \"t4\"\nnodes = " + std::string(bad) + "\n").where, "my.toml:2 [cluster] nodes")
            << bad;
        EXPECT_EQ(errorOf("gpu = \"t4\"\ngpus_per_node = " + std::string(bad) + "\n").where,
                  "my.toml:2 [cluster] gpus_per_node")
            << bad;
    }
    EXPECT_NE(errorOf("[gpu]\npreset = \"t4\"\ngemm_share = 1.5\n").message.find("at most 1"), std::string::npos);
    EXPECT_NE(errorOf("[gpu]\npreset = \"t4\"\nmultiprocessors = 40.5\n").message.find("whole"), std::string::npos);
    EXPECT_NE(errorOf("[gpu]\npreset = \"t4\"\nmemory_usable_gib = 17\n").message.find("more than"), std::string::npos);
    EXPECT_NE(errorOf("gpu = \"t4\"\ngpus_per_node = 9\n").message.find("has 8 GPUs"), std::string::npos);
}

TEST(ClusterErrors, ATableThatLeavesOutWhatPricesNeedNamesIt) {
    EXPECT_NE(errorOf("nodes = 2\n").message.find("neither"), std::string::npos);
    EXPECT_NE(errorOf("[gpu]\ntitle = \"X\"\n").message.find("bf16_tflops"), std::string::npos);
    EXPECT_NE(errorOf("[gpu]\nbf16_tflops = 1\n").message.find("multiprocessors"), std::string::npos);
    EXPECT_NE(errorOf(kOwnGpu).message.find("usually"), std::string::npos);
    EXPECT_NE(errorOf("gpu = \"t4\"\n[node]\ngpus = 8\n").message.find("link"), std::string::npos);
    EXPECT_NE(errorOf("gpu = [1, 2]\n").message.find("a list"), std::string::npos);
    EXPECT_NE(errorOf("[gpu]\npreset = \"t4\"\nl2_mib = { source = \"x\" }\n").message.find("value"),
              std::string::npos);
    EXPECT_NE(errorOf("[node]\npreset = \"gb200-nvl72\"\nlink_domain = 71\n").message.find("multiple"),
              std::string::npos);
}

}  // namespace
}  // namespace shardscope::core
