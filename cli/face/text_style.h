#pragma once

// How text may look where it is shown: found out once, from the terminal and its environment.

namespace shardscope::cli {

struct TextStyle {
    int width = 100;        ///< columns of the terminal
    bool colour = false;    ///< ANSI colours; nothing is told by colour alone
    bool utf8 = true;       ///< block characters; plain ASCII otherwise
    bool terminal = false;  ///< a line can be written over
};

/// What standard output takes: no colour where it is no terminal, where NO_COLOR is set or TERM is "dumb".
[[nodiscard]] TextStyle styleOfStandardOutput();

}  // namespace shardscope::cli
