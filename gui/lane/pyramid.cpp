#include "gui/lane/pyramid.h"

#include <algorithm>
#include <array>
#include <bit>

namespace shardscope::gui {

using formats::Look;

namespace {

std::uint8_t shareOf(std::int64_t part, std::int64_t whole) {
    if (part <= 0) return 0;
    return static_cast<std::uint8_t>(
        std::clamp<double>(255.0 * static_cast<double>(part) / static_cast<double>(whole) + 0.5, 1, 255));
}

/// Time by look within the bucket that is being filled; most buckets hold two or three looks.
struct Filling {
    std::array<std::int64_t, formats::kLooks> time{};
    std::uint32_t looks = 0;  // bit l: look l has time

    void add(Look look, std::int64_t ns) {
        time[static_cast<std::size_t>(look)] += ns;
        looks |= 1U << static_cast<std::uint32_t>(look);
    }
};

/// Empties what it is made of.
Bucket bucketOf(Filling& filling, std::int64_t width) {
    Bucket bucket;
    std::int64_t work = 0, mostWork = 0, mostGap = 0;
    std::array<std::int64_t, formats::kLooks>& time = filling.time;
    for (; filling.looks != 0; filling.looks &= filling.looks - 1) {
        const auto l = static_cast<std::size_t>(std::countr_zero(filling.looks));
        const auto look = static_cast<Look>(l);
        if (isGap(look)) {
            if (time[l] > mostGap) {
                mostGap = time[l];
                bucket.gapLook = look;
            }
        } else {
            work += time[l];
            if (time[l] > mostWork) {
                mostWork = time[l];
                bucket.workLook = look;
            }
        }
        time[l] = 0;
    }
    bucket.work = shareOf(work, width);
    return bucket;
}

// Of two neighbours the fuller one's look counts; a tie keeps the earlier one's. Halves are rounded up and down by
// turns: always up, they would add a share of one in a hundred on the way to the top.
Bucket joined(const Bucket& a, const Bucket& b, bool roundUp) {
    Bucket both;
    const int sum = a.work + b.work;
    both.work = static_cast<std::uint8_t>(sum == 1 ? 1 : (sum + (roundUp ? 1 : 0)) / 2);
    both.workLook = b.work > a.work ? b.workLook : a.workLook;
    const bool secondGap = a.gapLook == Look::None || (b.gapLook != Look::None && b.work < a.work);
    both.gapLook = secondGap ? b.gapLook : a.gapLook;
    return both;
}

}  // namespace

Pyramid::Pyramid(const Pieces& pieces) {
    if (pieces.empty() || pieces.endOf(pieces.size() - 1) <= 0) return;
    const std::int64_t end = pieces.endOf(pieces.size() - 1);
    // About one bucket a piece; the zoom below that draws the pieces themselves.
    const auto target = static_cast<std::uint64_t>(end) / std::max<std::uint64_t>(1, pieces.size());
    m_shift = target > 1 ? static_cast<std::size_t>(std::bit_width(target - 1)) : 0;
    const std::int64_t width = std::int64_t{1} << m_shift;
    std::vector<Bucket> lowest(static_cast<std::size_t>((end + width - 1) / width));
    Filling filling;
    std::size_t bucket = 0;
    for (std::size_t i = 0; i < pieces.size(); ++i) {
        std::int64_t from = std::max<std::int64_t>(pieces.beginOf(i), 0);
        const std::int64_t pieceEnd = pieces.endOf(i);
        while (from < pieceEnd) {
            const auto at = static_cast<std::size_t>(from >> m_shift);
            if (at != bucket) {
                lowest[bucket] = bucketOf(filling, width);
                bucket = at;
            }
            const std::int64_t to = std::min(pieceEnd, static_cast<std::int64_t>(at + 1) << m_shift);
            filling.add(pieces.lookOf(i), to - from);
            from = to;
        }
    }
    lowest[bucket] = bucketOf(filling, width);
    m_levels.push_back(std::move(lowest));
    while (m_levels.back().size() > 1) {
        const std::vector<Bucket>& below = m_levels.back();
        std::vector<Bucket> above((below.size() + 1) / 2);
        for (std::size_t i = 0; i < above.size(); ++i)
            above[i] = joined(below[2 * i], 2 * i + 1 < below.size() ? below[2 * i + 1] : Bucket{}, i % 2 == 0);
        m_levels.push_back(std::move(above));
    }
}

std::size_t Pyramid::levelFor(double ns) const {
    std::size_t level = 0;
    while (level + 1 < m_levels.size() && static_cast<double>(widthOf(level)) < ns) ++level;
    return level;
}

Bucket Pyramid::at(std::size_t level, std::int64_t time) const {
    if (time < 0 || level >= m_levels.size()) return {};
    const auto index = static_cast<std::size_t>(time >> (m_shift + level));
    return index < m_levels[level].size() ? m_levels[level][index] : Bucket{};
}

std::size_t Pyramid::bytes() const {
    std::size_t sum = 0;
    for (const auto& level : m_levels) sum += level.capacity() * sizeof(Bucket);
    return sum;
}

}  // namespace shardscope::gui
