#include "cli/face/prediction.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <map>
#include <string_view>
#include <utility>

#include "cli/face/text_picture.h"
#include "cli/face/text_table.h"
#include "sim/price/machine_price.h"
#include "sim/run/simulate.h"
#include "sim/run/to_timeline.h"

namespace shardscope::cli {

using core::Document;
using timeline::Timeline;

namespace {

constexpr std::string_view kOps = "ops: ";

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

const char* unitOf(bool bytes) {
    return bytes ? "bytes" : "ns";
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

std::vector<RunFigure> runFigures(double step, const Timeline& timeline,
                                  const std::vector<timeline::Breakdown>& breakdown, std::int64_t peak) {
    std::vector<RunFigure> figures{{"step", step, false}};
    const auto states = meanStates(timeline, breakdown);
    constexpr std::array<const char*, timeline::kStates> kNames = {"compute", "exposed transfer", "exposed copies",
                                                                   "waiting", "idle"};
    for (std::size_t s = 0; s < kNames.size(); ++s) figures.push_back({kNames[s], states[s], false});
    for (const auto& [name, time] : timesByActivity(timeline))
        if (time > 0) figures.push_back({std::string(kOps) + name, time, false});
    figures.push_back({"peak memory", static_cast<double>(peak), true});
    return figures;
}

std::vector<RunFigure> figuresOf(const PredictedRun& predicted) {
    return runFigures(static_cast<double>(predicted.step), predicted.timeline, predicted.breakdown, predicted.peak);
}

Document figuresDocument(const std::vector<RunFigure>& figures) {
    Document list = Document::list();
    for (const RunFigure& figure : figures) {
        Document row = Document::table();
        row.set("what", Document::of(figure.what));
        row.set("unit", Document::of(unitOf(figure.bytes)));
        row.set("value", Document::of(figure.value));
        list.items.push_back(std::move(row));
    }
    return list;
}

core::Result<std::vector<RunFigure>> figuresFrom(const Document& document, const std::string& where) {
    constexpr std::size_t kMostFigures = 256;
    constexpr double kMostValue = 0x1p61;  // rounded, it is shown as 64 bits
    const auto wrong = [&](std::string message) {
        return core::fail(core::ErrorCode::Input, std::move(message), where,
                          "write the file anew (`shardscope run -o FILE.json.gz`)");
    };
    if (document.kind != Document::Kind::List)
        return wrong(fmt::format("found {}, expected a list of figures", core::describeKind(document.kind)));
    if (document.items.empty() || document.items.size() > kMostFigures)
        return wrong(fmt::format("{} figures, expected 1 to {}", document.items.size(), kMostFigures));
    std::vector<RunFigure> figures;
    for (const Document& row : document.items) {
        const std::size_t item = figures.size() + 1;
        const Document *what = row.find("what"), *unit = row.find("unit"), *value = row.find("value");
        if (what == nullptr || what->kind != Document::Kind::Text || what->text.empty() || unit == nullptr ||
            (unit->text != unitOf(true) && unit->text != unitOf(false)) || value == nullptr || !value->isNumber())
            return wrong(fmt::format("item {} is no figure", item));
        if (!(value->number() >= 0 && value->number() <= kMostValue))
            return wrong(fmt::format("item {} is {:g}, expected 0 to 2^61", item, value->number()));
        if (std::ranges::find(figures, what->text, &RunFigure::what) != figures.end())
            return wrong(fmt::format("item {} is a figure that is there already", item));
        figures.push_back({what->text, value->number(), unit->text == unitOf(true)});
    }
    return figures;
}

std::vector<FigureRow> figureRows(std::span<const std::vector<RunFigure>> runs) {
    std::vector<FigureRow> rows;
    for (std::size_t r = 0; r < runs.size(); ++r)
        for (const RunFigure& figure : runs[r]) {
            auto row = std::ranges::find(rows, figure.what, &FigureRow::what);
            if (row == rows.end()) {
                // Ops stand together, by name; memory is the last.
                if (!figure.bytes)
                    row = std::ranges::find_if(rows, [&](const FigureRow& other) {
                        return other.bytes || (other.what.starts_with(kOps) && other.what > figure.what);
                    });
                row = rows.insert(row, {figure.what, figure.bytes, std::vector<double>(runs.size())});
            }
            row->values[r] = figure.value;
        }
    return rows;
}

std::vector<PredictedFigure> sideBySide(const std::vector<RunFigure>& predicted,
                                        const std::vector<RunFigure>& measured) {
    const std::vector<RunFigure> both[] = {predicted, measured};
    std::vector<PredictedFigure> figures;
    for (const FigureRow& row : figureRows(both))
        figures.push_back({row.what, row.values[0], row.values[1], row.bytes});
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
        row.set("unit", Document::of(unitOf(figure.bytes)));
        row.set("predicted", Document::of(figure.predicted));
        row.set("measured", Document::of(figure.measured));
        list.items.push_back(std::move(row));
    }
    return list;
}

}  // namespace shardscope::cli
