#pragma once

// A slower link than the machine has, between all ranks.

#include <cstdint>

namespace shardscope::core {

/// A transfer lasts at least latency + bytes / bandwidth from its start, with the bytes that a rank of n sends in a
/// ring: (n - 1) / n of the large side for all-gather and reduce-scatter, twice that for all-reduce, all of a message,
/// none for a barrier. Transfers of different communicators do not share the link.
struct ArtificialLink {
    double bandwidth = 0;  ///< bytes per second; 0: as fast as it goes
    double latency = 0;    ///< seconds

    [[nodiscard]] bool given() const { return bandwidth > 0 || latency > 0; }
    [[nodiscard]] std::int64_t nanoseconds(double bytes) const;
    /// Of a collective of `bytes` (large side) among so many ranks; an all-reduce has twice that.
    [[nodiscard]] static double ringBytes(double bytes, std::int64_t members);
    friend bool operator==(const ArtificialLink&, const ArtificialLink&) = default;
};

}  // namespace shardscope::core
