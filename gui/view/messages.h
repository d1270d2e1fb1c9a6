#pragma once

// What core, the simulator and the command line's face say in English, in the window's language. Their English is the
// key: translation/messages_ko.ts has it with %1, %2 where figures and names stand, and these are translated in turn.

#include <QString>
#include <string_view>

#include "core/base/result.h"

namespace shardscope::gui {

/// Line by line; what is not known stays as it is, and so do names.
[[nodiscard]] QString inWindowsLanguage(std::string_view english);
/// What is wrong and what to do, for places that show where by themselves. What to do is told for a window: options of
/// the command line are knobs here, and its other commands are not spoken of.
[[nodiscard]] QString reasonText(const core::Error& error);
/// As core::describe says it: where, what is wrong, what to do.
[[nodiscard]] QString errorText(const core::Error& error);

}  // namespace shardscope::gui
