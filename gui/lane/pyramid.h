#pragma once

// A lane at every zoom. Bucket b of level l stands for [b, b + 1) x 2^(shift + l) ns: how much of it is work and what
// most of the work and most of the rest look like. A frame reads one bucket a pixel column, however many pieces the
// lane has.

#include <cstdint>
#include <span>
#include <vector>

#include "gui/lane/pieces.h"

namespace shardscope::gui {

/// Waiting, idle and empty stretches are gaps; everything else is work.
[[nodiscard]] constexpr bool isGap(formats::Look look) {
    using enum formats::Look;
    return look == Waiting || look == Idle || look == None || look == Exposed;
}

struct Bucket {
    std::uint8_t work = 0;  ///< share of the bucket that is work, in 1/255; never 0 where there is some
    formats::Look workLook = formats::Look::None;
    formats::Look gapLook = formats::Look::None;
    friend bool operator==(const Bucket&, const Bucket&) = default;
};

class Pyramid {
public:
    Pyramid() = default;
    /// Of pieces in order of time that do not overlap, from 0 on. Shares of the lowest level are exact; O(pieces).
    explicit Pyramid(const Pieces& pieces);

    [[nodiscard]] std::size_t levels() const { return m_levels.size(); }
    /// Width of a bucket in ns.
    [[nodiscard]] std::int64_t widthOf(std::size_t level) const { return std::int64_t{1} << (m_shift + level); }
    [[nodiscard]] std::span<const Bucket> level(std::size_t level) const { return m_levels[level]; }
    /// The lowest level whose buckets are at least `ns` wide; `levels()` - 1 if none is.
    [[nodiscard]] std::size_t levelFor(double ns) const;
    /// The bucket of a level at an instant; an empty one outside the lane.
    [[nodiscard]] Bucket at(std::size_t level, std::int64_t time) const;
    /// Bytes that all levels take.
    [[nodiscard]] std::size_t bytes() const;

private:
    std::size_t m_shift = 0;
    std::vector<std::vector<Bucket>> m_levels;
};

}  // namespace shardscope::gui
