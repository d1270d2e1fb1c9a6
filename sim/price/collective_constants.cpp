#include "sim/price/collective_constants.h"

#include <array>

namespace shardscope::sim {
namespace {

using core::Confidence;
constexpr double kMicro = 1e-6;
constexpr double kMebi = 1024.0 * 1024.0;

constexpr std::array<RingProtocol, 3> kRing{{
    {"LL", 6.6 * kMicro, 0.6 * kMicro, 1.0 * kMicro, 2.7 * kMicro, 1.0 * kMicro, 0.5, true},
    {"LL128", 14.0 * kMicro, 1.9 * kMicro, 2.5 * kMicro, 4.0 * kMicro, 1.0 * kMicro, 0.92, false},
    {"Simple", 8.4 * kMicro, 3.4 * kMicro, 5.7 * kMicro, 14.0 * kMicro, 3.0 * kMicro, 1.0, false},
}};

constexpr std::array<TreeProtocol, 3> kTree{{
    {"LL", 6.8 * kMicro, 0.6 * kMicro, 1.0 * kMicro, 5.0 * kMicro, 1.0 * kMicro, 1 / 3.8, 1 / 3.8, true},
    {"LL128", 14.0 * kMicro, 1.25 * kMicro, 1.9 * kMicro, 8.5 * kMicro, 1.0 * kMicro, 7.0 / 9, 120.0 / 128, false},
    {"Simple", 8.4 * kMicro, 4.0 * kMicro, 4.0 * kMicro, 14.0 * kMicro, 3.0 * kMicro, 1.0, 1.0, false},
}};

// 8 GiB all-reduces of 5 to 8 x H200 (414 to 473 GB/s of bus bandwidth) and 6 to 8 x B200 (778 to 838), cost model
// facts 2.5; half sizes from the tables of 8 x H100, H200 and B200.
constexpr SwitchConstants kSwitchHopper{0.64, 0.51, 3.0 * kMebi, 5, "all-reduce of 5 to 8 x H200 and of 8 x H100"};
constexpr SwitchConstants kSwitchBlackwell{0.572, 0.56, 14.0 * kMebi, 6, "all-reduce of 6 to 8 x B200"};

// Fitted to the nccl-tests tables named in `source` (rows meant for calibration); errors in docs/model.md. Pair shares:
// nvbandwidth copies of 276/300, 376/450 and 746/900 GB/s (cost model facts 2.3).
constexpr LinkConstants kNvSwitchAmpere{19.2 * kMicro,
                                        0.89,
                                        0.75,
                                        4.6 * kMebi,
                                        0.92,
                                        false,
                                        Confidence::Medium,
                                        "all-reduce of 8 x A100 (ring, no in-switch reduction)"};
constexpr LinkConstants kNvSwitchHopper{5.4 * kMicro,
                                        0.904,
                                        0.75,
                                        2.1 * kMebi,
                                        0.84,
                                        false,
                                        Confidence::High,
                                        "all-gather and reduce-scatter of 2, 4 and 8 x H100"};
constexpr LinkConstants kNvSwitchBlackwell{5.4 * kMicro,
                                           0.845,
                                           0.75,
                                           7.8 * kMebi,
                                           0.83,
                                           false,
                                           Confidence::High,
                                           "all-gather and reduce-scatter of 2, 4 and 8 x B200"};
constexpr LinkConstants kNvLinkMesh{
    12.0 * kMicro, 1.0, 0.75, 1.8 * kMebi, 0.92, false, Confidence::Medium, "all-reduce of 8 x V100 in a cube mesh"};
// A100-PCIe: .68 of 30 GB/s with 2 or 4 GPUs, .41 with 8 (SimuMax's fit, mean of gather and scatter).
constexpr LinkConstants kPciePeerFew{
    10.0 * kMicro, 0.68, 0, 0.3 * kMebi, 0.8, true, Confidence::Medium, "SimuMax's fit of 2 and 4 x A100-PCIe"};
constexpr LinkConstants kPciePeerMany{
    10.0 * kMicro, 0.41, 0, 0.3 * kMebi, 0.8, true, Confidence::Medium, "SimuMax's fit of 8 x A100-PCIe"};
constexpr LinkConstants kPcieHost{
    0, 0.55, 0, 0.35 * kMebi, 0.5, true, Confidence::Low, "all-reduce of 8 x RTX 4090 without peer-to-peer"};
constexpr LinkConstants kInfinityFabric{
    15.0 * kMicro, 0.80, 0.3, 1.0 * kMebi, 0.8, false, Confidence::Low, "all-reduce of 8 x MI355X"};

constexpr LinkConstants kInfiniBand{
    0, 0.93, 0, 1.0 * kMebi, 0.9, false, Confidence::Medium, "all-reduce over 2 nodes of DGX A100 and DGX-1V"};
constexpr LinkConstants kRoCE{
    14.5 * kMicro, 0.895, 0, 4.1 * kMebi, 0.9, false, Confidence::High, "all-gather over 2 nodes of GCP A3-Ultra"};
constexpr LinkConstants kEfa{
    33.0 * kMicro, 0.9, 0, 20.0 * kMebi, 0.9, false, Confidence::Low, "all-reduce over 2 nodes of AWS p4d and p5"};
constexpr LinkConstants kGpuDirectTcp{56.0 * kMicro,
                                      0.95,
                                      0,
                                      1.9 * kMebi,
                                      0.9,
                                      false,
                                      Confidence::High,
                                      "all-gather over 2 nodes of GCP A3-Mega and A3-High"};
constexpr LinkConstants kTcp{50.0 * kMicro,
                             0.95,
                             0,
                             1.0 * kMebi,
                             0.9,
                             false,
                             Confidence::Low,
                             "all-reduce over 2 A10G nodes with 25 Gb/s TCP, two sizes"};

}  // namespace

std::span<const RingProtocol> ringProtocols() {
    return kRing;
}

std::span<const TreeProtocol> treeProtocols() {
    return kTree;
}

SwitchConstants switchConstantsOf(core::LinkKind kind, GpuFamily family) {
    if (kind != core::LinkKind::NvSwitch) return {};
    if (family == GpuFamily::Hopper) return kSwitchHopper;
    if (family == GpuFamily::Blackwell) return kSwitchBlackwell;
    return {};
}

double llLimit(GpuFamily family, std::int64_t domains) {
    if (domains == 2) return 22.5e9;
    if (domains > 2) return 19.0e9;
    switch (family) {
        case GpuFamily::Volta:
        case GpuFamily::Turing: return 39.0e9;
        case GpuFamily::Hopper: return 141.0e9;
        case GpuFamily::Blackwell: return 282.0e9;
        default: return 87.7e9;
    }
}

LinkConstants linkConstantsOf(core::LinkKind kind, GpuFamily family, std::int64_t activeRanks) {
    switch (kind) {
        case core::LinkKind::NvSwitch:
            if (family == GpuFamily::Hopper) return kNvSwitchHopper;
            if (family == GpuFamily::Blackwell) return kNvSwitchBlackwell;
            return kNvSwitchAmpere;
        case core::LinkKind::NvLinkMesh: return kNvLinkMesh;
        case core::LinkKind::NvLinkBridge:
        case core::LinkKind::PciePeer: return activeRanks > 4 ? kPciePeerMany : kPciePeerFew;
        case core::LinkKind::PcieHost: return kPcieHost;
        case core::LinkKind::InfinityFabric: return kInfinityFabric;
    }
    return kPcieHost;
}

LinkConstants networkConstantsOf(core::Transport transport) {
    switch (transport) {
        case core::Transport::InfiniBand: return kInfiniBand;
        case core::Transport::RoCE: return kRoCE;
        case core::Transport::Efa: return kEfa;
        case core::Transport::GpuDirectTcp: return kGpuDirectTcp;
        case core::Transport::Tcp: return kTcp;
    }
    return kTcp;
}

}  // namespace shardscope::sim
