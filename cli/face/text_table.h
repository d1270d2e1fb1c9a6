#pragma once

// Tables for a terminal.

#include <cstdint>
#include <string>
#include <vector>

namespace shardscope::cli {

enum class Align : std::uint8_t { Left, Right };

/// Columns as wide as their widest cell; the last one is not padded.
class TextTable {
public:
    TextTable(std::vector<std::string> header, std::vector<Align> align);
    void row(std::vector<std::string> cells);
    /// A line across.
    void rule();
    [[nodiscard]] std::string text(std::size_t indent) const;

private:
    std::vector<std::vector<std::string>> m_rows;  ///< an empty one is a rule
    std::vector<Align> m_align;
};

/// "1,234,567"
[[nodiscard]] std::string groupedDigits(std::int64_t n);
/// "84.2", "5,362", "1.23 M": how many a second.
[[nodiscard]] std::string rateText(double perSecond);
/// "12.5 %", "<0.1 %" of a share 0..1.
[[nodiscard]] std::string percentText(double share);

}  // namespace shardscope::cli
