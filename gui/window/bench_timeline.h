#pragma once

namespace shardscope::gui {

/// `shardscope-gui --bench-timeline`: frames of a 1920 x 1080 timeline with 64 lanes and 0.1, 1 and 10 million spans,
/// from the whole step to single spans, labels, selection and patterns included; prints a table. Returns the exit code.
bool benchTimeline();

}  // namespace shardscope::gui
