#pragma once

// What a window was left with: the scenarios on its page as text, from which they are simulated anew, and how it was
// looked at. Kept in the settings.

#include <QStringList>
#include <string>
#include <vector>

#include "gui/lane/view_range.h"
#include "gui/window/study.h"

namespace shardscope::gui {

struct Session {
    /// A scenario of the page.
    struct Part {
        std::string source;    ///< as cli::load takes it
        std::string scenario;  ///< TOML
        std::vector<std::string> strategies;
        std::string times;  ///< of a run: the file of the machine's times; empty: its own
        std::string plan;   ///< the kept plan's name; empty for the present scenario, which is the last
    };
    std::vector<Part> parts;    ///< empty: there is nothing to continue
    double begin = 0, end = 1;  ///< what was in view, as shares of the axis

    [[nodiscard]] bool empty() const { return parts.empty(); }
};

/// A file or folder by its absolute path, so that it can be opened from wherever the window is started next; anything
/// else, such as a built-in model's name, as it is.
[[nodiscard]] QString lastingPath(const QString& what);
/// What was kept once, in such words; relative paths that lead nowhere from here are left out.
[[nodiscard]] QStringList lastingPaths(const QStringList& kept);

[[nodiscard]] Session sessionOf(const Study& study, const Answer& present, const TimeRange& view, double end);
/// Nothing is left out and nothing believed: a part that cannot be read is none.
[[nodiscard]] Session readSession();
void writeSession(const Session& session);

}  // namespace shardscope::gui
