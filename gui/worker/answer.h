#pragma once

// What the window shows: a scenario, its report, and the lanes made from it. Made off the window's thread, then only
// read.

#include <memory>
#include <string>
#include <vector>

#include "cli/face/load.h"
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

    [[nodiscard]] std::size_t plans() const { return report.plans.size(); }
};

/// Stages that `work` is told of on the way to an answer under `plans` strategies; fewer where plans share a model.
[[nodiscard]] constexpr std::size_t stagesOfAnswer(std::size_t plans) {
    return 1 + 6 * plans;
}

/// Loads what a user names (cli::load) and simulates it under `strategies`. Errors: those of both, with the place of
/// the key that they name; Cancelled.
[[nodiscard]] core::Result<Answer> answerTo(const std::string& what, const std::vector<std::string>& overrides,
                                            const std::vector<std::string>& strategies, const core::Work& work = {});
/// What a user names with `scenario` (TOML) in place of its own: what was open once. Errors: those of both.
[[nodiscard]] core::Result<Answer> answerAgain(const std::string& what, const std::string& scenario,
                                               const std::vector<std::string>& strategies, const core::Work& work = {});
/// The same again with another scenario; files are read anew only where the scenario names others than `before`.
[[nodiscard]] core::Result<Answer> answerTo(const cli::Loaded& before, const core::Scenario& scenario,
                                            const std::vector<std::string>& strategies, const core::Work& work = {});
/// The same, and what `before` has built is taken over where the scenario changes nothing of it.
[[nodiscard]] core::Result<Answer> answerTo(const Answer& before, const core::Scenario& scenario,
                                            const std::vector<std::string>& strategies, const core::Work& work = {});

}  // namespace shardscope::gui
