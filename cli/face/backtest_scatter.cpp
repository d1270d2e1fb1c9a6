// A back-test as a picture: predicted against measured time on logarithmic axes.

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>

#include "cli/face/backtest.h"
#include "cli/face/text_picture.h"
#include "traces/formats/text.h"

namespace shardscope::cli {
namespace {

constexpr double kPanel = 460, kLeft = 90, kTop = 96, kLegendRow = 20;
constexpr double kHeight = kTop + kPanel + 70, kWidth = kLeft + kPanel + 330;

/// Sources with most rows, each with a colour (Okabe and Ito's set) and a shape; the last one is all others.
constexpr std::array<const char*, 7> kColours{"#0072b2", "#d55e00", "#009e73", "#cc79a7",
                                              "#e69f00", "#56b4e9", "#555555"};

struct Points {
    std::string name;
    std::vector<std::pair<double, double>> at;  ///< seconds, measured and predicted
};

std::vector<Points> pointsOf(const Backtest& backtest) {
    std::map<std::string, Points> bySource;
    for (const ReplayedRow& row : backtest.rows) {
        if (!row.timed() || row.seconds <= 0) continue;
        Points& points = bySource[row.source];
        points.name = row.source;
        points.at.emplace_back(row.seconds, row.seconds * std::exp(row.error()));
    }
    std::vector<Points> all;
    for (auto& [name, points] : bySource) all.push_back(std::move(points));
    std::stable_sort(all.begin(), all.end(),
                     [](const Points& a, const Points& b) { return a.at.size() > b.at.size(); });
    for (std::size_t i = kColours.size(); i < all.size(); ++i)
        all[kColours.size() - 1].at.insert(all[kColours.size() - 1].at.end(), all[i].at.begin(), all[i].at.end());
    if (all.size() > kColours.size()) {
        all[kColours.size() - 1].name = fmt::format("{} others", all.size() - kColours.size() + 1);
        all.resize(kColours.size());
    }
    return all;
}

class Panel {
public:
    Panel(fmt::memory_buffer& out, const Backtest& backtest, double top)
        : m_out(out), m_backtest(backtest), m_top(top) {}

    void draw() {
        const std::vector<Points> all = pointsOf(m_backtest);
        double least = 1e300, most = 0;
        for (const Points& points : all)
            for (const auto& [x, y] : points.at) {
                least = std::min({least, x, y});
                most = std::max({most, x, y});
            }
        const ErrorSummary summary = summaryOf(errors());
        text(24, m_top + 34, "start", fmt::format("{}: predicted against measured", nameOf(m_backtest.kind)),
             " font-size=\"20\" font-weight=\"bold\"");
        text(24, m_top + 60, "start",
             summary.count == 0
                 ? "no row was replayed"
                 : fmt::format("{} rows; |ln(predicted / measured)|: median {:.3f}, 90th percentile {:.3f}",
                               summary.count, summary.median, summary.p90));
        if (all.empty()) return;
        m_low = std::floor(std::log10(least));
        m_high = std::max(m_low + 1, std::ceil(std::log10(most)));
        axes();
        for (std::size_t i = 0; i < all.size(); ++i) {
            for (const auto& [x, y] : all[i].at) mark(i, placeX(x), placeY(y));
            const double y = m_top + kTop + 10 + kLegendRow * static_cast<double>(i);
            mark(i, kLeft + kPanel + 24, y - 5);
            text(kLeft + kPanel + 36, y, "start", fmt::format("{} ({})", all[i].name.substr(0, 36), all[i].at.size()),
                 " font-size=\"12\"");
        }
    }

private:
    [[nodiscard]] std::vector<double> errors() const {
        std::vector<double> all;
        for (const ReplayedRow& row : m_backtest.rows)
            if (row.timed() && row.seconds > 0) all.push_back(row.error());
        return all;
    }
    [[nodiscard]] double share(double seconds) const { return (std::log10(seconds) - m_low) / (m_high - m_low); }
    [[nodiscard]] double placeX(double seconds) const { return kLeft + kPanel * share(seconds); }
    [[nodiscard]] double placeY(double seconds) const { return m_top + kTop + kPanel * (1 - share(seconds)); }

    void text(double x, double y, std::string_view anchor, std::string_view words, std::string_view more = "") {
        fmt::format_to(std::back_inserter(m_out), "<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"{}\"{}>", x, y, anchor,
                       more);
        formats::appendXml(m_out, words);
        fmt::format_to(std::back_inserter(m_out), "</text>\n");
    }
    void line(double x1, double y1, double x2, double y2, std::string_view more) {
        fmt::format_to(std::back_inserter(m_out), "<path d=\"M{:.1f} {:.1f}L{:.1f} {:.1f}\" {}/>\n", x1, y1, x2, y2,
                       more);
    }
    void mark(std::size_t source, double x, double y) {
        constexpr std::array<const char*, 3> kShapes{"M{0:.1f} {1:.1f}m-3 0a3 3 0 1 0 6 0a3 3 0 1 0-6 0",
                                                     "M{0:.1f} {1:.1f}m-3-3h6v6h-6z", "M{0:.1f} {1:.1f}m0-4l4 7h-8z"};
        fmt::format_to(std::back_inserter(m_out), "<path d=\"");
        fmt::format_to(std::back_inserter(m_out), fmt::runtime(kShapes[source % kShapes.size()]), x, y);
        fmt::format_to(std::back_inserter(m_out), "\" fill=\"none\" stroke=\"{}\"/>\n", kColours[source]);
    }

    /// Decades, the diagonal, and a factor of two on either side of it.
    void axes() {
        const double bottom = m_top + kTop + kPanel;
        for (double decade = m_low; decade <= m_high; ++decade) {
            const double seconds = std::pow(10, decade);
            line(placeX(seconds), m_top + kTop, placeX(seconds), bottom, "stroke=\"#dddddd\"");
            line(kLeft, placeY(seconds), kLeft + kPanel, placeY(seconds), "stroke=\"#dddddd\"");
            const std::string label = secondsText(decade);
            text(placeX(seconds), bottom + 20, "middle", label, " font-size=\"12\"");
            text(kLeft - 8, placeY(seconds) + 4, "end", label, " font-size=\"12\"");
        }
        const double low = std::pow(10, m_low), high = std::pow(10, m_high);
        line(placeX(low), placeY(low), placeX(high), placeY(high), "stroke=\"#222222\"");
        line(placeX(low), placeY(2 * low), placeX(high / 2), placeY(high),
             "stroke=\"#888888\" stroke-dasharray=\"4 4\"");
        line(placeX(2 * low), placeY(low), placeX(high), placeY(high / 2),
             "stroke=\"#888888\" stroke-dasharray=\"4 4\"");
        text(kLeft + kPanel / 2, bottom + 46, "middle", "measured time; dashed: a factor of two");
        text(24, m_top + 82, "start", "predicted time", " font-size=\"12\"");
    }
    static std::string secondsText(double decade) {
        if (decade < -9 || decade > 6) return fmt::format("1e{:.0f} s", decade);
        return durationText(static_cast<std::int64_t>(std::llround(std::pow(10, decade + 9))));
    }

    fmt::memory_buffer& m_out;
    const Backtest& m_backtest;
    double m_top, m_low = 0, m_high = 1;
};

}  // namespace

std::string scatterSvg(const std::vector<Backtest>& backtests) {
    fmt::memory_buffer out;
    const double height = kHeight * static_cast<double>(backtests.size());
    fmt::format_to(
        std::back_inserter(out),
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0:.0f}\" height=\"{1:.0f}\" viewBox=\"0 0 {0:.0f} "
        "{1:.0f}\" font-family=\"Noto Sans, DejaVu Sans, sans-serif\" font-size=\"14\" fill=\"#222222\">\n"
        "<rect width=\"{0:.0f}\" height=\"{1:.0f}\" fill=\"#ffffff\"/>\n",
        kWidth, height);
    for (std::size_t i = 0; i < backtests.size(); ++i)
        Panel(out, backtests[i], kHeight * static_cast<double>(i)).draw();
    fmt::format_to(std::back_inserter(out), "</svg>\n");
    return fmt::to_string(out);
}

}  // namespace shardscope::cli
