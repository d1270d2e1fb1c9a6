#pragma once

// The figures of runs and of what is predicted for them, side by side: those of `run --compare --json`, to the digit.

#include <QString>
#include <span>
#include <string>
#include <vector>

#include "gui/view/shown_plan.h"

namespace shardscope::gui {

/// By plan. Of plans that are no run's the same figures, of their simulation.
[[nodiscard]] std::vector<cli::FigureRow> runRowsOf(std::span<const ShownPlan> plans);

/// "exposed transfer" in the window's language.
[[nodiscard]] QString runFigureName(const std::string& what);
/// What the figure is.
[[nodiscard]] QString runFigureMeaning(const std::string& what);
/// How the curve of memory comes about, and what the allocator counted.
[[nodiscard]] QString runPeakFormula(const std::string& plan, std::span<const cli::RunFigure> figures);
[[nodiscard]] QString runValueText(const cli::FigureRow& row, std::size_t plan);
/// "+1.20 ms, +3.4 %"
[[nodiscard]] QString runDifferenceText(const cli::FigureRow& row, std::size_t plan, std::size_t base);

}  // namespace shardscope::gui
