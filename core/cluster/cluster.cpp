#include "core/cluster/cluster.h"

#include <fmt/format.h>

#include <array>
#include <utility>

namespace shardscope::core {

std::string_view nameOf(Confidence confidence) {
    switch (confidence) {
        case Confidence::High: return "high";
        case Confidence::Medium: return "medium";
        case Confidence::Low: return "low";
    }
    return "?";
}

std::string_view nameOf(LinkKind kind) {
    switch (kind) {
        case LinkKind::NvSwitch: return "nvswitch";
        case LinkKind::NvLinkMesh: return "nvlink-mesh";
        case LinkKind::NvLinkBridge: return "nvlink-bridge";
        case LinkKind::PciePeer: return "pcie-peer";
        case LinkKind::PcieHost: return "pcie-host";
        case LinkKind::InfinityFabric: return "infinity-fabric";
    }
    return "?";
}

std::string_view nameOf(Transport transport) {
    switch (transport) {
        case Transport::InfiniBand: return "infiniband";
        case Transport::RoCE: return "roce";
        case Transport::Efa: return "efa";
        case Transport::GpuDirectTcp: return "gpudirect-tcp";
        case Transport::Tcp: return "tcp";
    }
    return "?";
}

const Sourced& peakOf(const Gpu& gpu, DType dtype) {
    const Sourced* peak = &gpu.fp32Flops;
    if (dtype == DType::BF16) peak = &gpu.bf16Flops;
    if (dtype == DType::F16) peak = &gpu.fp16Flops;
    if (peak->known) return *peak;
    if (gpu.fp32Flops.known) return gpu.fp32Flops;
    return gpu.bf16Flops.known ? gpu.bf16Flops : gpu.fp16Flops;
}

std::vector<std::string> doubtsOf(const Cluster& cluster, Confidence worst) {
    std::vector<std::string> doubts;
    const auto add = [&](const std::string& where, const Sourced& value, std::string_view what, double scale,
                         std::string_view unit) {
        if (!value.known || value.confidence < worst) return;
        doubts.push_back(fmt::format("{} of {}, {:g} {}: {} ({} confidence)", what, where, value.value / scale, unit,
                                     value.source, nameOf(value.confidence)));
    };
    const Gpu& gpu = cluster.gpu;
    add(gpu.title, gpu.bf16Flops, "bf16 peak", 1e12, "TFLOPS");
    add(gpu.title, gpu.fp16Flops, "fp16 peak", 1e12, "TFLOPS");
    add(gpu.title, gpu.fp32Flops, "fp32 peak", 1e12, "TFLOPS");
    add(gpu.title, gpu.multiprocessors, "multiprocessors", 1, "SMs");
    add(gpu.title, gpu.memory, "memory", 1024.0 * 1024 * 1024, "GiB");
    add(gpu.title, gpu.memoryUsable, "usable memory", 1024.0 * 1024 * 1024, "GiB");
    add(gpu.title, gpu.memoryBandwidth, "memory bandwidth", 1e9, "GB/s");
    add(gpu.title, gpu.gemmShare, "best share of the peak in matrix products", 1, "");
    add(gpu.title, gpu.sustainedShare, "share of the burst rate under sustained load", 1, "");
    add(gpu.title, gpu.hostLaunch, "host time per kernel launch", 1e-6, "us");
    if (cluster.gpusPerNode > 1) add(cluster.node.title, cluster.node.linkBandwidth, "link bandwidth", 1e9, "GB/s");
    if (cluster.nodes > 1) {
        add(cluster.node.title, cluster.node.networkBandwidth, "network bandwidth", 1e9, "GB/s");
        add(cluster.node.title, cluster.node.networkLatency, "network latency", 1e-6, "us");
        add(cluster.node.title, cluster.node.nics, "number", 1, "NICs");
    }
    return doubts;
}

}  // namespace shardscope::core
