#pragma once

// Reading a CSV of measurements: RFC 4180, with or without a byte-order mark, lines ended by LF or CRLF. Columns are
// found by their names in the first line.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.h"

namespace shardscope::cli {

inline constexpr std::size_t kMostCsvCells = 4'000'000;
inline constexpr std::size_t kMostCsvColumns = 1000;
inline constexpr std::size_t kLongestCsvCell = 65'536;

struct CsvTable {
    std::string file;  ///< for messages
    std::vector<std::string> columns;
    std::vector<std::vector<std::string>> rows;  ///< each as long as `columns`
    std::vector<std::int64_t> lines;             ///< per row: the line it starts on, from 1

    /// Place of a column, or nothing.
    [[nodiscard]] std::optional<std::size_t> find(std::string_view column) const;
};

/// Errors, each with file, line and column: no rows, an empty or repeated column name, a row with more or fewer cells
/// than the first, a quote that is never closed or stands inside a bare cell, a NUL byte, too many cells, a cell that
/// is too long.
[[nodiscard]] core::Result<CsvTable> parseCsv(std::string_view bytes, const std::string& file);

/// Errors: a column of `names` that the table does not have (the nearest one that it has is offered).
[[nodiscard]] core::Result<void> requireColumns(const CsvTable& table, const std::vector<std::string_view>& names);

/// One row, cells by column. A column that the table does not have reads as blank.
class CsvRow {
public:
    CsvRow(const CsvTable& table, std::size_t row) : m_table(&table), m_row(row) {}
    [[nodiscard]] std::string_view text(std::string_view column) const;
    /// Nothing where the cell is blank. Errors: no number, or one outside [least, most].
    [[nodiscard]] core::Result<std::optional<double>> number(std::string_view column, double least, double most) const;
    /// The same for an integer ("8", "8.0").
    [[nodiscard]] core::Result<std::optional<std::int64_t>> integer(std::string_view column, std::int64_t least,
                                                                    std::int64_t most) const;
    /// "runs.csv:12 column \"seq\""
    [[nodiscard]] std::string placeOf(std::string_view column) const;
    [[nodiscard]] std::int64_t line() const { return m_table->lines[m_row]; }

private:
    const CsvTable* m_table;
    std::size_t m_row;
};

}  // namespace shardscope::cli
