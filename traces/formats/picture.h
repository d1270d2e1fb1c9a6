#pragma once

// The static picture of one or several plans on one clock: lanes a rank, where the time goes, memory below. The one SVG
// writer of the project; PNG and PDF are made from it (traces/formats/render.h).

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "traces/formats/picture_text.h"
#include "traces/timeline/breakdown.h"
#include "traces/timeline/timeline.h"

namespace shardscope::formats {

/// The memory curve of one rank, from the timeline's counters of that rank.
struct PanelMemory {
    std::uint32_t rankIndex = 0;
    std::int64_t capacity = 0;  ///< bytes of the device; 0: no line
    std::string peakNote;       ///< what is alive at the peak; may be empty
};

/// One plan.
struct Panel {
    std::string name;
    const timeline::Timeline* timeline = nullptr;  ///< arranged; must outlive the call
    std::vector<timeline::Breakdown> breakdown;    ///< one a rank of the timeline; empty: computed here
    std::vector<std::string> captions;             ///< a line each; the first line of all is made from the breakdown
    std::optional<PanelMemory> memory;
};

struct Picture {
    std::string title;
    std::string subtitle;  ///< may be empty
    std::vector<Panel> panels;
    PictureText text = englishText();
    int width = 1600;                  ///< CSS pixels, 800 to 8000; the height follows
    std::size_t maxRanks = 64;         ///< lanes of more ranks are left out and their number is told
    std::size_t maxBytes = 2'000'000;  ///< of SVG; the picture is folded more coarsely until it fits
};

/// The picture as SVG 1.1 text. Nothing is drawn narrower than 0.3 px, so at most about four pieces meet in a pixel
/// column of a lane.
[[nodiscard]] std::string svgOf(const Picture& picture);

}  // namespace shardscope::formats
