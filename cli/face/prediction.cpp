#include "cli/face/prediction.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <map>
#include <utility>

#include "cli/face/text_picture.h"
#include "cli/face/text_table.h"
#include "core/base/median.h"
#include "sim/price/machine_price.h"
#include "sim/run/simulate.h"
#include "sim/run/to_timeline.h"

namespace shardscope::cli {

using core::Document;
using timeline::Timeline;

namespace {

constexpr std::size_t kUnmeasuredSteps = 2;

/// Sums over the ranks, each row counted as often as it stands for ranks, divided by their number.
std::map<std::string, double> timesByActivity(const Timeline& timeline) {
    std::map<std::string, double> times;
    double ranks = 0;
    for (const timeline::RankRow& row : timeline.ranks) ranks += static_cast<double>(row.multiplicity);
    for (std::size_t i = 0; i < timeline.spans.size(); ++i) {
        const auto activity = static_cast<timeline::Activity>(timeline.spans.activity[i]);
        std::string name(timeline::nameOf(activity));
        if (activity == timeline::Activity::Kernels)
            name = std::string(core::nameOf(static_cast<core::Phase>(timeline.spans.phase[i])));
        const auto multiplicity = static_cast<double>(timeline.lanes[timeline.spans.lane[i]].multiplicity);
        times[name] +=
            static_cast<double>(timeline.spans.end[i] - timeline.spans.transferStart[i]) * multiplicity / ranks;
    }
    return times;
}

std::array<double, timeline::kStates> meanStates(const Timeline& timeline,
                                                 const std::vector<timeline::Breakdown>& breakdown) {
    std::array<double, timeline::kStates> mean{};
    double ranks = 0;
    for (std::size_t r = 0; r < breakdown.size() && r < timeline.ranks.size(); ++r) {
        const auto multiplicity = static_cast<double>(timeline.ranks[r].multiplicity);
        ranks += multiplicity;
        for (std::size_t s = 0; s < timeline::kStates; ++s)
            mean[s] += static_cast<double>(breakdown[r].of(static_cast<timeline::State>(s))) * multiplicity;
    }
    for (double& one : mean) one /= std::max(ranks, 1.0);
    return mean;
}

double medianStep(std::vector<std::int64_t> steps) {
    if (steps.size() > kUnmeasuredSteps) steps.erase(steps.begin(), steps.begin() + kUnmeasuredSteps);
    return core::medianOf({steps.begin(), steps.end()});
}

std::string valueText(const PredictedFigure& figure, double value) {
    const auto rounded = static_cast<std::int64_t>(std::llround(value));
    return figure.bytes ? bytesText(rounded) : durationText(rounded);
}

}  // namespace

double PredictedFigure::error() const {
    if (measured == 0) return predicted == 0 ? 0 : std::numeric_limits<double>::infinity();
    return predicted / measured - 1;
}

core::Result<PredictedRun> predictRun(const core::StepGraph& graph, const core::Model& model,
                                      const core::MachineTimes& machine) {
    SHARDSCOPE_ASSIGN(const sim::Prices prices, sim::priceOnMachine(graph, model, machine));
    SHARDSCOPE_ASSIGN(const sim::StepResult result, sim::simulate(graph, prices));
    PredictedRun run;
    run.step = result.step;
    run.timeline = sim::toTimeline(graph, model, prices, result);
    run.breakdown = timeline::breakdownOf(run.timeline);
    for (const core::Bytes peak : result.peakAllocated) run.peak = std::max(run.peak, peak.value);
    return run;
}

std::vector<PredictedFigure> figuresOf(const PredictedRun& predicted, const runtime::TrainReport& measured) {
    std::vector<PredictedFigure> figures;
    figures.push_back({"step", static_cast<double>(predicted.step), medianStep(measured.stepNs), false});
    const auto forecast = meanStates(predicted.timeline, predicted.breakdown),
               seen = meanStates(measured.timeline, measured.breakdown);
    constexpr std::array<const char*, timeline::kStates> kNames = {"compute", "exposed transfer", "exposed copies",
                                                                   "waiting", "idle"};
    for (std::size_t s = 0; s < kNames.size(); ++s) figures.push_back({kNames[s], forecast[s], seen[s], false});
    std::map<std::string, std::pair<double, double>> ops;
    for (const auto& [name, time] : timesByActivity(predicted.timeline)) ops[name].first = time;
    for (const auto& [name, time] : timesByActivity(measured.timeline)) ops[name].second = time;
    for (const auto& [name, times] : ops)
        if (times.first > 0 || times.second > 0) figures.push_back({"ops: " + name, times.first, times.second, false});
    std::int64_t peak = 0;
    for (const runtime::RankReport& rank : measured.ranks) peak = std::max(peak, rank.peakTotal);
    figures.push_back({"peak memory", static_cast<double>(predicted.peak), static_cast<double>(peak), true});
    return figures;
}

std::string predictionText(const std::vector<PredictedFigure>& figures) {
    TextTable table({"", "predicted", "measured", "error"}, {Align::Left, Align::Right, Align::Right, Align::Right});
    for (const PredictedFigure& figure : figures) {
        const double error = figure.error();
        table.row({figure.what, valueText(figure, figure.predicted), valueText(figure, figure.measured),
                   std::isfinite(error) ? fmt::format("{:+.1f} %", 100 * error) : "-"});
    }
    return "\nPredicted beside measured (step: the median, the first two steps left out where there are more; all "
           "else: a "
           "mean rank in the last step)\n" +
           table.text(2);
}

Document predictionDocument(const std::vector<PredictedFigure>& figures) {
    Document list = Document::list();
    for (const PredictedFigure& figure : figures) {
        Document row = Document::table();
        row.set("what", Document::of(figure.what));
        row.set("unit", Document::of(figure.bytes ? "bytes" : "ns"));
        row.set("predicted", Document::of(figure.predicted));
        row.set("measured", Document::of(figure.measured));
        list.items.push_back(std::move(row));
    }
    return list;
}

}  // namespace shardscope::cli
