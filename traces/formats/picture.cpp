#include "traces/formats/picture.h"

#include <algorithm>
#include <cmath>

#include "traces/formats/picture_lanes.h"
#include "traces/formats/picture_memory.h"
#include "traces/formats/text.h"

namespace shardscope::formats {

using timeline::Breakdown;
using timeline::Timeline;

namespace {

constexpr double kLeft = 176, kRight = 104, kMargin = 24;
constexpr double kMemoryHeight = 132;

double share(std::int64_t part, std::int64_t whole) {
    return whole > 0 ? 100.0 * static_cast<double>(part) / static_cast<double>(whole) : 0;
}

std::string percent(double share) {
    // 99.97 % must not read as all, nor 0.03 % as nothing.
    if (share > 99 && share < 100) return fmt::format("{:.1f}", std::min(share, 99.9));
    if (share > 0 && share < 1) return fmt::format("{:.1f}", std::max(share, 0.1));
    return fmt::format("{:.0f}", share);
}

/// What does not change when a picture is drawn again more coarsely.
struct PreparedPanel {
    std::vector<Breakdown> breakdown;
    std::vector<std::vector<RowPiece>> compute, communication;  ///< a rank drawn, folded to the finest resolution
};

struct TimeUnit {
    double ns;
    std::string_view name;
};

TimeUnit unitOfAxis(std::int64_t length) {
    if (length < 2'000) return {1, "ns"};
    if (length < 1'000'000) return {1e3, "us"};
    if (length < 10'000'000'000) return {1e6, "ms"};
    return {1e9, "s"};
}

TimeScale scaleOf(const Picture& picture) {
    TimeScale scale;
    scale.left = kLeft;
    scale.width = std::clamp(picture.width, 800, 8000) - kLeft - kRight;
    for (const Panel& panel : picture.panels) {
        for (const timeline::RankRow& rank : panel.timeline->ranks) scale.length = std::max(scale.length, rank.stepEnd);
    }
    return scale;
}

std::int64_t resolutionIn(const TimeScale& scale, double px) {
    return static_cast<std::int64_t>(std::ceil(px * static_cast<double>(scale.length) / scale.width));
}

PreparedPanel prepare(const Panel& panel, std::size_t maxRanks, std::int64_t resolution) {
    PreparedPanel prepared;
    const Timeline& t = *panel.timeline;
    prepared.breakdown = panel.breakdown.empty() ? timeline::breakdownOf(t) : panel.breakdown;
    const std::vector<timeline::SpanRange> lanes = timeline::spansOfLanes(t);
    const timeline::CauseFinder causes(t);
    for (std::uint32_t r = 0; r < std::min(t.ranks.size(), maxRanks); ++r) {
        prepared.compute.push_back(fold(computeRow(t, causes, lanes, r), resolution));
        prepared.communication.push_back(fold(communicationRow(t, lanes, r), resolution));
    }
    return prepared;
}

class Painter {
public:
    Painter(const Picture& picture, const std::vector<PreparedPanel>& prepared, double resolution, bool withTips)
        : m_picture(picture),
          m_prepared(prepared),
          m_resolution(resolution),
          m_withTips(withTips),
          m_scale(scaleOf(picture)) {
        for (const Panel& panel : picture.panels) {
            m_curves.emplace_back();
            if (panel.memory) m_curves.back() = memoryCurve(*panel.timeline, panel.memory->rankIndex, resolutionNs());
        }
        chooseMemoryLimit();
    }

    std::string draw() {
        double y = kMargin + 12;
        m_canvas.text(kMargin, y + 14, 28, "b", m_picture.title);
        y += 32;
        if (!m_picture.subtitle.empty()) {
            m_canvas.text(kMargin, y + 10, 17, "g", m_picture.subtitle);
            y += 24;
        }
        y += 18;
        for (std::size_t p = 0; p < m_picture.panels.size(); ++p) y = panel(p, y) + 22;
        y = legend(y);
        return document(y + kMargin - 8);
    }

private:
    [[nodiscard]] double right() const { return m_scale.left + m_scale.width; }
    [[nodiscard]] std::int64_t resolutionNs() const { return resolutionIn(m_scale, m_resolution); }

    /// All panels share one scale of bytes. A capacity far above everything would flatten the curves: it is told, not
    /// drawn.
    void chooseMemoryLimit() {
        std::int64_t peak = 0, capacity = 0;
        for (std::size_t p = 0; p < m_picture.panels.size(); ++p) {
            if (!m_picture.panels[p].memory) continue;
            peak = std::max(peak, m_curves[p].peak);
            capacity = std::max(capacity, m_picture.panels[p].memory->capacity);
        }
        m_memoryLimit = peak + peak / 5;
        if (capacity > 0 && capacity / 4 <= peak) m_memoryLimit = std::max(m_memoryLimit, capacity + capacity / 12);
    }

    double panel(std::size_t p, double y) {
        const Panel& panel = m_picture.panels[p];
        const MemoryCurve& curve = m_curves[p];
        const Timeline& t = *panel.timeline;
        const std::vector<Breakdown>& breakdown = m_prepared[p].breakdown;
        y = header(panel, t, breakdown, y);
        const double lanesTop = y + 4;
        const std::size_t drawn = std::min(t.ranks.size(), m_picture.maxRanks);
        const double rows = static_cast<double>(std::max<std::size_t>(drawn, 1));
        const double compute = std::clamp(330.0 / (rows * 1.6), 6.0, 38.0), communication = compute * 0.44;
        const double pitch = compute + communication + 2 + std::clamp(compute * 0.22, 1.5, 9.0);
        const double lanesBottom = lanesTop + pitch * static_cast<double>(drawn);
        const double bottom = lanesBottom + (drawn < t.ranks.size() ? 22 : 0) + (panel.memory ? kMemoryHeight + 26 : 4);
        grid(lanesTop, bottom);
        std::int64_t stepEnd = 0;
        for (std::uint32_t r = 0; r < drawn; ++r) {
            const double top = lanesTop + pitch * r;
            rankLabel(t, t.ranks[r], r, top, compute + communication);
            drawLane(m_canvas, fold(m_prepared[p].compute[r], resolutionNs()), t, m_picture.text, m_scale,
                     {top, compute, false}, m_withTips, m_used);
            drawLane(m_canvas, fold(m_prepared[p].communication[r], resolutionNs()), t, m_picture.text, m_scale,
                     {top + compute + 2, communication, true}, m_withTips, m_used);
            const double size = std::min(19.0, pitch * 0.8);
            if (size >= 6) {
                m_canvas.text(right() + 12, top + (compute + communication) / 2 + size * 0.36, size, "b",
                              percent(share(breakdown[r].compute, breakdown[r].step)) + "%");
            }
        }
        for (const timeline::RankRow& rank : t.ranks) stepEnd = std::max(stepEnd, rank.stepEnd);
        y = lanesBottom;
        if (drawn < t.ranks.size()) {
            m_canvas.text(m_scale.left, y + 14, 15, "g",
                          fill(m_picture.text.moreRanks, std::to_string(t.ranks.size() - drawn)));
            y += 22;
        }
        m_canvas.line(m_scale.x(stepEnd), lanesTop - 6, m_scale.x(stepEnd), bottom, "end");
        if (panel.memory) memory(panel, curve, t, y + 20);
        return axis(bottom);
    }

    double header(const Panel& panel, const Timeline& t, const std::vector<Breakdown>& breakdown, double y) {
        std::int64_t stepEnd = 0;
        for (const timeline::RankRow& rank : t.ranks) stepEnd = std::max(stepEnd, rank.stepEnd);
        m_canvas.text(kMargin, y + 18, 23, "b", panel.name);
        const std::string step = fill(m_picture.text.step, timeInWords(stepEnd));
        const double nameEnd = kMargin + textWidth(panel.name, 25) + 24;
        m_canvas.text(nameEnd, y + 18, 21, "b", headline(t, breakdown), "#b00020");
        y += 26;
        for (const std::string& caption : panel.captions) {
            m_canvas.text(kMargin, y + 16, 17, "", shortened(caption, right() + kRight - 2 * kMargin, 17));
            y += 23;
        }
        // The step's length stands at its end, where the line is.
        y += 24;
        const double x = m_scale.x(stepEnd);
        const bool fitsLeft = x - textWidth(step, 18) > m_scale.left;
        m_canvas.text(fitsLeft ? x + 1 : m_scale.left, y - 6, 18, fitsLeft ? "b e" : "b", step);
        m_canvas.text(right() + 12, y - 6, 15, "g", m_picture.text.works);
        return y;
    }

    /// `breakdown` by row of the timeline; rows stand for `multiplicity` ranks each.
    [[nodiscard]] std::string headline(const Timeline& t, const std::vector<Breakdown>& breakdown) const {
        if (breakdown.empty()) return {};
        double least = 100, most = 0;
        for (const Breakdown& b : breakdown) {
            least = std::min(least, share(b.compute, b.step));
            most = std::max(most, share(b.compute, b.step));
        }
        const Breakdown sum = timeline::sumOver(t, breakdown);
        const PictureText& text = m_picture.text;
        // A percent is what a reader sees; below that, all ranks are one.
        std::string words = most - least < 1 ? fill(text.headline, percent(share(sum.compute, sum.step)))
                                             : fill(text.headlineRange, percent(least), percent(most));
        if (const double moved = share(sum.transfer + sum.copy, sum.step); moved >= 1) {
            words += fill(text.transferShare, percent(moved));
        }
        if (const double waited = share(sum.gpuWaits(), sum.step); waited >= 1)
            words += fill(text.waitShare, percent(waited));
        return words;
    }

    void rankLabel(const Timeline& t, const timeline::RankRow& rank, std::uint32_t index, double top, double height) {
        const double size = std::min(17.0, height * 0.62);
        if (size < 6) return;
        std::string name = t.strings[rank.name];
        if (name.empty()) name = fill(m_picture.text.rank, std::to_string(index));
        std::string many = rank.multiplicity > 1 ? fmt::format("x {}", groupDigits(rank.multiplicity)) : "";
        const bool twoLines = !many.empty() && height >= 40;
        if (!twoLines && !many.empty()) name += " " + std::exchange(many, "");
        const double middle = top + height / 2 + size * 0.36;
        m_canvas.text(kLeft - 12, middle - (twoLines ? size * 0.55 : 0), size, "b e",
                      shortened(name, kLeft - 36, size));
        if (twoLines) m_canvas.text(kLeft - 12, middle + size * 0.7, size * 0.95, "e", many);
    }

    static std::string groupDigits(std::int64_t n) {
        std::string digits = std::to_string(n);
        for (int at = static_cast<int>(digits.size()) - 3; at > 0; at -= 3)
            digits.insert(static_cast<std::size_t>(at), ",");
        return digits;
    }

    void memory(const Panel& panel, const MemoryCurve& curve, const Timeline& t, double top) {
        const timeline::RankRow& rank = t.ranks[panel.memory->rankIndex];
        m_canvas.text(kMargin, top + 16, 17, "b", m_picture.text.memory);
        if (t.ranks.size() > 1) {
            m_canvas.text(kMargin, top + 37, 14, "g", shortened(t.strings[rank.name], kLeft - kMargin - 70, 14));
        }
        for (const auto& category : curve.categories)
            m_memoryUsed[category ? static_cast<std::size_t>(*category)
                                  : static_cast<std::size_t>(core::MemoryCategory::Workspace)] = true;
        for (const Tick& tick : roundTicks(static_cast<double>(m_memoryLimit) / bytesUnit(), 5)) {
            const double line = top + kMemoryHeight -
                                kMemoryHeight * tick.value * bytesUnit() /
                                    static_cast<double>(std::max<std::int64_t>(m_memoryLimit, 1));
            m_canvas.line(m_scale.left, line, right(), line, "grid");
            if (tick.value > 0)
                m_canvas.text(kLeft - 12, line + 5, 13, "e g",
                              bytesInWords(static_cast<std::int64_t>(tick.value * bytesUnit())));
        }
        drawMemory(m_canvas, curve, t, *panel.memory, m_picture.text, m_scale, top, kMemoryHeight, m_memoryLimit);
    }

    [[nodiscard]] double bytesUnit() const {
        double unit = 1;
        while (static_cast<double>(m_memoryLimit) >= 2 * 1024 * unit) unit *= 1024;
        return unit;
    }

    void grid(double top, double bottom) {
        const TimeUnit unit = unitOfAxis(m_scale.length);
        for (const Tick& tick : ticks(unit)) {
            const double x = m_scale.x(static_cast<std::int64_t>(std::llround(tick.value * unit.ns)));
            m_canvas.line(x, top, x, bottom, "grid");
        }
    }
    [[nodiscard]] std::vector<Tick> ticks(const TimeUnit& unit) const {
        return roundTicks(static_cast<double>(m_scale.length) / unit.ns, static_cast<int>(m_scale.width / 90));
    }

    double axis(double y) {
        const TimeUnit unit = unitOfAxis(m_scale.length);
        m_canvas.line(m_scale.left, y, right(), y, "axis");
        for (const Tick& tick : ticks(unit)) {
            const double x = m_scale.x(static_cast<std::int64_t>(std::llround(tick.value * unit.ns)));
            m_canvas.line(x, y, x, y + 5, "axis");
            m_canvas.text(x, y + 20, 14, "c g", tick.label);
        }
        m_canvas.text(kLeft - 12, y + 20, 14, "e g", unit.name);
        return y + 24;
    }

    double legend(double y) {
        double x = kMargin;
        y += 6;
        const auto entry = [&](std::string_view fillClass, std::string_view words, bool isLow) {
            const double width = 34 + textWidth(words, 15) + 22;
            if (x + width > right() + kRight - kMargin && x > kMargin) {
                x = kMargin;
                y += 28;
            }
            m_canvas.rect(x, y + (isLow ? 3 : 0), 28, isLow ? 15 : 18, fillClass);
            m_canvas.text(x + 34, y + 14, 15, "", words);
            x += width;
        };
        bool any = false;
        for (std::size_t look = 0; look < kLooks; ++look) {
            if (!m_used[look] || static_cast<Look>(look) == Look::None) continue;
            entry(fmt::format("l{}", look), m_picture.text.looks[look], static_cast<Look>(look) == Look::Backward);
            any = true;
        }
        if (any) {
            x = kMargin;
            y += 28;
        }
        bool first = true;
        for (std::size_t c = 0; c < core::kMemoryCategories; ++c) {
            if (!m_memoryUsed[c]) continue;
            if (std::exchange(first, false)) {
                m_canvas.text(x, y + 14, 15, "b", std::string(m_picture.text.memory) + ":");
                x += textWidth(m_picture.text.memory, 15) + 24;
            }
            entry(fmt::format("m{}", c), m_picture.text.memoryCategories[c], false);
        }
        return first ? y : y + 26;
    }

    [[nodiscard]] std::string document(double height) {
        fmt::memory_buffer out;
        const int width = std::clamp(m_picture.width, 800, 8000), tall = static_cast<int>(std::ceil(height));
        fmt::format_to(
            std::back_inserter(out),
            "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<svg xmlns=\"http://www.w3.org/2000/svg\" version=\"1.1\" "
            "width=\"{0}\" height=\"{1}\" viewBox=\"0 0 {0} {1}\" xml:lang=\"{2}\">\n<title>",
            width, tall, m_picture.text.language);
        appendXml(out, m_picture.title);
        fmt::format_to(std::back_inserter(out), "</title>\n");
        appendDefinitions(out);
        fmt::format_to(std::back_inserter(out), "<rect width=\"{}\" height=\"{}\" fill=\"#ffffff\"/>\n", width, tall);
        const std::string_view body = m_canvas.markup();
        out.append(body.data(), body.data() + body.size());
        fmt::format_to(std::back_inserter(out), "</svg>\n");
        return fmt::to_string(out);
    }

    const Picture& m_picture;
    const std::vector<PreparedPanel>& m_prepared;
    double m_resolution;  ///< px
    bool m_withTips;
    TimeScale m_scale;
    std::vector<MemoryCurve> m_curves;
    std::int64_t m_memoryLimit = 0;
    SvgCanvas m_canvas;
    LooksInUse m_used{};
    std::array<bool, core::kMemoryCategories> m_memoryUsed{};
};

}  // namespace

std::string svgOf(const Picture& picture) {
    constexpr double kFinest = 0.3;
    std::vector<PreparedPanel> prepared;
    for (const Panel& panel : picture.panels) {
        prepared.push_back(prepare(panel, picture.maxRanks, resolutionIn(scaleOf(picture), kFinest)));
    }
    std::string svg = Painter(picture, prepared, kFinest, true).draw();
    // Tips go first, then resolution; 64 px a piece is nothing that could be read, so that it ends.
    for (double resolution = kFinest; svg.size() > picture.maxBytes && resolution < 64; resolution *= 2) {
        svg = Painter(picture, prepared, resolution, false).draw();
    }
    return svg;
}

}  // namespace shardscope::formats
