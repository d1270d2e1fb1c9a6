#pragma once

// A run beside what was predicted for it: the graph that ran, priced with this machine's measured times and simulated.

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/document.h"
#include "core/graph/step_graph.h"
#include "core/machine/machine_times.h"
#include "core/model/model.h"
#include "traces/timeline/activity_times.h"
#include "traces/timeline/breakdown.h"
#include "traces/timeline/timeline.h"

namespace shardscope::cli {

struct PredictedRun {
    std::int64_t step = 0;                       ///< ns
    timeline::Timeline timeline;                 ///< a row for each rank or class of ranks
    std::vector<timeline::Breakdown> breakdown;  ///< by row of the timeline
    std::int64_t peak = 0;                       ///< bytes in host order, of the rank with most
};
/// Errors: what the machine's times lack.
[[nodiscard]] core::Result<PredictedRun> predictRun(const core::StepGraph& graph, const core::Model& model,
                                                    const core::MachineTimes& machine);

/// What the names of figures of ops begin with.
inline constexpr std::string_view kOpsFigure = "ops: ";
/// One figure of a run: nanoseconds, or bytes.
struct RunFigure {
    std::string what;  ///< "step", "waiting", "ops: all-gather", "peak memory"
    double value = 0;
    bool bytes = false;
    friend bool operator==(const RunFigure&, const RunFigure&) = default;
};
/// Times of a mean rank.
class MeanTimes {
public:
    /// Of so many ranks that are alike.
    void add(const timeline::Breakdown& breakdown, const timeline::ActivityTimes& times, double count = 1);

    std::array<double, timeline::kStates> states{};
    std::array<double, timeline::kActivitySlots> activities{};

private:
    double m_ranks = 0;
};
/// Each row of a timeline counted as often as it stands for ranks.
[[nodiscard]] MeanTimes meanTimes(const timeline::Timeline& timeline,
                                  const std::vector<timeline::Breakdown>& breakdown);

/// The step; of a mean rank the five times and, by activity, how long ops took (transfers from the last member's
/// arrival on); the largest peak.
[[nodiscard]] std::vector<RunFigure> runFigures(double step, const MeanTimes& mean, std::int64_t peak);
[[nodiscard]] std::vector<RunFigure> figuresOf(const PredictedRun& predicted);
[[nodiscard]] core::Document figuresDocument(const std::vector<RunFigure>& figures);
/// Errors: what is no list of figures, each once and in the range that is shown.
[[nodiscard]] core::Result<std::vector<RunFigure>> figuresFrom(const core::Document& document,
                                                               const std::string& where);

/// One figure of several runs: nanoseconds, or bytes.
struct FigureRow {
    std::string what;
    bool bytes = false;
    std::vector<double> values;  ///< by run; 0 where it has none
};
/// Side by side, in the order of runFigures.
[[nodiscard]] std::vector<FigureRow> figureRows(std::span<const std::vector<RunFigure>> runs);

/// One figure, predicted and measured: nanoseconds, or bytes.
struct PredictedFigure {
    std::string what;
    double predicted = 0, measured = 0;
    bool bytes = false;

    /// predicted / measured - 1; 0 where both are nothing.
    [[nodiscard]] double error() const;
};
/// The rows of both.
[[nodiscard]] std::vector<PredictedFigure> sideBySide(const std::vector<RunFigure>& predicted,
                                                      const std::vector<RunFigure>& measured);

[[nodiscard]] std::string predictionText(const std::vector<PredictedFigure>& figures);
[[nodiscard]] core::Document predictionDocument(const std::vector<PredictedFigure>& figures);

}  // namespace shardscope::cli
