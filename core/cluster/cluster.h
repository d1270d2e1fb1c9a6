#pragma once

// The hardware: one kind of GPU, the node it sits in, how many nodes are used, and which rank is where. Every number
// says where it comes from and how far to trust it, so that an answer can say on what it rests.
//
// Descriptions are TOML. Presets (core/cluster/presets) are embedded in the library; users write their own in the same
// form (docs/clusters.md) and may start from a preset.

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/document.h"
#include "core/base/dtype.h"
#include "core/base/quantities.h"
#include "core/base/result.h"

namespace shardscope::core {

enum class Confidence : std::uint8_t { High, Medium, Low };
[[nodiscard]] std::string_view nameOf(Confidence confidence);

/// A number with its origin. A value that nobody gave is unknown: NaN is never stored, `known` tells.
struct Sourced {
    double value = 0;
    std::string source;
    Confidence confidence = Confidence::Low;
    bool known = false;
    friend bool operator==(const Sourced&, const Sourced&) = default;
};

/// One GPU. Rates are per GPU; dense peaks without sparsity.
struct Gpu {
    std::string name;                                    ///< "h100-sxm"
    std::string title;                                   ///< "NVIDIA H100 SXM"
    std::string architecture;                            ///< "Hopper"
    std::string usualNode;                               ///< preset that is taken if a cluster names only the GPU
    Sourced bf16Flops, fp16Flops, tf32Flops, fp32Flops;  ///< FLOP/s; bf16 unknown where the hardware has none
    Sourced multiprocessors;                             ///< SMs
    Sourced memory;                                      ///< bytes on the device
    Sourced memoryUsable;                                ///< bytes that a framework sees before its context
    Sourced memoryBandwidth;                             ///< bytes/s, peak
    Sourced l2;                                          ///< bytes
    Sourced pcieBandwidth;                               ///< bytes/s per direction to the host
    Sourced gemmShare;       ///< share of the dense peak that the best matrix shapes reach in a short burst
    Sourced sustainedShare;  ///< share of the burst rate that remains under sustained load (power); 1: nothing lost
    Sourced hostLaunch;      ///< seconds of host time that one eager kernel launch costs
    std::string notes;
    friend bool operator==(const Gpu&, const Gpu&) = default;
};

/// Dense peak for operands of `dtype` (FP32 without TF32). A dtype the GPU has no units for runs at the fp32 rate.
[[nodiscard]] const Sourced& peakOf(const Gpu& gpu, DType dtype);

enum class LinkKind : std::uint8_t {
    NvSwitch,      ///< every GPU at full rate to every other
    NvLinkMesh,    ///< cube mesh, no switch
    NvLinkBridge,  ///< pairs only; collectives over more than two GPUs ride PCIe
    PciePeer,      ///< PCIe with peer-to-peer access
    PcieHost,      ///< PCIe through host memory (no peer-to-peer)
    InfinityFabric,
};
enum class Transport : std::uint8_t { InfiniBand, RoCE, Efa, GpuDirectTcp, Tcp };
[[nodiscard]] std::string_view nameOf(LinkKind kind);
[[nodiscard]] std::string_view nameOf(Transport transport);

/// One node.
struct Node {
    std::string name;             ///< "dgx-h100"
    std::string title;            ///< "NVIDIA DGX H100"
    std::string gpu;              ///< GPU preset that it usually holds
    std::int64_t gpus = 8;        ///< in one node
    std::int64_t linkDomain = 8;  ///< GPUs that reach each other over `link` (72 in an NVL72 rack; >= gpus)
    LinkKind link = LinkKind::NvSwitch;
    Sourced linkBandwidth;  ///< bytes/s per GPU and direction
    Transport transport = Transport::InfiniBand;
    Sourced nics;
    Sourced networkBandwidth;  ///< bytes/s per node and direction, all NICs together
    Sourced networkLatency;    ///< seconds that a collective over nodes takes beyond NCCL's own constants; unknown: by
                               ///< transport
    /// bytes/s of host-memory traffic that an optimizer on the CPUs reaches, all ranks of the node together; unknown: a
    /// usual one
    Sourced hostOptimizer;
    std::string notes;
    friend bool operator==(const Node&, const Node&) = default;
};

/// `nodes` nodes of which `gpusPerNode` GPUs are used, one rank per GPU. Ranks fill nodes in order.
struct Cluster {
    std::string name;  ///< "2 x 8 H100 SXM"
    Gpu gpu;
    Node node;
    std::int64_t nodes = 1;
    std::int64_t gpusPerNode = 8;

    [[nodiscard]] std::int64_t ranks() const { return nodes * gpusPerNode; }
    [[nodiscard]] std::int64_t nodeOf(std::int64_t rank) const { return rank / gpusPerNode; }
    /// Ranks that reach each other over the in-node link: of one node, or of all trays of one NVLink domain.
    [[nodiscard]] std::int64_t domainRanks() const {
        const std::int64_t trays = node.linkDomain > node.gpus ? node.linkDomain / node.gpus : 1;
        return gpusPerNode * trays;
    }
    [[nodiscard]] std::int64_t domainOf(std::int64_t rank) const { return rank / domainRanks(); }
    /// bytes/s per direction that one rank has of its node's network with all of the node's ranks sending.
    [[nodiscard]] double networkPerRank() const {
        return node.networkBandwidth.value / static_cast<double>(gpusPerNode);
    }
    friend bool operator==(const Cluster&, const Cluster&) = default;
};

/// Names of the embedded presets, sorted.
[[nodiscard]] std::vector<std::string> gpuPresetNames();
[[nodiscard]] std::vector<std::string> nodePresetNames();
/// Errors: an unknown name (the nearest known one is offered).
[[nodiscard]] Result<Gpu> gpuPreset(std::string_view name);
[[nodiscard]] Result<Node> nodePreset(std::string_view name);

/// Reads a cluster table (the `[cluster]` section of a scenario, or a file of its own; `name` is the file's name):
///   gpu  = "h100-sxm" or a table in the form of a GPU preset (which may start from one with `preset = "h100-sxm"`)
///   node = "dgx-h100" or a table in the form of a node preset; if left out, the GPU's usual node
///   nodes = 1, gpus_per_node = 8 (if left out, all of the node's)
/// Errors, each with its place: unknown keys (with the nearest known one), unknown presets, values that are zero,
/// negative, NaN or absurd, more GPUs per node than the node has, a peak that is missing.
[[nodiscard]] Result<Cluster> parseCluster(const Document& document, const std::string& name);

/// The same from names; `gpusPerNode` 0: all of the node's. An empty node name: the GPU's usual one.
[[nodiscard]] Result<Cluster> makeCluster(std::string_view gpu, std::string_view node = {}, std::int64_t nodes = 1,
                                          std::int64_t gpusPerNode = 0);

/// A line per value of the cluster that is not of high confidence: "memory bandwidth of the GPU, 320 GB/s: datasheet,
/// recalled (medium confidence)". Only those of at most `worst` confidence.
[[nodiscard]] std::vector<std::string> doubtsOf(const Cluster& cluster, Confidence worst = Confidence::Low);

}  // namespace shardscope::core
