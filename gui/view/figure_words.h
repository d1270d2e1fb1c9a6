#pragma once

// How a figure of the window comes about, for whoever hovers it: the formula with the numbers put in.

#include <QString>

#include "gui/view/difference.h"

namespace shardscope::gui {

[[nodiscard]] QString figureFormula(Figure figure, const cli::Report& report, const cli::PlanReport& plan);
/// What the tightest GPU has left, or lacks.
[[nodiscard]] QString fitFormula(const cli::PlanReport& plan);
/// "38.1 ms - 128 ms = -90.3 ms; 38.1 ms / 128 ms = 0.297"
[[nodiscard]] QString differenceFormula(const DifferenceRow& row, std::size_t plan, std::size_t base = 0);
/// The shares of a plan's headline; of a run's plans the ranks are no GPUs.
[[nodiscard]] QString sharesFormula(const cli::PlanReport& plan, bool ofRun);

}  // namespace shardscope::gui
