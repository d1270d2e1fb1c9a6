// A back-test as tables, JSON and CSV.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "cli/face/backtest.h"
#include "cli/face/text_table.h"
#include "traces/formats/text.h"

namespace shardscope::cli {
namespace {

using core::Document;

/// Rows of one group of one grouping.
struct Group {
    std::string name;
    double order = 0;
    std::vector<double> errors, constantErrors, memoryErrors;
    /// Of sources that weigh the same, whose errors above are medians without a sign: the medians with one.
    std::vector<double> leans, constantLeans, memoryLeans;
};

/// Median with its sign.
double leanOf(const std::vector<double>& errors, const std::vector<double>& leans) {
    return summaryOf(leans.empty() ? errors : leans).signedMedian;
}

struct Grouping {
    std::string title;  ///< "source"
    std::vector<Group> groups;
};

void add(Group& group, const ReplayedRow& row) {
    if (row.timed()) {
        group.errors.push_back(row.error());
        group.constantErrors.push_back(row.constantError());
    }
    if (row.replayed() && !row.memoryMetric.empty()) group.memoryErrors.push_back(row.memoryError());
}

std::vector<Grouping> groupingsOf(const Backtest& backtest) {
    struct By {
        const char* title;
        std::string ReplayedRow::*name;
        double ReplayedRow::*order;
    };
    const bool kernels = backtest.kind == BacktestKind::Gemm || backtest.kind == BacktestKind::Attention;
    const By all[] = {{"source", &ReplayedRow::source, nullptr},
                      {"GPU", &ReplayedRow::gpu, nullptr},
                      {kernels ? "size" : "scale", &ReplayedRow::scale, &ReplayedRow::scaleOrder},
                      {backtest.kind == BacktestKind::Runs          ? "strategy"
                       : backtest.kind == BacktestKind::Collectives ? "collective"
                                                                    : "kernel",
                       &ReplayedRow::strategy, nullptr},
                      {"message", &ReplayedRow::size, &ReplayedRow::sizeOrder}};
    std::vector<Grouping> groupings;
    for (const By& by : all) {
        std::map<std::string, Group> groups;
        for (const ReplayedRow& row : backtest.rows) {
            if (!row.replayed() || (row.*by.name).empty()) continue;
            Group& group = groups[row.*by.name];
            group.name = row.*by.name;
            if (by.order != nullptr) group.order = row.*by.order;
            add(group, row);
        }
        if (groups.empty()) continue;
        Grouping grouping{by.title, {}};
        for (auto& [name, group] : groups)
            if (!group.errors.empty() || !group.memoryErrors.empty()) grouping.groups.push_back(std::move(group));
        std::stable_sort(grouping.groups.begin(), grouping.groups.end(),
                         [](const Group& a, const Group& b) { return a.order < b.order; });
        groupings.push_back(std::move(grouping));
    }
    return groupings;
}

Group allOf(const Backtest& backtest) {
    Group all;
    all.name = "all rows";
    for (const ReplayedRow& row : backtest.rows) add(all, row);
    return all;
}

/// Sources weigh the same, however many rows they have.
Group meanOfSources(const std::vector<Grouping>& groupings) {
    Group mean;
    mean.name = "each source once";
    for (const Grouping& grouping : groupings) {
        if (grouping.title != "source") continue;
        for (const Group& group : grouping.groups) {
            const auto addMedian = [](const std::vector<double>& of, std::vector<double>& errors,
                                      std::vector<double>& leans) {
                if (of.empty()) return;
                errors.push_back(summaryOf(of).median);
                leans.push_back(summaryOf(of).signedMedian);
            };
            addMedian(group.errors, mean.errors, mean.leans);
            addMedian(group.constantErrors, mean.constantErrors, mean.constantLeans);
            addMedian(group.memoryErrors, mean.memoryErrors, mean.memoryLeans);
        }
    }
    return mean;
}

std::vector<std::pair<std::string, std::int64_t>> reasonsOf(const Backtest& backtest) {
    std::map<std::string, std::int64_t> counts;
    for (const ReplayedRow& row : backtest.rows)
        if (!row.replayed()) ++counts[row.reason];
    std::vector<std::pair<std::string, std::int64_t>> all(counts.begin(), counts.end());
    std::stable_sort(all.begin(), all.end(), [](const auto& a, const auto& b) { return a.second > b.second; });
    return all;
}

struct FitTable {
    std::int64_t fitsFits = 0, fitsShort = 0, shortFits = 0, shortShort = 0;  ///< measured, predicted
    [[nodiscard]] std::int64_t measuredShort() const { return shortFits + shortShort; }
    [[nodiscard]] std::int64_t measuredFits() const { return fitsFits + fitsShort; }
};

FitTable fitTableOf(const Backtest& backtest) {
    FitTable table;
    for (const ReplayedRow& row : backtest.rows) {
        if (!row.replayed() || !row.fits || !row.predictedFits) continue;
        ++(*row.fits ? (*row.predictedFits ? table.fitsFits : table.fitsShort)
                     : (*row.predictedFits ? table.shortFits : table.shortShort));
    }
    return table;
}

std::string figure(double value) {
    return fmt::format("{:.3f}", value);
}

void addRow(TextTable& table, const std::string& by, const Group& group, bool memory) {
    const ErrorSummary ours = summaryOf(group.errors), constant = summaryOf(group.constantErrors),
                       bytes = summaryOf(group.memoryErrors);
    std::vector<std::string> cells{by, group.name, std::to_string(ours.count)};
    for (const ErrorSummary& one : {ours, constant}) {
        cells.push_back(one.count > 0 ? figure(one.median) : "-");
        cells.push_back(one.count > 0 ? figure(one.p90) : "-");
    }
    cells.push_back(ours.count > 0 ? fmt::format("{:+.3f}", leanOf(group.errors, group.leans)) : "-");
    if (memory) {
        cells.push_back(std::to_string(bytes.count));
        cells.push_back(bytes.count > 0 ? figure(bytes.median) : "-");
        cells.push_back(bytes.count > 0 ? figure(bytes.p90) : "-");
    }
    table.row(std::move(cells));
}

std::string fitText(const Backtest& backtest) {
    const FitTable fit = fitTableOf(backtest);
    if (fit.measuredFits() + fit.measuredShort() == 0) return "";
    std::string text =
        fmt::format("\n  Fits into memory\n    ran: {} predicted to fit, {} not; out of memory: {} predicted, {} not\n",
                    fit.fitsFits, fit.fitsShort, fit.shortShort, fit.shortFits);
    if (fit.measuredShort() > 0)
        text += fmt::format("    of those out of memory, predicted (recall): {:.0f} %\n",
                            100.0 * static_cast<double>(fit.shortShort) / static_cast<double>(fit.measuredShort()));
    else
        text += "    none of the replayed rows ran out of memory: no recall\n";
    return text;
}

Document documentOf(const Group& group) {
    Document out = Document::table();
    out.set("name", Document::of(group.name));
    const auto set = [&](const char* name, const std::vector<double>& errors, const std::vector<double>& leans) {
        const ErrorSummary summary = summaryOf(errors);
        Document one = Document::table();
        one.set("count", Document::of(static_cast<std::int64_t>(summary.count)));
        if (summary.count > 0) {
            one.set("median", Document::of(summary.median));
            one.set("p90", Document::of(summary.p90));
            one.set("signed_median", Document::of(leanOf(errors, leans)));
        }
        out.set(name, std::move(one));
    };
    set("simulated", group.errors, group.leans);
    set("constant", group.constantErrors, group.constantLeans);
    if (!group.memoryErrors.empty()) set("memory", group.memoryErrors, group.memoryLeans);
    return out;
}

}  // namespace

std::string backtestText(const Backtest& backtest) {
    const std::vector<Grouping> groupings = groupingsOf(backtest);
    const Group all = allOf(backtest);
    std::int64_t replayed = 0;
    for (const ReplayedRow& row : backtest.rows) replayed += row.replayed() ? 1 : 0;
    std::string text =
        fmt::format("{} of {}: {} rows, {} replayed\n", nameOf(backtest.kind), backtest.file,
                    groupedDigits(static_cast<std::int64_t>(backtest.rows.size())), groupedDigits(replayed));
    text +=
        "  |ln(predicted / measured)|: 0.100 is about 10 %; constant: a predictor of one constant, fitted on these "
        "rows;\n  lean: median with its sign, above 0 predicted too slow\n\n";
    const bool memory = !all.memoryErrors.empty();
    std::vector<std::string> header{"by", "", "rows", "median", "p90", "constant median", "p90", "lean"};
    std::vector<Align> align{Align::Left,  Align::Left,  Align::Right, Align::Right,
                             Align::Right, Align::Right, Align::Right, Align::Right};
    if (memory) {
        header.insert(header.end(), {"memory rows", "median", "p90"});
        align.insert(align.end(), 3, Align::Right);
    }
    TextTable table(header, align);
    addRow(table, "", all, memory);
    addRow(table, "", meanOfSources(groupings), memory);
    for (const Grouping& grouping : groupings) {
        table.rule();
        for (const Group& group : grouping.groups) addRow(table, grouping.title, group, memory);
    }
    text += table.text(2) + fitText(backtest);
    if (!backtest.constants.empty()) text += "\n  Constants that were fitted\n";
    for (const auto& [group, constant] : backtest.constants)
        text += fmt::format("    {}: {}\n", group,
                            backtest.kind == BacktestKind::Collectives ? fmt::format("{:.3g} GB/s", constant / 1e9)
                                                                       : fmt::format("{:.1f} %", constant * 100));
    if (!backtest.defaults.empty()) text += "\n  Filled in where the row says nothing\n";
    for (const FilledDefault& one : backtest.defaults)
        text += fmt::format("    {:>6}  {}\n", groupedDigits(one.rows), one.what);
    const auto reasons = reasonsOf(backtest);
    if (!reasons.empty()) text += "\n  Not replayed\n";
    for (const auto& [reason, count] : reasons) text += fmt::format("    {:>6}  {}\n", groupedDigits(count), reason);
    return text;
}

Document backtestDocument(const std::vector<Backtest>& backtests) {
    Document out = Document::table(), list = Document::list();
    out.set("schema", Document::of("shardscope.backtest"));
    out.set("version", Document::of(std::int64_t{1}));
    for (const Backtest& backtest : backtests) {
        const std::vector<Grouping> groupings = groupingsOf(backtest);
        Document one = Document::table(), by = Document::table(), constants = Document::table(),
                 defaults = Document::list(), reasons = Document::list();
        one.set("kind", Document::of(std::string(nameOf(backtest.kind))));
        one.set("file", Document::of(backtest.file));
        one.set("rows", Document::of(static_cast<std::int64_t>(backtest.rows.size())));
        one.set("all", documentOf(allOf(backtest)));
        one.set("each_source_once", documentOf(meanOfSources(groupings)));
        for (const Grouping& grouping : groupings) {
            Document groups = Document::list();
            for (const Group& group : grouping.groups) groups.items.push_back(documentOf(group));
            by.set(grouping.title, std::move(groups));
        }
        one.set("by", std::move(by));
        if (backtest.kind == BacktestKind::Runs) {
            const FitTable fit = fitTableOf(backtest);
            Document table = Document::table();
            table.set("ran_predicted_to_fit", Document::of(fit.fitsFits));
            table.set("ran_predicted_not_to_fit", Document::of(fit.fitsShort));
            table.set("out_of_memory_predicted", Document::of(fit.shortShort));
            table.set("out_of_memory_predicted_to_fit", Document::of(fit.shortFits));
            one.set("fits", std::move(table));
        }
        for (const auto& [group, constant] : backtest.constants) constants.set(group, Document::of(constant));
        one.set("constants", std::move(constants));
        const auto counted = [](const std::string& what, std::int64_t rows) {
            Document row = Document::table();
            row.set("what", Document::of(what));
            row.set("rows", Document::of(rows));
            return row;
        };
        for (const FilledDefault& filled : backtest.defaults)
            defaults.items.push_back(counted(filled.what, filled.rows));
        for (const auto& [reason, count] : reasonsOf(backtest)) reasons.items.push_back(counted(reason, count));
        one.set("defaults", std::move(defaults));
        one.set("not_replayed", std::move(reasons));
        list.items.push_back(std::move(one));
    }
    out.set("backtests", std::move(list));
    return out;
}

std::string backtestCsv(const std::vector<Backtest>& backtests) {
    fmt::memory_buffer out;
    const auto append = [&](const auto&... values) { (fmt::format_to(std::back_inserter(out), ",{}", values), ...); };
    fmt::format_to(std::back_inserter(out),
                   "kind,line,source,gpu,scale,strategy,quantity,measured,predicted,constant,ln_ratio,"
                   "memory_metric,memory_measured_gib,memory_predicted_gib,fits,predicted_fits,reason\n");
    for (const Backtest& backtest : backtests) {
        for (const ReplayedRow& row : backtest.rows) {
            fmt::format_to(std::back_inserter(out), "{},{}", nameOf(backtest.kind), row.line);
            for (const std::string* text : {&row.source, &row.gpu, &row.scale, &row.strategy}) {
                out.push_back(',');
                formats::appendCsvField(out, *text);
            }
            if (row.timed())
                append(row.quantity, row.measured, row.predicted, row.constant, std::log(row.predicted / row.measured));
            else
                append("", "", "", "", "");
            if (row.replayed() && !row.memoryMetric.empty())
                append(row.memoryMetric, row.measuredMemory, row.predictedMemory);
            else
                append("", "", "");
            const auto word = [](const std::optional<bool>& fits) { return !fits ? "" : *fits ? "1" : "0"; };
            append(word(row.fits), word(row.predictedFits));
            out.push_back(',');
            formats::appendCsvField(out, row.reason);
            fmt::format_to(std::back_inserter(out), "\n");
        }
    }
    return fmt::to_string(out);
}

}  // namespace shardscope::cli
