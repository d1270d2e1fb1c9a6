#include "bench/predict_vs_run/measured.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <sstream>

#include "cli/face/text_table.h"

namespace shardscope::bench {

using cli::Align;
using core::Document;

namespace {

/// The least value that so large a share of the values does not exceed.
double quantile(std::vector<double> values, double share) {
    if (values.empty()) return 0;
    std::sort(values.begin(), values.end());
    const double place = std::ceil(share * static_cast<double>(values.size()));
    return values[static_cast<std::size_t>(std::max(place, 1.0)) - 1];
}

/// Kendall's tau-b; 1 where nothing can be compared.
template <typename First, typename Second>
double tauOf(const std::vector<Row>& rows, First first, Second second) {
    double agree = 0, firstTies = 0, secondTies = 0, pairs = 0;
    for (std::size_t i = 0; i < rows.size(); ++i)
        for (std::size_t j = 0; j < i; ++j) {
            const double a = first(rows[i]) - first(rows[j]), b = second(rows[i]) - second(rows[j]);
            ++pairs;
            firstTies += a == 0 ? 1 : 0;
            secondTies += b == 0 ? 1 : 0;
            if (a != 0 && b != 0) agree += (a > 0) == (b > 0) ? 1 : -1;
        }
    const double comparable = std::sqrt((pairs - firstTies) * (pairs - secondTies));
    return comparable > 0 ? agree / comparable : 1;
}

std::string milliseconds(double ns) {
    return fmt::format("{:.2f}", ns * 1e-6);
}

struct Part {
    const char* name;
    const char* key;
    std::vector<Row> rows;
};
std::vector<Part> partsOf(const std::vector<Row>& rows) {
    std::vector<Part> parts{{"ranks do not outnumber cores", "ranks_fit", {}},
                            {"ranks outnumber cores", "ranks_outnumber", {}}};
    for (const Row& row : rows) parts[row.ranks > row.cores ? 1 : 0].rows.push_back(row);
    std::erase_if(parts, [](const Part& part) { return part.rows.empty(); });
    return parts;
}

}  // namespace

double Row::scatter() const {
    return std::fabs(std::log(second / first));
}

Figures figuresOf(const std::vector<Row>& rows) {
    Figures figures;
    figures.count = rows.size();
    std::vector<double> errors, scatter;
    for (const Row& row : rows) {
        errors.push_back(std::fabs(row.error()));
        scatter.push_back(row.scatter());
    }
    figures.medianError = quantile(errors, 0.5);
    figures.p90Error = quantile(errors, 0.9);
    figures.medianScatter = quantile(scatter, 0.5);
    figures.p90Scatter = quantile(scatter, 0.9);
    const auto predicted = [](const Row& row) { return row.predicted; };
    const auto measured = [](const Row& row) { return row.measured(); };
    const auto first = [](const Row& row) { return row.first; };
    const auto second = [](const Row& row) { return row.second; };
    figures.tau = tauOf(rows, predicted, measured);
    figures.scatterTau = tauOf(rows, first, second);
    return figures;
}

std::string tableOf(const std::vector<Row>& rows) {
    std::string text;
    cli::TextTable figures(
        {"", "configurations", "median |error|", "p90", "Kendall tau", "repeated: median |ln|", "p90", "Kendall tau"},
        {Align::Left, Align::Right, Align::Right, Align::Right, Align::Right, Align::Right, Align::Right,
         Align::Right});
    for (const Part& part : partsOf(rows)) {
        cli::TextTable table({part.name, "predicted ms", "measured ms", "error", "first run", "second run"},
                             {Align::Left, Align::Right, Align::Right, Align::Right, Align::Right, Align::Right});
        for (const Row& row : part.rows)
            table.row({row.name, milliseconds(row.predicted), milliseconds(row.measured()),
                       fmt::format("{:+.1f} %", 100 * row.error()), milliseconds(row.first), milliseconds(row.second)});
        text += table.text(0) + "\n";
        const Figures f = figuresOf(part.rows);
        figures.row({part.name, std::to_string(f.count), fmt::format("{:.1f} %", 100 * f.medianError),
                     fmt::format("{:.1f} %", 100 * f.p90Error), fmt::format("{:.3f}", f.tau),
                     fmt::format("{:.3f}", f.medianScatter), fmt::format("{:.3f}", f.p90Scatter),
                     fmt::format("{:.3f}", f.scatterTau)});
    }
    return text + figures.text(0);
}

Document documentOf(const std::vector<Row>& rows) {
    Document out = Document::table(), list = Document::list(), summary = Document::table();
    out.set("schema", Document::of("shardscope.predict_vs_run"));
    out.set("version", Document::of(std::int64_t{1}));
    for (const Row& row : rows) {
        Document one = Document::table();
        one.set("name", Document::of(row.name));
        one.set("ranks", Document::of(row.ranks));
        one.set("cores", Document::of(row.cores));
        one.set("predicted_ns", Document::of(row.predicted));
        one.set("measured_ns", Document::of(row.measured()));
        one.set("first_run_ns", Document::of(row.first));
        one.set("second_run_ns", Document::of(row.second));
        list.items.push_back(std::move(one));
    }
    for (const Part& part : partsOf(rows)) {
        const Figures f = figuresOf(part.rows);
        Document one = Document::table();
        one.set("configurations", Document::of(static_cast<std::int64_t>(f.count)));
        one.set("median_error", Document::of(f.medianError));
        one.set("p90_error", Document::of(f.p90Error));
        one.set("kendall_tau", Document::of(f.tau));
        one.set("median_scatter", Document::of(f.medianScatter));
        one.set("p90_scatter", Document::of(f.p90Scatter));
        one.set("scatter_tau", Document::of(f.scatterTau));
        summary.set(part.key, std::move(one));
    }
    out.set("configurations", std::move(list));
    out.set("summary", std::move(summary));
    return out;
}

std::string csvOf(const std::vector<Row>& rows) {
    std::string text = "ranks;cores;predicted_ns;first_run_ns;second_run_ns;name\n";
    for (const Row& row : rows)
        text += fmt::format("{};{};{:.0f};{:.0f};{:.0f};{}\n", row.ranks, row.cores, row.predicted, row.first,
                            row.second, row.name);
    return text;
}

core::Result<std::vector<Row>> parseCsv(const std::string& text, const std::string& name) {
    std::vector<Row> rows;
    std::istringstream lines(text);
    std::string line;
    for (std::int64_t number = 1; std::getline(lines, line); ++number) {
        if (number == 1 || line.empty()) continue;
        std::istringstream fields(line);
        Row row;
        char mark = 0;
        fields >> row.ranks >> mark >> row.cores >> mark >> row.predicted >> mark >> row.first >> mark >> row.second >>
            mark;
        if (!fields || !std::getline(fields, row.name) || !(row.first > 0) || !(row.second > 0))
            return core::fail(core::ErrorCode::Input, "no row of this table", fmt::format("{}, line {}", name, number),
                              "give files that --csv has written");
        rows.push_back(std::move(row));
    }
    return rows;
}

}  // namespace shardscope::bench
