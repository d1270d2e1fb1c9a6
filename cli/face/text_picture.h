#pragma once

// Who works when, as lines of a terminal: one bar per rank (or class of ranks), several plans on one clock.

#include <span>
#include <string>

#include "cli/face/text_style.h"
#include "traces/timeline/timeline.h"

namespace shardscope::cli {

struct PicturedPlan {
    std::string name;     ///< "naive"
    std::string caption;  ///< what is said beside it: "812.3 ms a step, each GPU computes 25% of it"
    const timeline::Timeline* timeline = nullptr;
};

/// Each rank has a bar of what its GPU does (the state that fills most of a column's time: forward, backward, other
/// compute and optimizer, exposed transfer, exposed copy, waiting, idle) and, if anything is transferred, a thinner one
/// below it with all its transfers, hidden ones too. Ends with the legend of the signs that occur. At most `mostRanks`
/// ranks of a plan are drawn; the rest is counted.
[[nodiscard]] std::string textPicture(std::span<const PicturedPlan> plans, const TextStyle& style,
                                      std::size_t mostRanks = 8);

/// Columns that `text` takes in a terminal: code points, those of East Asian wide scripts twice.
[[nodiscard]] std::size_t columnsOf(std::string_view text);
/// "812 ms", "3.15 s", "84.2 us": three digits.
[[nodiscard]] std::string durationText(std::int64_t ns);
/// "8.00 GiB", "512 MiB", "84 B": binary units.
[[nodiscard]] std::string bytesText(std::int64_t bytes);

}  // namespace shardscope::cli
