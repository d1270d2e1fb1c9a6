#include "cli/face/backtest.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "core/base/median.h"

namespace shardscope::cli {
namespace {

using core::medianOf;

double secondsAt(double work, double constant) {
    return constant > 0 ? work / constant : 0;
}

/// Above 0: predicted too slow.
double errorOf(double predicted, double measured, bool rate) {
    if (predicted <= 0 || measured <= 0) return 0;
    return (rate ? -1 : 1) * std::log(predicted / measured);
}

}  // namespace

double ReplayedRow::error() const {
    return errorOf(predicted, measured, rate);
}

double ReplayedRow::constantError() const {
    return errorOf(constant, measured, rate);
}

double ReplayedRow::memoryError() const {
    return errorOf(predictedMemory, measuredMemory, false);
}

std::string_view nameOf(BacktestKind kind) {
    switch (kind) {
        case BacktestKind::Runs: return "runs";
        case BacktestKind::Collectives: return "collectives";
        case BacktestKind::Gemm: return "gemm";
        case BacktestKind::Attention: return "attention";
    }
    return "";
}

std::string sourceWithoutPlace(std::string_view source) {
    source = source.substr(0, source.find('@'));
    if (source.starts_with("github:")) source = source.substr(7, source.find(' ') - 7);
    for (const std::string_view end : {" (", "#", ":docs", ":README"}) source = source.substr(0, source.find(end));
    return source.empty() ? "not stated" : std::string(source);
}

void countDefault(Backtest& backtest, std::string_view what) {
    for (FilledDefault& one : backtest.defaults)
        if (one.what == what) {
            ++one.rows;
            return;
        }
    backtest.defaults.push_back({std::string(what), 1});
}

void fitConstants(Backtest& backtest) {
    std::map<std::string, std::vector<double>> ratios;
    const auto counts = [](const ReplayedRow& row) { return row.timed() && row.work > 0 && row.measured > 0; };
    for (const ReplayedRow& row : backtest.rows)
        if (counts(row))
            ratios[row.constantGroup].push_back(row.rate ? row.work * row.measured : row.work / row.measured);
    std::map<std::string, double> fitted;
    for (const auto& [group, values] : ratios) {
        fitted[group] = medianOf(values);
        backtest.constants.emplace_back(group, fitted[group]);
    }
    for (ReplayedRow& row : backtest.rows) {
        if (!counts(row)) continue;
        const double seconds = secondsAt(row.work, fitted[row.constantGroup]);
        row.constant = row.rate ? 1 / seconds : seconds;
    }
}

ErrorSummary summaryOf(std::vector<double> errors) {
    ErrorSummary summary;
    summary.count = errors.size();
    if (errors.empty()) return summary;
    summary.signedMedian = medianOf(errors);
    for (double& error : errors) error = std::abs(error);
    std::sort(errors.begin(), errors.end());
    summary.median = errors[errors.size() / 2];
    summary.p90 = errors[errors.size() * 9 / 10];
    return summary;
}

}  // namespace shardscope::cli
