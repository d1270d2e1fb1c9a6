// Rows of training runs, each as the whole simulation of its plan.

#include <fmt/format.h>

#include <cmath>

#include "cli/face/backtest.h"
#include "cli/face/report.h"
#include "cli/face/run_scenario.h"

namespace shardscope::cli {
namespace {

using core::Result;

constexpr double kGiB = 1073741824.0;
/// A form whose parameters differ from the stated ones by more is another model.
constexpr double kParametersWithin = 0.10;

/// What was published, the first of these: a figure derived from others is no measurement of its own.
struct Published {
    std::string quantity;
    double value = 0;
    bool rate = false;
};

Result<Published> publishedOf(const CsvRow& row) {
    SHARDSCOPE_ASSIGN(const auto step, row.number("step_time_s", 0, 1e9));
    SHARDSCOPE_ASSIGN(const auto perGpu, row.number("tokens_s_gpu", 0, 1e12));
    SHARDSCOPE_ASSIGN(const auto total, row.number("tokens_s_total", 0, 1e15));
    SHARDSCOPE_ASSIGN(const auto samples, row.number("samples_s_total", 0, 1e15));
    if (step && *step > 0) return Published{"step time", *step, false};
    if (perGpu && *perGpu > 0) return Published{"tokens/s/GPU", *perGpu, true};
    if (total && *total > 0) return Published{"tokens/s", *total, true};
    if (samples && *samples > 0) return Published{"samples/s", *samples, true};
    return Published{};
}

/// Which of the simulator's figures a metric is; empty: none that can be compared.
std::string memoryMetricOf(std::string_view metric) {
    if (metric.find("not said") != std::string_view::npos || metric.find("total over") != std::string_view::npos)
        return "";
    if (metric.find("analytic") != std::string_view::npos) return "";
    if (metric.find("reserved") != std::string_view::npos && metric.find("allocated") == std::string_view::npos)
        return "reserved";
    if (metric.find("allocated") != std::string_view::npos || metric.find("active") != std::string_view::npos)
        return "allocated";
    return "";
}

/// A reason without the numbers of one row, so that equal ones count together.
std::string reasonOf(const core::Error& error) {
    return "refused by the simulator: " + error.message;
}

void compare(ReplayedRow& out, const Published& published, const CsvRow& row, const Report& report,
             const RunSetup& setup) {
    const PlanReport& plan = report.plans.front();
    const double seconds = static_cast<double>(plan.stepNs) * 1e-9;
    const double ranks = static_cast<double>(plan.ranks);
    const double tokens = static_cast<double>(report.globalBatch) * static_cast<double>(report.tokensPerSample);
    const core::DType compute = plan.setup.plan.precision.compute();
    const double atPeak = plan.modelFlops / (ranks * core::peakOf(report.cluster.gpu, compute).value);
    if (!published.quantity.empty() && seconds > 0) {
        const double perStep = !published.rate                        ? 1
                               : published.quantity == "tokens/s/GPU" ? tokens / ranks
                               : published.quantity == "tokens/s"     ? tokens
                                                                      : static_cast<double>(report.globalBatch);
        out.quantity = published.quantity;
        out.rate = published.rate;
        out.measured = published.value;
        out.predicted = published.rate ? perStep / seconds : seconds;
        out.seconds = published.rate ? perStep / published.value : published.value;
        out.work = atPeak / perStep;
        out.constantGroup = "MFU";
    }
    const MemoryVerdict& memory = plan.tightest().memory;
    if (setup.memoryKnown) out.predictedFits = memory.fits();
    const std::string metric = memoryMetricOf(row.text("mem_metric"));
    if (out.measuredMemory > 0 && !metric.empty()) {
        out.memoryMetric = metric;
        const core::Bytes bytes = metric == "reserved" ? memory.step.reserved : memory.step.hostOrder.total;
        out.predictedMemory = static_cast<double>(bytes.value) / kGiB;
    }
}

Result<ReplayedRow> replayRun(const CsvRow& row, Backtest& backtest, const core::Work& work) {
    ReplayedRow out;
    out.line = row.line();
    out.source = sourceWithoutPlace(row.text(row.text("source_id").empty() ? "source" : "source_id"));
    out.gpu = row.text("gpu");
    SHARDSCOPE_ASSIGN(const Published published, publishedOf(row));
    SHARDSCOPE_ASSIGN(const auto memory, row.number("peak_mem_gib", 0, 1e6));
    SHARDSCOPE_ASSIGN(const RunSetup setup, setupOfRun(row));
    const std::string_view fits = row.text("fits");
    if (fits == "Y" || fits == "OOM") out.fits = fits == "Y";
    out.measuredMemory = memory.value_or(0);
    out.reason = setup.reason;
    SHARDSCOPE_ASSIGN(const auto stated, row.integer("n_gpus", 1, 1'000'000));  // setupOfRun has taken it
    const std::int64_t gpus = stated.value_or(0);
    out.scale = gpus == 1 ? "1 GPU" : fmt::format("{} GPUs", gpus);
    out.scaleOrder = static_cast<double>(gpus);
    out.strategy = setup.scenario.parallelism.strategy;
    if (setup.scenario.parallelism.replicateDegree > 1 && out.strategy == "fsdp") out.strategy = "hsdp";
    if (setup.scenario.training.checkpoint != "none")
        out.strategy += fmt::format(", {} checkpointing", setup.scenario.training.checkpoint);
    if (!setup.reason.empty()) out.strategy = row.text("strategy");
    const bool nothing = published.quantity.empty() && out.measuredMemory <= 0 && fits != "OOM";
    if (out.reason.empty() && nothing) out.reason = "only a FLOP rate, an MFU or derived figures are given";
    if (!out.reason.empty()) return out;

    const auto report = [&]() -> Result<Report> {
        SHARDSCOPE_ASSIGN(const core::Resolved resolved, core::resolve(setup.scenario, setup.inputs));
        EvaluateOptions options;
        options.timelineMemory = false;
        options.work = work;
        return evaluate(resolved, "", options);
    }();
    if (!report) {
        if (report.error().code == core::ErrorCode::Cancelled) return tl::unexpected(report.error());
        out.reason = reasonOf(report.error());
        return out;
    }
    const double parameters = static_cast<double>(report->parameters);
    if (setup.statedParameters > 0 && std::abs(parameters / setup.statedParameters - 1) > kParametersWithin) {
        out.reason = "the shape does not give the stated number of parameters";
        return out;
    }
    for (const std::string& what : setup.defaults) countDefault(backtest, what);
    compare(out, published, row, *report, setup);
    return out;
}

}  // namespace

Result<Backtest> replayRuns(const CsvTable& table, const core::Work& work) {
    SHARDSCOPE_TRY(requireColumns(table, {"model", "gpu", "n_gpus", "strategy"}));
    Backtest backtest;
    backtest.kind = BacktestKind::Runs;
    backtest.file = table.file;
    for (std::size_t i = 0; i < table.rows.size(); ++i) {
        SHARDSCOPE_TRY(work.goOn());
        SHARDSCOPE_ASSIGN(ReplayedRow row, replayRun(CsvRow(table, i), backtest, work));
        backtest.rows.push_back(std::move(row));
    }
    fitConstants(backtest);
    return backtest;
}

}  // namespace shardscope::cli
