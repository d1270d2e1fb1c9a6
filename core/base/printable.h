#pragma once

// Text from files, keys and the command line on its way to a terminal: what a terminal would obey instead of show is
// spelled out.

#include <cstddef>
#include <string>
#include <string_view>

namespace shardscope::core {

/// Length of the UTF-8 sequence at the start of `text` (1 to 4), or 0 if it is none.
[[nodiscard]] std::size_t utf8Length(std::string_view text);

/// Length of the character at the start of `text` if a terminal would not simply show it, otherwise 0: control
/// characters (C0, DEL, C1), line and paragraph separators, changes of the writing direction, bytes that are no UTF-8.
[[nodiscard]] std::size_t unprintableLength(std::string_view text);

/// One line: "a\x1b[31m\nb" has its escape and its line end spelled out ("\x1b", "\n").
[[nodiscard]] std::string printable(std::string_view text);
/// The same for text of several lines: line ends and tabs stay.
[[nodiscard]] std::string printableLines(std::string_view text);

}  // namespace shardscope::core
