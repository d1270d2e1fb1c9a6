#pragma once

// The size of text, and with it of everything that is measured by text: 100 to 300 % of the application's font.

#include <span>

namespace shardscope::gui {

/// In percent, from the smallest on.
[[nodiscard]] std::span<const int> textScales();
[[nodiscard]] int textScale();
/// Takes the nearest of textScales(). Widgets are told as of any change of the application's font.
void setTextScale(int percent);

}  // namespace shardscope::gui
