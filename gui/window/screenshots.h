#pragma once

// Pictures of every view, for people to look at: light and dark, English and Korean, 100 and 200 %.

#include <QString>

namespace shardscope::gui {

/// Latin and Hangul from fonts that are there.
void chooseFont();
/// Writes start page and compare view in every combination into a folder; 0, or 1 where something cannot be written.
int writeScreenshots(const QString& folder);

}  // namespace shardscope::gui
