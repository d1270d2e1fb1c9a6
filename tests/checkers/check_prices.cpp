// Holds the price formulas against published tables and prints the error of each run; tunes nothing. What
// `shardscope backtest` replays, grouped by the runs of the file instead of by source, GPU and scale.
//
//   check_prices nccl|gemm|attention FILE.csv
//
// Error of a row: ln(priced / measured). Messages under 16 KiB are left out: they show the launch alone.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <string>
#include <vector>

#include "cli/face/backtest.h"
#include "cli/face/files.h"

using namespace shardscope;
using namespace shardscope::cli;

namespace {

struct Errors {
    std::vector<double> all, large;
};

struct Run {
    std::string name;
    bool counts = true, large = false;
};

Run runOf(const Backtest& backtest, const CsvRow& cells, const ReplayedRow& row) {
    switch (backtest.kind) {
        case BacktestKind::Collectives: {
            const auto cell = cells.number("bytes", 0, 1e15);
            const double bytes = cell ? cell->value_or(0) : 0;
            return {std::string(cells.text("run_id")), bytes >= 16384, bytes >= 4 * 1048576};
        }
        case BacktestKind::Gemm: return {row.source + " " + row.gpu, true, row.scaleOrder >= 10};
        default: return {row.gpu + " " + row.strategy, true, row.scaleOrder >= 2048};
    }
}

core::Result<void> check(const std::string& what, const std::string& file) {
    SHARDSCOPE_ASSIGN(const std::string bytes, readFile(file));
    SHARDSCOPE_ASSIGN(const CsvTable table, parseCsv(bytes, file));
    auto replayed = what == "nccl"   ? replayCollectives(table)
                    : what == "gemm" ? replayGemm(table)
                                     : replayAttention(table);
    SHARDSCOPE_ASSIGN(const Backtest backtest, std::move(replayed));
    std::map<std::string, Errors> runs;
    for (std::size_t i = 0; i < backtest.rows.size(); ++i) {
        const ReplayedRow& row = backtest.rows[i];
        if (!row.timed()) continue;
        const Run run = runOf(backtest, CsvRow(table, i), row);
        if (!run.counts) continue;
        runs[run.name].all.push_back(row.error());
        if (run.large) runs[run.name].large.push_back(row.error());
    }
    fmt::print("{:<52} {:>5} {:>8} {:>8} {:>8} {:>10}\n", "run", "rows", "median", "p90", "signed",
               what == "nccl"   ? ">= 4 MiB"
               : what == "gemm" ? ">= 1e10 F"
                                : "s >= 2k");
    for (const auto& [run, errors] : runs) {
        const ErrorSummary all = summaryOf(errors.all);
        fmt::print("{:<52} {:>5} {:>7.0f}% {:>7.0f}% {:>+7.0f}% {:>9.0f}%\n", run, all.count, 100 * all.median,
                   100 * all.p90, 100 * all.signedMedian, 100 * summaryOf(errors.large).median);
    }
    return {};
}

}  // namespace

int main(int argc, char** argv) {
    const std::string what = argc == 3 ? argv[1] : "";
    if (what != "nccl" && what != "gemm" && what != "attention") {
        fmt::print(stderr, "usage: check_prices nccl|gemm|attention FILE.csv\n");
        return 2;
    }
    const auto done = check(what, argv[2]);
    if (done) return 0;
    fmt::print(stderr, "{}\n", core::describe(done.error()));
    return 3;
}
