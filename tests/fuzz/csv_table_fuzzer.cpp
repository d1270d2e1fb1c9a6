// Any bytes are a table or refused with a place and a message; the cells of a table are as many as its columns, and a
// number that is read from one lies in the range that was asked for.

#include <cstdint>
#include <cstdlib>

#include "cli/face/csv_table.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace shardscope::cli;
    const auto table = parseCsv({reinterpret_cast<const char*>(data), size}, "fuzz.csv");
    if (!table) {
        if (table.error().message.empty() || table.error().where.empty()) std::abort();
        return 0;
    }
    if (table->columns.empty() || table->lines.size() != table->rows.size()) std::abort();
    std::int64_t line = 0;
    for (std::size_t i = 0; i < table->rows.size(); ++i) {
        if (table->rows[i].size() != table->columns.size() || table->lines[i] <= line) std::abort();
        line = table->lines[i];
        const CsvRow row(*table, i);
        for (const std::string& column : table->columns) {
            const auto number = row.number(column, -5, 5);
            if (number && *number && !(**number >= -5 && **number <= 5)) std::abort();
            if (!number && number.error().where.empty()) std::abort();
            const auto integer = row.integer(column, 0, 1000);
            if (integer && *integer && (**integer < 0 || **integer > 1000)) std::abort();
        }
        if (!row.text("no such column").empty() && !table->find("no such column")) std::abort();
    }
    return 0;
}
