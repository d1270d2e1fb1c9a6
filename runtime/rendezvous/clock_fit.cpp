#include "runtime/rendezvous/clock_fit.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "runtime/device/clock.h"

namespace shardscope::runtime {

namespace {

constexpr double kMostDrift = 0.01;

const ClockSample* quickest(std::span<const ClockSample> samples) {
    const auto least = std::min_element(samples.begin(), samples.end(),
                                        [](const auto& a, const auto& b) { return a.roundTrip < b.roundTrip; });
    return least == samples.end() ? nullptr : &*least;
}

}  // namespace

core::Result<std::vector<ClockSample>> exchangeClocks(StoreClient& store) {
    std::vector<ClockSample> samples;
    while (samples.size() < kClockExchanges) {
        const std::int64_t sent = clockNow();
        SHARDSCOPE_ASSIGN(const std::int64_t there, store.ping());
        const std::int64_t roundTrip = clockNow() - sent, local = sent + roundTrip / 2;
        samples.push_back({local, there - local, roundTrip});
    }
    return samples;
}

ClockFit::ClockFit(std::span<const ClockSample> atStart, std::span<const ClockSample> atEnd) {
    const ClockSample* first = quickest(atStart);
    const ClockSample* last = quickest(atEnd);
    if (first == nullptr) first = last;
    if (last == nullptr) last = first;
    if (first == nullptr) return;
    const auto none = [](const ClockSample& sample) { return std::abs(sample.offset) <= sample.roundTrip / 2; };
    m_start = first->local;
    if (!none(*first) || !none(*last)) {
        m_offset = first->offset;
        const std::int64_t change = last->offset - first->offset;
        if (std::abs(change) > (first->roundTrip + last->roundTrip) / 2 && last->local > first->local)
            m_drift = std::clamp(static_cast<double>(change) / static_cast<double>(last->local - first->local),
                                 -kMostDrift, kMostDrift);
    }
    for (const auto& [samples, best] : {std::pair{atStart, first}, {atEnd, last}})
        for (const ClockSample& sample : samples)
            if (sample.roundTrip <= 2 * best->roundTrip)
                m_residual = std::max(m_residual, std::abs(sample.offset - (toCommon(sample.local) - sample.local)));
}

std::int64_t ClockFit::toCommon(std::int64_t local) const {
    return local + m_offset + std::llround(m_drift * static_cast<double>(local - m_start));
}

}  // namespace shardscope::runtime
