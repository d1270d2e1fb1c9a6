#pragma once

// Figures and pieces in the window's language.

#include <QString>

#include "core/base/work.h"
#include "gui/lane/lane_set.h"
#include "gui/view/difference.h"
#include "traces/formats/picture_text.h"

namespace shardscope::gui {

[[nodiscard]] QString toQString(std::string_view text);
/// The words of the static picture in the application's language.
[[nodiscard]] const formats::PictureText& pictureText();
void setPictureLanguage(const QString& language);

/// An instant to the nanosecond, in the unit that a reader expects: "11.105432 ms".
[[nodiscard]] QString instantText(std::int64_t ns);
[[nodiscard]] QString figureName(Figure figure);
[[nodiscard]] QString valueText(Unit unit, double value);
/// With its sign.
[[nodiscard]] QString signedText(Unit unit, double value);
/// "-80.6 ms, 0.27 x: 3.66 times faster"
[[nodiscard]] QString differenceText(const DifferenceRow& row, std::size_t plan, std::size_t base = 0);

/// What long work is about: "naive: building the graph".
[[nodiscard]] QString stageText(core::WorkStage stage, const QString& plan);

/// Why one op follows another.
[[nodiscard]] QString reasonName(timeline::FlowReason reason);

/// Identical ranks of a class, `ranks` of them from its `rank`-th on: "all ranks x 1,024", "rank 17".
[[nodiscard]] QString rankName(const LaneSet& set, std::uint32_t rankIndex, std::int64_t rank, std::int64_t ranks);

/// What a gap of a state lane is called, for places with more or less room.
struct GapWords {
    QString sentence;  ///< "waits for the all-gather of blocks.7", "idle: nothing left to do"
    QString cause;     ///< "all-gather of blocks.7"
    QString word;      ///< "waits", "idle"
};
[[nodiscard]] GapWords gapWords(const LaneSet& set, const formats::RowPiece& piece);

/// One line of what a piece is and how long: "waits 3.20 ms for the all-gather of blocks.7".
[[nodiscard]] QString describePiece(const LaneSet& set, const Lane& lane, const formats::RowPiece& piece);

}  // namespace shardscope::gui
