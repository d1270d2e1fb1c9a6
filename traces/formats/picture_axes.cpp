#include "traces/formats/picture_axes.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "traces/formats/text.h"

namespace shardscope::formats {

std::vector<Tick> roundTicks(double end, int most) {
    std::vector<Tick> ticks;
    if (!(end > 0) || most < 2) return {{0, "0"}};
    double step = std::pow(10.0, std::floor(std::log10(end / most)));
    for (const double factor : {1.0, 2.0, 5.0, 10.0}) {
        if (end / (step * factor) < most) {
            step *= factor;
            break;
        }
    }
    const int decimals = std::max(0, -static_cast<int>(std::floor(std::log10(step) + 1e-9)));
    for (int i = 0; i * step <= end * (1 + 1e-9); ++i)
        ticks.push_back({i * step, fmt::format("{:.{}f}", i * step, decimals)});
    return ticks;
}

double textWidth(std::string_view text, double fontSize) {
    // DejaVu Sans, the widest of the picture's fonts, averages 0.6 em over lower case and figures.
    constexpr double kNarrow = 0.62, kWide = 1.02;
    double ems = 0;
    while (!text.empty()) {
        const std::size_t length = std::max<std::size_t>(utf8Length(text), 1);
        ems += length >= 3 ? kWide : kNarrow;
        text.remove_prefix(length);
    }
    return ems * fontSize;
}

std::string shortened(std::string_view text, double width, double fontSize) {
    if (textWidth(text, fontSize) <= width) return std::string(text);
    std::string kept;
    for (std::string_view rest = text; !rest.empty();) {
        const std::size_t length = std::max<std::size_t>(utf8Length(rest), 1);
        const std::string longer = kept + std::string(rest.substr(0, length));
        if (textWidth(longer + "...", fontSize) > width) break;
        kept = longer;
        rest.remove_prefix(length);
    }
    return kept.empty() ? "" : kept + "...";
}

}  // namespace shardscope::formats
