#pragma once

// Which samples a rank sees in which step: a sampler's epochs, cut into steps.

#include <cstdint>
#include <span>
#include <vector>

#include "core/base/result.h"
#include "runtime/data/distributed_sampler.h"

namespace shardscope::runtime {

class SampleOrder {
public:
    struct Place {
        std::int64_t ranks = 1;          ///< data-parallel ones
        std::int64_t rank = 0;           ///< among them
        std::int64_t samplesOfStep = 1;  ///< of one rank, all its micro-batches
    };

    /// Shuffled; `setEpoch`: the sampler is told each epoch, as it should be. Errors: fewer samples than one step
    /// takes.
    [[nodiscard]] static core::Result<SampleOrder> create(std::int64_t samples, Place place, bool setEpoch,
                                                          std::uint64_t seed = 0);

    /// What is left of an epoch that does not make a step is left out, as a data loader with drop_last does.
    [[nodiscard]] std::int64_t stepsOfEpoch() const { return m_sampler.samplesOfRank() / m_place.samplesOfStep; }
    /// Indices of the samples of a step, counted over all epochs; valid until the next call.
    [[nodiscard]] std::span<const std::int64_t> indicesOf(std::int64_t step);

private:
    SampleOrder(DistributedSampler sampler, Place place, bool setEpoch)
        : m_sampler(sampler), m_place(place), m_setEpoch(setEpoch) {}

    DistributedSampler m_sampler;
    Place m_place;
    bool m_setEpoch;
    std::int64_t m_epoch = -1;  ///< whose indices these are
    std::vector<std::int64_t> m_indices;
};

}  // namespace shardscope::runtime
