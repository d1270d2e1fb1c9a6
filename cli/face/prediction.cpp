#include "cli/face/prediction.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <utility>

#include "cli/face/text_picture.h"
#include "cli/face/text_table.h"
#include "sim/price/machine_price.h"
#include "sim/run/simulate.h"
#include "sim/run/to_timeline.h"
#include "traces/formats/run_file.h"

namespace shardscope::cli {

using core::Document;
using timeline::Timeline;

namespace {

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

void MeanTimes::add(const timeline::Breakdown& breakdown, const timeline::ActivityTimes& times, double count) {
    const double before = m_ranks;
    m_ranks += count;
    const auto mix = [&](double& mean, std::int64_t time) {
        mean = (mean * before + static_cast<double>(time) * count) / m_ranks;
    };
    for (std::size_t s = 0; s < states.size(); ++s) mix(states[s], breakdown.of(static_cast<timeline::State>(s)));
    for (std::size_t a = 0; a < activities.size(); ++a) mix(activities[a], times[a]);
}

namespace {

/// Steps follow each other: a rank that is done, and whose host has seen it, begins the next one and waits there for
/// those that are not. Such time is idle in a single step, and waiting in a run of several.
void waitForTheLast(const timeline::Timeline& timeline, std::int64_t finish,
                    std::vector<timeline::Breakdown>& breakdown) {
    std::vector<std::int64_t> ends(timeline.lanes.size());
    for (std::size_t span = 0; span < timeline.spans.end.size(); ++span) {
        std::int64_t& end = ends[timeline.spans.lane[span]];
        end = std::max(end, timeline.spans.end[span]);
    }
    for (std::size_t r = 0; r < breakdown.size(); ++r) {
        const timeline::RankRow& row = timeline.ranks[r];
        std::int64_t done = row.stepBegin;
        for (std::uint32_t lane = row.laneBegin; lane < row.laneEnd; ++lane) done = std::max(done, ends[lane]);
        const std::int64_t early = std::clamp<std::int64_t>(row.stepEnd - done - finish, 0, breakdown[r].idle);
        breakdown[r].idle -= early;
        breakdown[r].waiting += early;
    }
}

}  // namespace

core::Result<PredictedRun> predictRun(const core::StepGraph& graph, const core::Model& model,
                                      const core::MachineTimes& machine) {
    SHARDSCOPE_ASSIGN(const sim::Prices prices, sim::priceOnMachine(graph, model, machine));
    SHARDSCOPE_ASSIGN(const sim::StepResult result, sim::simulate(graph, prices));
    PredictedRun run;
    run.step = result.step;
    run.timeline = sim::toTimeline(graph, model, prices, result);
    run.breakdown = timeline::breakdownOf(run.timeline);
    waitForTheLast(run.timeline, core::fromSeconds(machine.host.finish).ns, run.breakdown);
    for (const core::Bytes peak : result.peakAllocated) run.peak = std::max(run.peak, peak.value);
    return run;
}

std::vector<RunFigure> runFigures(double step, const MeanTimes& mean, std::int64_t peak) {
    std::vector<RunFigure> figures{{"step", step, false}};
    constexpr std::array<const char*, timeline::kStates> kNames = {"compute", "exposed transfer", "exposed copies",
                                                                   "waiting", "idle"};
    for (std::size_t s = 0; s < kNames.size(); ++s) figures.push_back({kNames[s], mean.states[s], false});
    std::vector<RunFigure> ops;
    for (std::size_t a = 0; a < mean.activities.size(); ++a)
        if (mean.activities[a] > 0)
            ops.push_back(
                {fmt::format("{}{}", kOpsFigure, timeline::nameOfActivitySlot(a)), mean.activities[a], false});
    std::ranges::sort(ops, {}, &RunFigure::what);
    figures.insert(figures.end(), ops.begin(), ops.end());
    figures.push_back({"peak memory", static_cast<double>(peak), true});
    return figures;
}

MeanTimes meanTimes(const Timeline& timeline, const std::vector<timeline::Breakdown>& breakdown) {
    MeanTimes mean;
    const auto activities = timeline::activityTimesOf(timeline);
    for (std::size_t r = 0; r < breakdown.size() && r < timeline.ranks.size(); ++r)
        mean.add(breakdown[r], activities[r], static_cast<double>(timeline.ranks[r].multiplicity));
    return mean;
}

std::vector<RunFigure> figuresOf(const PredictedRun& predicted) {
    return runFigures(static_cast<double>(predicted.step), meanTimes(predicted.timeline, predicted.breakdown),
                      predicted.peak);
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
        return core::fail(core::ErrorCode::Input, std::move(message), where, formats::kWriteRunAnew);
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
                        return other.bytes || (other.what.starts_with(kOpsFigure) && other.what > figure.what);
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
    return "\nPredicted beside measured (medians over the steps, the first two left out where there are more; times of "
           "a mean rank)\n" +
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
