#include "cli/face/text_picture.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <vector>

#include "core/base/printable.h"
#include "core/graph/step_graph.h"
#include "traces/timeline/breakdown.h"

namespace shardscope::cli {
namespace {

using timeline::SpanKind;
using timeline::State;
using timeline::Timeline;

enum Sign : std::size_t { Forward, Backward, Other, Transfer, Copy, Waiting, Idle, Wire, None };
constexpr std::size_t kSigns = None;

struct Look {
    const char* utf8;
    const char* ascii;
    const char* colour;
    const char* meaning;
};
// Denser is busier; each sign is a shape of its own, so that the picture reads without colour.
constexpr std::array<Look, kSigns> kLooks{{
    {"█", "F", "\x1b[34m", "forward"},
    {"▓", "B", "\x1b[36m", "backward"},
    {"▒", "O", "\x1b[35m", "optimizer"},
    {"≈", "=", "\x1b[33m", "transfer that nothing hides"},
    {"~", "~", "\x1b[32m", "copy"},
    {"·", ".", "\x1b[31m", "waits for a peer"},
    {" ", " ", "\x1b[0m", "idle"},
    {"▔", "-", "\x1b[33m", "transfer"},
}};

using Cell = std::array<std::int64_t, kSigns>;

class Clock {
public:
    Clock(std::int64_t end, int columns) : m_end(std::max<std::int64_t>(end, 1)), m_columns(columns) {}
    /// Start of a column, in ns.
    [[nodiscard]] std::int64_t at(int column) const {
        return static_cast<std::int64_t>(static_cast<long double>(m_end) * column / m_columns);
    }
    void add(std::vector<Cell>& cells, std::int64_t begin, std::int64_t end, Sign sign) const {
        begin = std::clamp<std::int64_t>(begin, 0, m_end);
        end = std::clamp<std::int64_t>(end, 0, m_end);
        if (begin >= end) return;
        int column = std::min(static_cast<int>(static_cast<long double>(begin) * m_columns / m_end), m_columns - 1);
        while (column > 0 && at(column) > begin) --column;
        while (column + 1 < m_columns && at(column + 1) <= begin) ++column;
        for (; column < m_columns && at(column) < end; ++column)
            cells[static_cast<std::size_t>(column)][sign] +=
                std::min(end, at(column + 1)) - std::max(begin, at(column));
    }

private:
    std::int64_t m_end;
    int m_columns;
};

Sign signOf(const Timeline& t, const timeline::Segment& segment) {
    switch (segment.state) {
        case State::Compute:
            if (segment.span != timeline::kNoIndex) {
                if (timeline::isCopy(static_cast<timeline::Activity>(t.spans.activity[segment.span]))) return Copy;
                const auto phase = static_cast<core::Phase>(t.spans.phase[segment.span]);
                if (phase == core::Phase::Forward) return Forward;
                if (phase == core::Phase::Optimizer) return Other;
                return phase == core::Phase::Loss ? Forward : Backward;
            }
            return Other;
        case State::Transfer: return Transfer;
        case State::Copy: return Copy;
        case State::Waiting: return Waiting;
        case State::Idle: return Idle;
    }
    return Idle;
}

/// A sign a column, in the proportions of the row: a column takes, of the signs that fill a fifth of it, the one that
/// is most behind so far. A stretch of compute too short to win a column gets the one in which it is longest, so that a
/// row never hides whose turn it was.
std::vector<Sign> signsOf(const std::vector<Cell>& cells) {
    std::vector<Sign> signs;
    Cell behind{};
    for (const Cell& cell : cells) {
        std::int64_t length = 0;
        for (std::size_t sign = 0; sign < Wire; ++sign) {
            length += cell[sign];
            behind[sign] += cell[sign];
        }
        Sign best = length == 0 ? Idle : None;
        for (std::size_t sign = 0; sign < Wire && length > 0; ++sign)
            if (cell[sign] * 5 >= length && (best == None || behind[sign] > behind[best]))
                best = static_cast<Sign>(sign);
        behind[best] -= length;
        signs.push_back(best);
    }
    for (const Sign sign : {Forward, Backward, Other})
        for (std::size_t i = 0; i < cells.size();) {
            if (cells[i][sign] == 0) {
                ++i;
                continue;
            }
            std::size_t longest = cells.size();  // of the columns that do not show another kind of compute
            bool shown = false;
            for (; i < cells.size() && cells[i][sign] > 0; ++i) {
                shown |= signs[i] == sign;
                if (signs[i] > Other && (longest == cells.size() || cells[i][sign] > cells[longest][sign])) longest = i;
            }
            if (!shown && longest < cells.size()) signs[longest] = sign;
        }
    return signs;
}

class Painter {
public:
    explicit Painter(const TextStyle& style) : m_style(style) {}

    void put(Sign sign) {
        m_seen[sign] = true;
        if (m_style.colour && sign != m_last) m_line += kLooks[sign].colour;
        m_last = sign;
        m_line += m_style.utf8 ? kLooks[sign].utf8 : kLooks[sign].ascii;
        if (sign != Idle) m_length = m_line.size();
    }
    void text(std::string_view text) {
        m_line += text;
        m_length = m_line.size();
    }
    /// The line without the blanks at its end.
    [[nodiscard]] std::string take() {
        m_line.resize(m_length);
        if (m_style.colour && m_last != None) m_line += "\x1b[0m";
        std::string line = std::move(m_line) + "\n";
        m_line.clear();
        m_length = 0;
        m_last = None;
        return line;
    }
    [[nodiscard]] std::string legend() {
        std::string out;
        for (std::size_t sign = 0; sign < kSigns; ++sign) {
            if (!m_seen[sign] || sign == Idle) continue;
            out += fmt::format("{}{}{}{} {}", out.empty() ? "" : "   ", m_style.colour ? kLooks[sign].colour : "",
                               m_style.utf8 ? kLooks[sign].utf8 : kLooks[sign].ascii, m_style.colour ? "\x1b[0m" : "",
                               kLooks[sign].meaning);
        }
        if (m_seen[Idle]) out += fmt::format("{}(blank) idle", out.empty() ? "" : "   ");
        return out;
    }

private:
    const TextStyle& m_style;
    std::string m_line;
    std::size_t m_length = 0;
    Sign m_last = None;
    std::array<bool, kSigns> m_seen{};
};

std::string padded(const std::string& text, std::size_t columns) {
    const std::size_t own = columnsOf(text);
    return text + std::string(own < columns ? columns - own : 0, ' ');
}

std::string labelOf(const Timeline& t, const timeline::RankRow& rank) {
    const std::string name = core::printable(t.strings[rank.name]);
    return rank.multiplicity > 1 ? fmt::format("{} x{}", name, rank.multiplicity) : name;
}

/// A round step of the axis: 1, 2 or 5 times a power of ten.
std::int64_t tickOf(std::int64_t end, int columns) {
    const std::int64_t least = std::max<std::int64_t>(1, end / std::max(1, columns / 16));
    std::int64_t tick = 1;
    while (tick < least && tick < std::int64_t{1} << 59) {
        if (tick * 2 >= least) return tick * 2;
        if (tick * 5 >= least) return tick * 5;
        tick *= 10;
    }
    return tick;
}

/// A round time without the zeros behind its point.
std::string tickText(std::int64_t ns) {
    const std::string text = durationText(ns);
    const std::size_t gap = text.find(' ');
    std::string number = text.substr(0, gap);
    if (number.find('.') != std::string::npos) {
        number.erase(number.find_last_not_of('0') + 1);
        if (number.back() == '.') number.pop_back();
    }
    return number + text.substr(gap);
}

std::string axis(std::int64_t end, int columns, std::size_t indent) {
    std::string line(static_cast<std::size_t>(columns), ' ');
    const std::int64_t tick = tickOf(end, columns);
    std::size_t free = 0;
    for (std::int64_t at = 0; at <= end && at >= 0; at += tick) {
        const auto column =
            static_cast<std::size_t>(static_cast<long double>(at) * columns / static_cast<long double>(end));
        const std::string mark = "|" + (at == 0 ? std::string("0") : tickText(at));
        if (column < free || column + mark.size() > line.size()) continue;
        line.replace(column, mark.size(), mark);
        free = column + mark.size() + 1;
    }
    line.resize(line.find_last_not_of(' ') + 1);
    return std::string(indent, ' ') + line + "\n";
}

}  // namespace

std::size_t columnsOf(std::string_view text) {
    std::size_t columns = 0;
    for (std::size_t i = 0; i < text.size();) {
        const auto lead = static_cast<unsigned char>(text[i]);
        std::size_t length = lead < 0xc0 ? 1 : lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : 4;
        char32_t point = length == 1 ? lead : lead & (0xff >> (length + 1));
        for (std::size_t k = 1; k < length; ++k) {
            const auto next = static_cast<unsigned char>(i + k < text.size() ? text[i + k] : 0);
            if ((next & 0xc0) != 0x80) length = k;  // broken off: what is there counts as one
            point = point << 6 | (next & 0x3f);
        }
        const bool wide = (point >= 0x1100 && point <= 0x115f) || (point >= 0x2e80 && point <= 0xa4cf) ||
                          (point >= 0xac00 && point <= 0xd7a3) || (point >= 0xf900 && point <= 0xfaff) ||
                          (point >= 0xfe30 && point <= 0xfe6f) || (point >= 0xff00 && point <= 0xff60);
        columns += wide ? 2 : 1;
        i += length;
    }
    return columns;
}

std::string durationText(std::int64_t ns) {
    const char* units[] = {"ns", "us", "ms", "s"};
    double value = static_cast<double>(ns);
    std::size_t unit = 0;
    while (unit < 3 && std::abs(value) >= 999.5) {
        value /= 1000;
        ++unit;
    }
    if (unit == 0) return fmt::format("{} ns", ns);
    const double size = std::abs(value);
    const int decimals = size >= 99.95 ? 0 : size >= 9.995 ? 1 : 2;
    return fmt::format("{:.{}f} {}", value, decimals, units[unit]);
}

std::string bytesText(std::int64_t bytes) {
    const char* units[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB"};
    double value = static_cast<double>(bytes);
    std::size_t unit = 0;
    while (unit < 5 && std::abs(value) >= 1023.5) {
        value /= 1024;
        ++unit;
    }
    if (unit == 0) return fmt::format("{} B", bytes);
    const double size = std::abs(value);
    return fmt::format("{:.{}f} {}", value, size >= 99.95 ? 0 : size >= 9.995 ? 1 : 2, units[unit]);
}

std::string textPicture(std::span<const PicturedPlan> plans, const TextStyle& style, std::size_t mostRanks) {
    std::int64_t end = 1;
    std::size_t indent = 0;
    for (const PicturedPlan& plan : plans) {
        end = std::max(end, plan.timeline->end);
        for (std::size_t i = 0; i < std::min(mostRanks, plan.timeline->ranks.size()); ++i)
            indent = std::max(indent, columnsOf(labelOf(*plan.timeline, plan.timeline->ranks[i])));
    }
    indent += 3;
    const int columns = std::max(20, style.width - static_cast<int>(indent) - 1);
    const Clock clock(end, columns);
    Painter painter(style);
    std::string out;
    for (const PicturedPlan& plan : plans) {
        const Timeline& t = *plan.timeline;
        out += core::printable(plan.name + (plan.caption.empty() ? "" : ": " + plan.caption)) + "\n";
        const auto lanes = timeline::spansOfLanes(t);
        const std::size_t drawn = std::min(mostRanks, t.ranks.size());
        for (std::size_t r = 0; r < drawn; ++r) {
            const auto& rank = t.ranks[r];
            std::vector<Cell> cells(static_cast<std::size_t>(columns));
            std::vector<Cell> wires(static_cast<std::size_t>(columns));
            for (const auto& segment : timeline::segmentsOf(t, static_cast<std::uint32_t>(r), lanes))
                clock.add(cells, segment.begin, segment.end, signOf(t, segment));
            for (std::uint32_t lane = rank.laneBegin; lane < rank.laneEnd; ++lane)
                for (std::uint32_t s = lanes[lane].begin; s < lanes[lane].end; ++s) {
                    const auto kind = static_cast<SpanKind>(t.spans.kind[s]);
                    if (kind != SpanKind::Collective && kind != SpanKind::PointToPoint) continue;
                    clock.add(wires, t.spans.transferStart[s], t.spans.end[s], Wire);
                }
            painter.text(padded("  " + labelOf(t, rank), indent));
            for (const Sign sign : signsOf(cells)) painter.put(sign);
            out += painter.take();
            if (!std::any_of(wires.begin(), wires.end(), [](const Cell& cell) { return cell[Wire] > 0; })) continue;
            painter.text(std::string(indent, ' '));
            for (std::size_t c = 0; c < wires.size(); ++c) {
                const std::int64_t length = clock.at(static_cast<int>(c) + 1) - clock.at(static_cast<int>(c));
                painter.put(wires[c][Wire] * 10 >= std::max<std::int64_t>(length, 1) ? Wire : Idle);
            }
            if (const std::string line = painter.take(); line.find_first_not_of(" \n") != std::string::npos)
                out += line;
        }
        if (drawn < t.ranks.size()) out += fmt::format("  ... and {} more\n", t.ranks.size() - drawn);
    }
    out += axis(end, columns, indent);
    out += std::string(2, ' ') + painter.legend() + "\n";
    return out;
}

}  // namespace shardscope::cli
