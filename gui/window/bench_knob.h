#pragma once

// How long a change of a knob takes until the window shows the new timeline.

namespace shardscope::gui {

/// Prints a table; false if a target is missed.
[[nodiscard]] bool benchKnobs();

}  // namespace shardscope::gui
