#include "runtime/data/sample_order.h"

#include <fmt/format.h>

namespace shardscope::runtime {

core::Result<SampleOrder> SampleOrder::create(std::int64_t samples, Place place, bool setEpoch, std::uint64_t seed) {
    const DistributedSampler sampler(samples, place.ranks, {.shuffle = true, .dropLast = false, .seed = seed});
    if (sampler.samplesOfRank() < place.samplesOfStep)
        return core::fail(core::ErrorCode::Input,
                          fmt::format("{} samples over {} ranks, {} a rank; one step of a rank takes {}", samples,
                                      place.ranks, sampler.samplesOfRank(), place.samplesOfStep),
                          {}, "use a smaller training.local_batch_size, or more samples");
    return SampleOrder(sampler, place, setEpoch);
}

std::span<const std::int64_t> SampleOrder::indicesOf(std::int64_t step) {
    const std::int64_t epoch = step / stepsOfEpoch();
    if (m_epoch != epoch) {
        if (m_setEpoch) m_sampler.setEpoch(epoch);
        m_indices = m_sampler.indicesOf(m_place.rank);
        m_epoch = epoch;
    }
    return std::span<const std::int64_t>(m_indices).subspan(
        static_cast<std::size_t>(step % stepsOfEpoch() * m_place.samplesOfStep),
        static_cast<std::size_t>(m_place.samplesOfStep));
}

}  // namespace shardscope::runtime
