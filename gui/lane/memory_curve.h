#pragma once

// Bytes of one rank over device time.

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "core/graph/step_graph.h"

namespace shardscope::gui {

/// Steps: value i holds from time[i] to time[i + 1], the last one for ever.
struct MemoryCurve {
    using Bytes = std::array<std::int64_t, core::kMemoryCategories>;
    std::vector<std::int64_t> time;  ///< ns
    std::vector<Bytes> bytes;
    std::vector<std::int64_t> total;

    /// At a later instant than the last.
    void append(std::int64_t at, const Bytes& byCategory);

    /// Indices of a largest and a least total.
    struct Extremes {
        std::size_t largest = 0, least = 0;
    };
    /// Of what holds somewhere within [begin, end) ns: what a pixel column shows, so that no peak is lost. No value
    /// before the curve begins.
    [[nodiscard]] std::optional<Extremes> extremesIn(std::int64_t begin, std::int64_t end) const;

private:
    static constexpr std::size_t kBlock = 64;
    std::vector<Extremes> m_blocks;  // of kBlock values each, so that long stretches are not read value by value
    void widen(Extremes& extremes, const Extremes& by) const;
};

}  // namespace shardscope::gui
