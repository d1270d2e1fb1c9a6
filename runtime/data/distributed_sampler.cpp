#include "runtime/data/distributed_sampler.h"

#include <cassert>
#include <numeric>

#include "runtime/data/random_order.h"

namespace shardscope::runtime {

DistributedSampler::DistributedSampler(std::int64_t samples, std::int64_t ranks, Options options)
    : m_samples(samples),
      m_ranks(ranks),
      m_options(options),
      m_samplesOfRank(samples / ranks + (!options.dropLast && samples % ranks != 0 ? 1 : 0)) {
    assert(samples >= 1 && ranks >= 1);
}

std::vector<std::int64_t> DistributedSampler::indicesOf(std::int64_t rank) const {
    assert(rank >= 0 && rank < m_ranks);
    std::vector<std::int64_t> order;
    if (m_options.shuffle) {
        order = randomPermutation(m_samples, m_options.seed + static_cast<std::uint64_t>(m_epoch));
    } else {
        order.resize(static_cast<std::size_t>(m_samples));
        std::iota(order.begin(), order.end(), 0);
    }
    std::vector<std::int64_t> own;
    own.reserve(static_cast<std::size_t>(m_samplesOfRank));
    for (std::int64_t i = 0; i < m_samplesOfRank; ++i)
        own.push_back(order[static_cast<std::size_t>((rank + i * m_ranks) % m_samples)]);
    return own;
}

}  // namespace shardscope::runtime
