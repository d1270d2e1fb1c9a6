#pragma once

// What things look like in the static picture: a colour and a pattern each, so that neither alone has to tell them
// apart. Colours are Okabe and Ito's set for all kinds of colour vision.

#include <fmt/format.h>

#include <array>
#include <cstdint>
#include <string_view>

#include "core/graph/step_graph.h"

namespace shardscope::formats {

/// The kinds of pieces that lanes are made of.
enum class Look : std::uint8_t {
    Forward,        ///< plain
    Backward,       ///< plain, another colour and lower
    Optimizer,      ///< checks
    OwnCopy,        ///< copies on the compute stream: dots
    Gather,         ///< all-gather: stripes rising
    Reduce,         ///< reduce-scatter: stripes falling
    PointToPoint,   ///< send and receive: upright stripes
    OtherTransfer,  ///< other collectives: level stripes
    Copy,           ///< copies on other streams: dots
    Exposed,        ///< on the compute lane: it waits while something transfers; pale stripes
    Waiting,        ///< hatched
    Idle,           ///< empty, outlined
    None,           ///< nothing to draw
};
inline constexpr std::size_t kLooks = 13;

enum class Pattern : std::uint8_t { Plain, Rising, Falling, Upright, Level, Dots, Checks, Hatch };

/// Colours are "#rrggbb", "none", or empty where there is none.
struct Style {
    std::string_view fill;
    Pattern pattern = Pattern::Plain;
    std::string_view ink;  ///< of the pattern
    std::string_view outline;
};
/// On white.
[[nodiscard]] const Style& styleOf(Look look);
[[nodiscard]] const Style& styleOf(core::MemoryCategory category);

/// CSS class of its fill ("l0", "l1", ...), and of memory categories ("m0", ...).
[[nodiscard]] int indexOf(Look look);

/// Colour in which text on it is readable: black or white, contrast at least 4.5 (WCAG 2.1, relative luminance).
[[nodiscard]] std::string_view textColourOn(Look look);
[[nodiscard]] std::string_view baseColour(Look look);
[[nodiscard]] std::string_view baseColour(core::MemoryCategory category);

/// Contrast of two "#rrggbb" colours as WCAG 2.1 defines it, 1 to 21.
[[nodiscard]] double contrast(std::string_view a, std::string_view b);

/// `<style>` and `<defs>` with the patterns.
void appendDefinitions(fmt::memory_buffer& out);

}  // namespace shardscope::formats
