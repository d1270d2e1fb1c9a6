#include "gui/lane/memory_curve.h"

#include <algorithm>
#include <cassert>

namespace shardscope::gui {

void MemoryCurve::append(std::int64_t at, const Bytes& byCategory) {
    assert(time.empty() || time.back() < at);
    std::int64_t sum = 0;
    for (const std::int64_t bytesOfOne : byCategory) sum += bytesOfOne;
    const std::size_t i = time.size();
    time.push_back(at);
    bytes.push_back(byCategory);
    total.push_back(sum);
    if (i % kBlock == 0) m_blocks.push_back({i, i});
    widen(m_blocks.back(), {i, i});
}

void MemoryCurve::widen(Extremes& extremes, const Extremes& by) const {
    if (total[by.largest] > total[extremes.largest]) extremes.largest = by.largest;
    if (total[by.least] < total[extremes.least]) extremes.least = by.least;
}

std::optional<MemoryCurve::Extremes> MemoryCurve::extremesIn(std::int64_t begin, std::int64_t end) const {
    if (time.empty() || end <= time.front()) return std::nullopt;
    auto first = static_cast<std::size_t>(std::ranges::upper_bound(time, begin) - time.begin());
    if (first > 0) --first;
    const auto last = std::max(first + 1, static_cast<std::size_t>(std::ranges::lower_bound(time, end) - time.begin()));
    Extremes extremes{first, first};
    for (std::size_t i = first; i < last;) {
        const bool whole = i % kBlock == 0 && i + kBlock <= last;
        widen(extremes, whole ? m_blocks[i / kBlock] : Extremes{i, i});
        i += whole ? kBlock : 1;
    }
    return extremes;
}

}  // namespace shardscope::gui
