#pragma once

// Every word that the picture writes by itself. "{}" is where a figure or a name goes; translations may move it but
// keep it.

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include "core/graph/step_graph.h"
#include "traces/formats/picture_style.h"
#include "traces/timeline/causes.h"

namespace shardscope::formats {

struct PictureText {
    std::string_view language;       ///< xml:lang
    std::string_view works;          ///< head of the column of shares
    std::string_view headline;       ///< "each GPU works {}% of the step"
    std::string_view headlineRange;  ///< "the GPUs work {}% to {}% of the step"
    // The same of a run, whose ranks are no GPUs.
    std::string_view runHeadline, runHeadlineRange;
    std::string_view transferShare;  ///< ", {}% exposed transfers": transfers and copies that no compute hides
    std::string_view waitShare;      ///< ", {}% waiting": waiting and idle
    std::string_view step;           ///< "step {}"
    std::string_view rank;           ///< "GPU {}"
    std::string_view moreRanks;      ///< "and {} more, not drawn"
    std::string_view memory;         ///< "memory"
    std::string_view peak;           ///< "peak {}"
    std::string_view capacity;       ///< "capacity {}"
    std::string_view phaseOf;        ///< "{} {}": phase, unit
    std::array<std::string_view, kLooks> looks;
    std::array<std::string_view, core::kMemoryCategories> memoryCategories;
    std::array<std::string_view, timeline::kCauses> waits;  ///< by Cause, "all-gather of {}": labels of gaps
};

[[nodiscard]] const PictureText& englishText();
[[nodiscard]] const PictureText& koreanText();

/// "62.3 GiB", "512 MiB": binary units, three significant figures.
[[nodiscard]] std::string bytesInWords(std::int64_t bytes);
/// "76.0 ms", "1.24 s", "850 us": three significant figures.
[[nodiscard]] std::string timeInWords(std::int64_t ns);

/// Replaces the first "{}" of `pattern` by `a` and the second by `b`.
[[nodiscard]] std::string fill(std::string_view pattern, std::string_view a, std::string_view b = {});

}  // namespace shardscope::formats
