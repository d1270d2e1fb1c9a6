#include "cli/face/text_style.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <string>

namespace shardscope::cli {

TextStyle styleOfStandardOutput() {
    TextStyle style;
    const bool terminal = isatty(STDOUT_FILENO) != 0;
    const char* noColour = std::getenv("NO_COLOR");
    const char* kind = std::getenv("TERM");
    style.terminal = terminal && (kind == nullptr || std::string(kind) != "dumb");
    style.colour = style.terminal && (noColour == nullptr || *noColour == '\0');
    for (const char* name : {"LC_ALL", "LC_CTYPE", "LANG"}) {
        const char* value = std::getenv(name);
        if (value == nullptr || *value == '\0') continue;
        const std::string locale = value;
        // Without a word about the encoding ("C", "POSIX") UTF-8 is what today's terminals speak.
        style.utf8 = locale.find('.') == std::string::npos || locale.find("UTF-8") != std::string::npos ||
                     locale.find("utf8") != std::string::npos;
        break;
    }
    winsize size{};
    if (terminal && ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col >= 40)
        style.width = std::min<int>(size.ws_col, 200);
    return style;
}

}  // namespace shardscope::cli
