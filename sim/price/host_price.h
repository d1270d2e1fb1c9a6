#pragma once

// Work that CPU offload puts on the host: copies over PCIe, and passes over parameters and gradients in host memory.

#include <cstdint>
#include <string>

#include "core/cluster/cluster.h"

namespace shardscope::sim {

struct HostPrice {
    double seconds = 0;
    double rate = 0;     ///< bytes/s
    std::string source;  ///< of the rate
};

/// `bytes` in `copies` pieces between device and host, alone on the GPU's PCIe link. Page-locked memory reaches 88 % of
/// the link's rate (55.4 of 63 GB/s on an H200 and 26.0 of 31.5 on an A100, cost model facts 6.1), pageable memory
/// about a fifth of that (4 to 6 times slower, same place).
[[nodiscard]] HostPrice priceHostCopy(double bytes, std::int64_t copies, bool pinned, const core::Cluster& cluster);

/// A pass of `traffic` bytes read and written in the memory of a host that all ranks of a node share. The rate is the
/// node's `host_optimizer_gbs`; without it that of PyTorch's CPU Adam, 28 bytes of traffic a parameter at 1.39 s per
/// billion, or for a fused one at 0.24 s per billion (ZeRO-Offload's table in cost model facts 6.2, where it is marked
/// as not confirmed).
[[nodiscard]] HostPrice priceHostPass(double traffic, bool fused, const core::Cluster& cluster);

}  // namespace shardscope::sim
