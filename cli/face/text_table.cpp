#include "cli/face/text_table.h"

#include <fmt/format.h>

#include <algorithm>

#include "cli/face/text_picture.h"
#include "core/base/printable.h"

namespace shardscope::cli {

TextTable::TextTable(std::vector<std::string> header, std::vector<Align> align) : m_align(std::move(align)) {
    row(std::move(header));
    rule();
}

void TextTable::row(std::vector<std::string> cells) {
    for (std::string& cell : cells) cell = core::printable(cell);
    m_rows.push_back(std::move(cells));
}
void TextTable::rule() {
    m_rows.emplace_back();
}

std::string TextTable::text(std::size_t indent) const {
    std::vector<std::size_t> widths(m_align.size());
    for (const auto& row : m_rows)
        for (std::size_t i = 0; i < std::min(row.size(), widths.size()); ++i)
            widths[i] = std::max(widths[i], columnsOf(row[i]));
    std::string out;
    for (const auto& row : m_rows) {
        std::string line(indent, ' ');
        for (std::size_t i = 0; i < widths.size(); ++i) {
            if (i > 0) line += "  ";
            if (row.empty()) {
                line += std::string(widths[i], '-');
                continue;
            }
            const std::string cell = i < row.size() ? row[i] : "";
            const std::string gap(widths[i] - columnsOf(cell), ' ');
            line += m_align[i] == Align::Right ? gap + cell : cell + gap;
        }
        line.resize(line.find_last_not_of(' ') + 1);
        out += line + "\n";
    }
    return out;
}

std::string rateText(double perSecond) {
    if (perSecond >= 1e6) return fmt::format("{:.3g} M", perSecond / 1e6);
    if (perSecond >= 1000) return groupedDigits(std::llround(perSecond));
    return fmt::format("{:.3g}", perSecond);
}

std::string percentText(double share) {
    const double value = share * 100;
    return value > 0 && value < 0.05 ? "<0.1 %" : fmt::format("{:.{}f} %", value, value >= 99.95 || value == 0 ? 0 : 1);
}

std::string groupedDigits(std::int64_t n) {
    std::string digits = std::to_string(n);
    const std::size_t first = n < 0 ? 1 : 0;
    for (std::size_t at = digits.size(); at > first + 3;) {
        at -= 3;
        digits.insert(at, ",");
    }
    return digits;
}

}  // namespace shardscope::cli
