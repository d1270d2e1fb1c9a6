#pragma once

// Published measurements replayed: what the simulator says of each row beside what was measured, and beside a predictor
// that knows one constant only, so that an error means something. Nothing is tuned here; the constants of prices stand
// where they are (docs/model.md).

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cli/face/csv_table.h"
#include "core/base/document.h"
#include "core/base/result.h"
#include "core/base/work.h"

namespace shardscope::cli {

enum class BacktestKind : std::uint8_t { Runs, Collectives, Gemm, Attention };

/// One row of a file.
struct ReplayedRow {
    std::int64_t line = 0;
    std::string source;  ///< where it was published, without commit and file
    std::string gpu;     ///< as the file calls it
    std::string scale;   ///< "1 x 8 GPUs", "1e9 FLOPs"
    std::string size;    ///< band of a message's size; empty elsewhere
    double scaleOrder = 0, sizeOrder = 0;
    std::string strategy;  ///< collective, layout, kernel or parallelism
    std::string quantity;  ///< what was measured: "time", "tokens/s"; empty: none is given
    double measured = 0;   ///< seconds, or a rate in 1/s
    double predicted = 0;  ///< the same by the simulator
    double constant = 0;   ///< the same by the constant predictor
    bool rate = false;     ///< measured, predicted and constant are rates
    double seconds = 0;    ///< measured time of the kernel or of the step, also where a rate was given
    std::string reason;    ///< why it is not replayed; empty: it is

    /// The constant predictor: time = work / c with one c for every `constantGroup`. Seconds at the peak, or bytes; of
    /// a rate, the work of one unit.
    double work = 0;
    std::string constantGroup;

    std::string memoryMetric;                        ///< "reserved", "allocated"; empty: none that can be compared
    double measuredMemory = 0, predictedMemory = 0;  ///< GiB
    std::optional<bool> fits, predictedFits;         ///< of a run

    [[nodiscard]] bool replayed() const { return reason.empty(); }
    [[nodiscard]] bool timed() const { return replayed() && !quantity.empty(); }
    /// ln(predicted / measured) of a time; of a rate with the sign turned, so that above 0 is always "too slow".
    [[nodiscard]] double error() const;
    [[nodiscard]] double constantError() const;
    [[nodiscard]] double memoryError() const;
};

/// What a blank cell was filled with, and in how many rows.
struct FilledDefault {
    std::string what;
    std::int64_t rows = 0;
};

struct Backtest {
    BacktestKind kind = BacktestKind::Runs;
    std::string file;
    std::vector<ReplayedRow> rows;
    std::vector<FilledDefault> defaults;
    std::vector<std::pair<std::string, double>> constants;  ///< group and fitted constant
};

/// Columns (others are not looked at); rows with `split` other than "calib", flagged as outlier, dispatch bound, coarse
/// or to exclude, and those that a price cannot express, carry a reason. Errors, each with file, line and column: a
/// column that is missing, a cell that is no number or absurd; Cancelled.
///   collectives: gpu, nodes, gpus_per_node, network, collective, bytes, time_us; in_place, split, flags, source
///   gemm: gpu, dtype, kind, m, n, k, and time_us or tflops; batch, layout, split, flags, source
///   attention: gpu, dtype, pass, causal, head_dim_qk, head_dim_v, seq, batch, heads, and time_us or tflops
[[nodiscard]] core::Result<Backtest> replayCollectives(const CsvTable& table, const core::Work& work = {});
[[nodiscard]] core::Result<Backtest> replayGemm(const CsvTable& table, const core::Work& work = {});
[[nodiscard]] core::Result<Backtest> replayAttention(const CsvTable& table, const core::Work& work = {});
/// Training runs, each as the whole simulation of its plan: the columns of setupOfRun (cli/face/run_scenario.h), and of
/// what was measured the first that is given of step_time_s, tokens_s_gpu, tokens_s_total, samples_s_total;
/// peak_mem_gib with mem_metric; fits (Y, OOM); source_id.
[[nodiscard]] core::Result<Backtest> replayRuns(const CsvTable& table, const core::Work& work = {});

/// Fits the constants (the median of work / time in each group) and fills ReplayedRow::constant.
void fitConstants(Backtest& backtest);

/// "github:owner/name@commit file" -> "owner/name".
[[nodiscard]] std::string sourceWithoutPlace(std::string_view source);

/// Adds one to the rows of a default.
void countDefault(Backtest& backtest, std::string_view what);

/// Count, median and 90th percentile of |ln(predicted / measured)|.
struct ErrorSummary {
    std::size_t count = 0;
    double median = 0, p90 = 0;
    double signedMedian = 0;  ///< above 0: the simulator is too slow
};
[[nodiscard]] ErrorSummary summaryOf(std::vector<double> errors);

/// Tables a person reads.
[[nodiscard]] std::string backtestText(const Backtest& backtest);
/// JSON with `schema` "shardscope.backtest" and `version` 1.
[[nodiscard]] core::Document backtestDocument(const std::vector<Backtest>& backtests);
/// A line a row, fields quoted as RFC 4180 does; lines end in LF, for a terminal.
[[nodiscard]] std::string backtestCsv(const std::vector<Backtest>& backtests);

/// Predicted against measured time, a panel a back-test.
[[nodiscard]] std::string scatterSvg(const std::vector<Backtest>& backtests);

[[nodiscard]] std::string_view nameOf(BacktestKind kind);

}  // namespace shardscope::cli
