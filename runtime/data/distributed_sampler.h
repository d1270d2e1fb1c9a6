#pragma once

// Which samples a rank sees in an epoch: PyTorch's DistributedSampler (framework semantics 7.3).

#include <cstdint>
#include <vector>

namespace shardscope::runtime {

/// `samples` (at least 1) over `ranks` (at least 1). Every rank gets as many: the order is continued from its beginning
/// until it divides, or cut where `dropLast` is set.
class DistributedSampler {
public:
    struct Options {
        bool shuffle = true;
        bool dropLast = false;
        std::uint64_t seed = 0;  ///< of all ranks; a negative one of PyTorch's is taken modulo 2^64
    };

    DistributedSampler(std::int64_t samples, std::int64_t ranks, Options options);

    /// Only stored, as in PyTorch: who never calls it gets the order of epoch 0 in every epoch.
    void setEpoch(std::int64_t epoch) { m_epoch = epoch; }

    /// Samples of a rank in an epoch; 0 where `dropLast` leaves fewer than one for each.
    [[nodiscard]] std::int64_t samplesOfRank() const { return m_samplesOfRank; }
    /// Indices of the samples of that rank in the epoch that is set, in order: every `ranks`-th of the common order,
    /// from the rank's own place on.
    [[nodiscard]] std::vector<std::int64_t> indicesOf(std::int64_t rank) const;

private:
    std::int64_t m_samples, m_ranks;
    Options m_options;
    std::int64_t m_samplesOfRank;
    std::int64_t m_epoch = 0;
};

}  // namespace shardscope::runtime
