#include "cli/face/csv_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>

#include "core/base/nearest.h"

namespace shardscope::cli {
namespace {

using core::ErrorCode;
using core::fail;
using core::Result;

/// Walks the bytes; knows the line it is on.
class Reader {
public:
    Reader(std::string_view bytes, const std::string& file) : m_bytes(bytes), m_file(file) {
        if (m_bytes.starts_with("\xef\xbb\xbf")) m_bytes.remove_prefix(3);
    }
    [[nodiscard]] bool atEnd() const { return m_at == m_bytes.size(); }
    [[nodiscard]] std::int64_t line() const { return m_line; }

    /// Cells of the next record; `most` of them.
    Result<std::vector<std::string>> record(std::size_t most) {
        std::vector<std::string> cells;
        const std::int64_t first = m_line;
        while (true) {
            if (cells.size() == most)
                return fail(ErrorCode::Input, fmt::format("found more than {} cells", most), place(first),
                            "expected as many cells as the first line has");
            SHARDSCOPE_ASSIGN(std::string one, cell(cells.size() + 1));
            cells.push_back(std::move(one));
            if (atEnd()) return cells;
            if (m_bytes[m_at] == ',') {
                ++m_at;
                continue;
            }
            endLine();
            return cells;
        }
    }
    [[nodiscard]] bool blankLine() const {
        return m_bytes.substr(m_at).starts_with('\n') || m_bytes.substr(m_at).starts_with("\r\n");
    }
    void endLine() {
        m_at += m_bytes[m_at] == '\r' ? 2 : 1;
        ++m_line;
    }
    [[nodiscard]] std::string place(std::int64_t line) const { return fmt::format("{}:{}", m_file, line); }

private:
    [[nodiscard]] bool lineEndsHere() const {
        return m_bytes[m_at] == '\n' || m_bytes.substr(m_at).starts_with("\r\n");
    }

    Result<std::string> cell(std::size_t number) {
        const std::string where = fmt::format("{}:{} cell {}", m_file, m_line, number);
        const bool quoted = !atEnd() && m_bytes[m_at] == '"';
        bool closed = !quoted;
        if (quoted) ++m_at;
        std::string text;
        for (; !atEnd(); ++m_at) {
            const char c = m_bytes[m_at];
            if (closed && (c == ',' || lineEndsHere())) break;
            if (c == '\0') return fail(ErrorCode::Input, "found a NUL byte, expected text", where, "is it a CSV file?");
            if (c == '"') {
                if (closed)
                    return fail(ErrorCode::Input, "found a quote that opens or closes nothing", where,
                                "put the whole cell in quotes and write quotes inside it twice");
                if (!m_bytes.substr(m_at + 1).starts_with('"')) {
                    closed = true;
                    ++m_at;
                    break;
                }
                ++m_at;
            }
            if (c == '\n') ++m_line;
            if (text.size() == kLongestCsvCell)
                return fail(ErrorCode::Input, fmt::format("found a cell of more than {} bytes", kLongestCsvCell), where,
                            "is a quote left open?");
            text += c;
        }
        if (!closed)
            return fail(ErrorCode::Input, "found the end of the file inside a quoted cell", where, "close the quote");
        if (!atEnd() && m_bytes[m_at] != ',' && !lineEndsHere())
            return fail(ErrorCode::Input, "found text behind a closing quote, expected a comma or the end of the line",
                        where, "write quotes inside a cell twice");
        return text;
    }

    std::string_view m_bytes;
    const std::string& m_file;
    std::size_t m_at = 0;
    std::int64_t m_line = 1;
};

}  // namespace

std::optional<std::size_t> CsvTable::find(std::string_view column) const {
    const auto at = std::find(columns.begin(), columns.end(), column);
    if (at == columns.end()) return std::nullopt;
    return static_cast<std::size_t>(at - columns.begin());
}

Result<CsvTable> parseCsv(std::string_view bytes, const std::string& file) {
    CsvTable table;
    table.file = file;
    Reader reader(bytes, file);
    if (reader.atEnd()) return fail(ErrorCode::Input, "found nothing, expected a line of column names", file);
    SHARDSCOPE_ASSIGN(table.columns, reader.record(kMostCsvColumns));
    for (std::size_t i = 0; i < table.columns.size(); ++i) {
        const std::string& name = table.columns[i];
        if (name.empty())
            return fail(ErrorCode::Input, fmt::format("cell {} is empty, expected a column's name", i + 1),
                        reader.place(1), "name every column in the first line");
        if (table.find(name) != i)
            return fail(ErrorCode::Input, fmt::format("two columns are called \"{}\"", name.substr(0, 60)),
                        reader.place(1), "rename or remove one of them");
    }
    while (!reader.atEnd()) {
        if (reader.blankLine()) {
            reader.endLine();
            continue;
        }
        const std::int64_t line = reader.line();
        SHARDSCOPE_ASSIGN(std::vector<std::string> cells, reader.record(table.columns.size()));
        if (cells.size() != table.columns.size())
            return fail(
                ErrorCode::Input,
                fmt::format("found {} cells, expected {} as in the first line", cells.size(), table.columns.size()),
                reader.place(line), "fill missing cells with nothing between the commas");
        if ((table.rows.size() + 1) * table.columns.size() > kMostCsvCells)
            return fail(ErrorCode::Input, fmt::format("found more than {} cells", kMostCsvCells), reader.place(line),
                        "split the file");
        table.rows.push_back(std::move(cells));
        table.lines.push_back(line);
    }
    if (table.rows.empty())
        return fail(ErrorCode::Input, "found no rows under the column names", file, "a row a measurement");
    return table;
}

Result<void> requireColumns(const CsvTable& table, const std::vector<std::string_view>& names) {
    for (const std::string_view name : names) {
        if (table.find(name)) continue;
        const std::string meant = core::nearest(name, table.columns);
        return fail(ErrorCode::Input, fmt::format("found no column \"{}\"", name), table.file + ":1",
                    meant.empty() ? fmt::format("expected columns are: {}", fmt::join(names, ", "))
                                  : fmt::format("is it \"{}\"? Rename it", meant));
    }
    return {};
}

std::string_view CsvRow::text(std::string_view column) const {
    const auto at = m_table->find(column);
    return at ? std::string_view(m_table->rows[m_row][*at]) : std::string_view();
}

std::string CsvRow::placeOf(std::string_view column) const {
    return fmt::format("{}:{} column \"{}\"", m_table->file, line(), column);
}

Result<std::optional<double>> CsvRow::number(std::string_view column, double least, double most) const {
    const std::string_view cell = text(column);
    if (cell.empty()) return std::optional<double>();
    double value = 0;
    const auto [end, error] = std::from_chars(cell.data(), cell.data() + cell.size(), value);
    if (error != std::errc() || end != cell.data() + cell.size() || !std::isfinite(value) || value < least ||
        value > most)
        return fail(ErrorCode::Input,
                    fmt::format("found \"{}\", expected a number from {:g} to {:g}", cell.substr(0, 60), least, most),
                    placeOf(column), "leave the cell blank where nothing is known");
    return std::optional<double>(value);
}

Result<std::optional<std::int64_t>> CsvRow::integer(std::string_view column, std::int64_t least,
                                                    std::int64_t most) const {
    SHARDSCOPE_ASSIGN(const std::optional<double> value,
                      number(column, static_cast<double>(least), static_cast<double>(most)));
    if (!value) return std::optional<std::int64_t>();
    if (std::floor(*value) != *value)
        return fail(ErrorCode::Input, fmt::format("found {}, expected an integer", text(column).substr(0, 60)),
                    placeOf(column));
    return std::optional<std::int64_t>(static_cast<std::int64_t>(*value));
}

}  // namespace shardscope::cli
