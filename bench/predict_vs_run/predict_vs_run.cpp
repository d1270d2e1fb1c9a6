// Runs configurations for real, predicts each from what was measured of the machine between the runs, and prints both
// side by side. Runs and measurements of the machine take turns, so that both see the same of what changes meanwhile;
// how far every other run lies from those between is the scatter.
//
//     predict_vs_run [--quick] [--list] [--only FROM:TO] [--steps N] [--details] [--json FILE] [--csv FILE]
//     predict_vs_run --table FILE.csv ...      the table of several slices

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <memory>
#include <numeric>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "bench/predict_vs_run/configurations.h"
#include "bench/predict_vs_run/measured.h"
#include "cli/command/calibration.h"
#include "cli/face/files.h"
#include "cli/face/measured_figures.h"
#include "cli/face/prediction.h"
#include "core/base/document.h"
#include "core/graph/build.h"
#include "runtime/data/grey_shapes.h"
#include "runtime/launch/launch.h"
#include "runtime/launch/rank_process.h"

namespace {

using namespace shardscope;
using core::Result;

constexpr std::int64_t kImages = 4096;
/// Measurements of the machine, each between two runs.
constexpr int kRounds = 5;

struct Options {
    bool quick = false, list = false, details = false;
    std::size_t from = 1, to = 1000;  ///< counted from one, both included
    std::int64_t steps = 30;          ///< measured ones of a run
    std::string json, csv;
    std::vector<std::string> tables;
    std::optional<std::size_t> rankOf;  ///< a rank's process: of this configuration
};

[[noreturn]] void usage() {
    std::fputs(
        "usage: predict_vs_run [--quick] [--list] [--only FROM:TO] [--steps N] [--details] [--json FILE] [--csv FILE]\n"
        "       predict_vs_run --table FILE.csv ...\n",
        stderr);
    std::exit(2);
}

Options optionsOf(int argc, char** argv) {
    Options options;
    for (int i = 1; i < argc; ++i) {
        const std::string_view word = argv[i];
        const auto value = [&]() -> std::string {
            if (++i >= argc) usage();
            return argv[i];
        };
        if (word == "--quick") {
            options.quick = true;
        } else if (word == "--list") {
            options.list = true;
        } else if (word == "--details") {
            options.details = true;
        } else if (word == "--json") {
            options.json = value();
        } else if (word == "--csv") {
            options.csv = value();
        } else if (word == "--steps") {
            options.steps = std::strtoll(value().c_str(), nullptr, 10);
        } else if (word == "--rank-of") {
            options.rankOf = std::strtoull(value().c_str(), nullptr, 10);
        } else if (word == "--only") {
            const std::string range = value();
            const std::size_t colon = range.find(':');
            options.from = std::strtoull(range.c_str(), nullptr, 10);
            options.to =
                colon == std::string::npos ? options.from : std::strtoull(range.c_str() + colon + 1, nullptr, 10);
        } else if (word == "--table") {
            while (i + 1 < argc) options.tables.emplace_back(argv[++i]);
            if (options.tables.empty()) usage();
        } else {
            usage();
        }
    }
    if (options.steps < 1 || options.steps > 100'000 || options.from < 1 || options.to < options.from) usage();
    return options;
}

runtime::TrainConfig trainingOf(const bench::Configuration& configuration, std::int64_t steps) {
    runtime::TrainConfig training = configuration.training;
    training.steps = steps + static_cast<std::int64_t>(runtime::kWarmUpSteps);
    training.images = std::make_shared<runtime::GreyShapes>(runtime::Split::Train, kImages,
                                                            std::get<core::VitSpec>(training.model).imageSize);
    return training;
}

/// `index`: of the configuration, by which its ranks' processes find it.
Result<runtime::TrainReport> trained(const runtime::TrainConfig& training, const bench::Configuration& configuration,
                                     std::size_t index, const Options& options, const std::string& program) {
    if (!configuration.processes) return runtime::trainSteps(training);
    runtime::LaunchOptions launch;
    launch.arguments = {program, "--rank-of", std::to_string(index), "--steps", std::to_string(options.steps)};
    if (options.quick) launch.arguments.emplace_back("--quick");
    launch.said = [](std::int64_t rank, const std::string& line) {
        std::fprintf(stderr, "[rank %lld] %s\n", static_cast<long long>(rank), line.c_str());
    };
    return runtime::launchRanks(training, launch);
}

/// Each figure's mean over the runs.
std::vector<cli::RunFigure> meanOf(std::span<const std::vector<cli::RunFigure>> runs) {
    std::vector<cli::RunFigure> mean;
    for (const cli::FigureRow& row : cli::figureRows(runs)) {
        const double sum = std::accumulate(row.values.begin(), row.values.end(), 0.0);
        mean.push_back({row.what, sum / static_cast<double>(row.values.size()), row.bytes});
    }
    return mean;
}

Result<bench::Row> measured(const bench::Configuration& configuration, std::size_t index, const Options& options,
                            const std::string& program) {
    const runtime::TrainConfig training = trainingOf(configuration, options.steps);
    SHARDSCOPE_ASSIGN(const core::Model model, core::buildModel(training.model, runtime::workloadOf(training)));
    SHARDSCOPE_ASSIGN(const core::StepGraph graph, core::buildStepGraph(model, training.plan));
    std::vector<std::vector<cli::RunFigure>> runs;
    std::vector<core::MachineTimes> machines;
    const int rounds = options.quick ? 1 : kRounds;
    for (int round = 0; round <= rounds; ++round) {
        SHARDSCOPE_ASSIGN(const runtime::TrainReport report, trained(training, configuration, index, options, program));
        runs.push_back(cli::figuresOf(report));
        if (round == rounds) break;
        SHARDSCOPE_ASSIGN(core::MachineTimes machine,
                          cli::calibrateFor(training, graph, configuration.processes, program));
        machines.push_back(std::move(machine));
    }
    SHARDSCOPE_ASSIGN(const core::MachineTimes machine, core::meanOf(std::move(machines)));
    SHARDSCOPE_ASSIGN(const cli::PredictedRun predicted, cli::predictRun(graph, model, machine));
    const auto forecast = cli::figuresOf(predicted);
    if (options.details)
        std::fputs(
            (configuration.name + "\n" + cli::predictionText(cli::sideBySide(forecast, meanOf(runs))) + "\n").c_str(),
            stdout);
    bench::Row row{configuration.name, configuration.ranks(), machine.cores, forecast.front().value, 0, 0};
    for (std::size_t run = 0; run < runs.size(); ++run) {
        const std::size_t second = run % 2, alike = (runs.size() + 1 - second) / 2;
        (second != 0 ? row.second : row.first) += runs[run].front().value / static_cast<double>(alike);
    }
    return row;
}

Result<void> save(const std::string& path, const std::string& text) {
    std::ofstream file(path, std::ios::binary);
    file << text;
    if (file.flush()) return {};
    return core::fail(core::ErrorCode::Io, "cannot be written", path);
}

Result<void> run(const Options& options, const std::string& program) {
    std::vector<bench::Row> rows;
    for (const std::string& path : options.tables) {
        SHARDSCOPE_ASSIGN(const std::string text, cli::readFile(path));
        SHARDSCOPE_ASSIGN(const std::vector<bench::Row> slice, bench::parseCsv(text, path));
        rows.insert(rows.end(), slice.begin(), slice.end());
    }
    if (options.tables.empty()) {
        const std::vector<bench::Configuration> all = bench::configurations(options.quick);
        for (std::size_t i = options.from - 1; i < std::min(options.to, all.size()); ++i) {
            if (options.list) {
                std::printf("%3zu  %s\n", i + 1, all[i].name.c_str());
                continue;
            }
            SHARDSCOPE_ASSIGN(const bench::Row row, measured(all[i], i, options, program).map_error([&](auto error) {
                error.where = all[i].name + (error.where.empty() ? "" : ", ") + error.where;
                return error;
            }));
            std::fprintf(stderr, "%3zu  %-50s %8.2f %8.2f %+6.1f %%\n", i + 1, row.name.c_str(), row.predicted * 1e-6,
                         row.measured() * 1e-6, 100 * row.error());
            rows.push_back(row);
        }
        if (options.list) return {};
    }
    std::fputs(bench::tableOf(rows).c_str(), stdout);
    if (!options.csv.empty()) SHARDSCOPE_TRY(save(options.csv, bench::csvOf(rows)));
    if (!options.json.empty()) SHARDSCOPE_TRY(save(options.json, core::writeJson(bench::documentOf(rows)) + "\n"));
    return {};
}

/// One rank, started by launchRanks.
Result<void> runRank(const Options& options, const runtime::RankProcess& process) {
    runtime::followLauncher();
    const std::vector<bench::Configuration> all = bench::configurations(options.quick);
    if (!options.rankOf || *options.rankOf >= all.size()) usage();
    return std::move(runtime::runRank(trainingOf(all[*options.rankOf], options.steps), process).result);
}

}  // namespace

int main(int argc, char** argv) {
    const Options options = optionsOf(argc, argv);
    const auto process = runtime::launchedRank();
    const auto done = process ? runRank(options, *process) : run(options, argv[0]);
    if (done) return 0;
    std::fprintf(stderr, "%s\n", core::describe(done.error()).c_str());
    return 1;
}
