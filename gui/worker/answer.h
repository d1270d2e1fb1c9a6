#pragma once

// What the window shows: a scenario or a run, its report, and the lanes made from it. Made off the window's thread,
// then only read.

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cli/face/load.h"
#include "cli/face/opened_run.h"
#include "cli/face/report.h"
#include "core/base/work.h"
#include "gui/lane/lane_set.h"

namespace shardscope::gui {

struct Answer {
    Answer() = default;
    Answer(Answer&&) = default;
    Answer& operator=(Answer&&) = default;
    Answer(const Answer&) = delete;  // its lanes refer to its report

    cli::Loaded loaded;
    std::vector<std::string> strategies;
    cli::Report report;
    std::vector<LaneSet> lanes;  ///< by plan
    std::int64_t end = 1;        ///< ns: the longest step

    std::shared_ptr<const cli::OpenedRun> run;         ///< null: a scenario; then the rest is empty
    std::vector<std::vector<cli::RunFigure>> figures;  ///< by plan
    std::optional<core::Error> unpredicted;            ///< why the run stands alone, where it has times

    [[nodiscard]] std::size_t plans() const { return report.plans.size(); }
};

/// Stages that `work` is told of on the way to an answer under `plans` strategies; fewer where plans share a model.
[[nodiscard]] constexpr std::size_t stagesOfAnswer(std::size_t plans) {
    return 1 + 6 * plans;
}

/// Loads what a user names (cli::load) and simulates it under `strategies`; or, where that is a run, opens it with its
/// prediction. Errors: those of both, with the place of the key that they name; Cancelled.
[[nodiscard]] core::Result<Answer> answerTo(const std::string& what, const std::vector<std::string>& overrides,
                                            const std::vector<std::string>& strategies, const core::Work& work = {});
/// A run, predicted with the machine's times in the file `times`; empty: with its own, if it has some.
[[nodiscard]] core::Result<Answer> answerToRun(const std::string& path, const std::string& times,
                                               const std::vector<std::string>& strategies, const core::Work& work = {});
/// What a user names with `scenario` (TOML) in place of its own, and of a run `times`: what was open once. Errors:
/// those of both.
[[nodiscard]] core::Result<Answer> answerAgain(const std::string& what, const std::string& scenario,
                                               const std::string& times, const std::vector<std::string>& strategies,
                                               const core::Work& work = {});
/// The same again with another scenario; files are read anew only where the scenario names others than `before`.
[[nodiscard]] core::Result<Answer> answerTo(const cli::Loaded& before, const core::Scenario& scenario,
                                            const std::vector<std::string>& strategies, const core::Work& work = {});
/// The same, and what `before` has built is taken over where the scenario changes nothing of it. Of a run: what the
/// scenario would have taken instead, beside it.
[[nodiscard]] core::Result<Answer> answerTo(const Answer& before, const core::Scenario& scenario,
                                            const std::vector<std::string>& strategies, const core::Work& work = {});

}  // namespace shardscope::gui
