#pragma once

// Scales and shapes of text that the parts of the picture share.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace shardscope::formats {

/// From nanoseconds to pixels of the picture's clock.
struct TimeScale {
    double left = 0, width = 1;  ///< px
    std::int64_t length = 1;     ///< ns, at the right edge

    [[nodiscard]] double x(std::int64_t ns) const {
        return left + width * static_cast<double>(ns) / static_cast<double>(length);
    }
    [[nodiscard]] double px(std::int64_t ns) const {
        return width * static_cast<double>(ns) / static_cast<double>(length);
    }
};

struct Tick {
    double value = 0;  ///< in the axis' unit
    std::string label;
};

/// Round values (1, 2 or 5 times a power of ten) from 0 to `end`, at most `most` of them (>= 2).
[[nodiscard]] std::vector<Tick> roundTicks(double end, int most);

/// Width in px that `text` takes at most in the fonts of the picture: a wide one (Hangul, CJK) counts as one em.
[[nodiscard]] double textWidth(std::string_view text, double fontSize);

/// `text` cut with "..." so that it fits into `width` px; "" when not even that fits.
[[nodiscard]] std::string shortened(std::string_view text, double width, double fontSize);

}  // namespace shardscope::formats
