#pragma once

// The figures of runs and of what is predicted for them, side by side: those of `run --compare --json`, to the digit.

#include <QString>
#include <span>
#include <string>
#include <vector>

#include "gui/view/shown_plan.h"

namespace shardscope::gui {

struct RunRow {
    std::string what;  ///< as cli::RunFigure calls it
    bool bytes = false;
    std::vector<double> values;  ///< by plan; 0 where it has none
};
/// Of plans that are no run's the same figures, of their simulation. In the order of cli::runFigures.
[[nodiscard]] std::vector<RunRow> runRowsOf(std::span<const ShownPlan> plans);

/// "exposed transfer" in the window's language.
[[nodiscard]] QString runFigureName(const std::string& what);
/// What the figure is.
[[nodiscard]] QString runFigureMeaning(const std::string& what);
/// How the curve of memory comes about, and what the allocator counted.
[[nodiscard]] QString runPeakFormula(const std::string& plan, std::span<const cli::RunFigure> figures);
[[nodiscard]] QString runValueText(const RunRow& row, std::size_t plan);
/// "+1.20 ms, +3.4 %"
[[nodiscard]] QString runDifferenceText(const RunRow& row, std::size_t plan, std::size_t base);

}  // namespace shardscope::gui
