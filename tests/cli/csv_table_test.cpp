#include "cli/face/csv_table.h"

#include <gtest/gtest.h>

namespace shardscope::cli {
namespace {

core::Error refusal(std::string_view bytes) {
    const auto table = parseCsv(bytes, "m.csv");
    return table ? core::Error{core::ErrorCode::Internal, "was read", "", ""} : table.error();
}

TEST(CsvTable, ReadsQuotesLineEndsAndAByteOrderMark) {
    const auto table = parseCsv(
        "\xef\xbb\xbf"
        "a,b,c\r\n1,\"x, \"\"y\"\"\r\nz\",\r\n\r\n\"\",2,3",
        "m.csv");
    ASSERT_TRUE(table) << core::describe(table.error());
    EXPECT_EQ(table->columns, (std::vector<std::string>{"a", "b", "c"}));
    ASSERT_EQ(table->rows.size(), 2u);
    EXPECT_EQ(table->rows[0], (std::vector<std::string>{"1", "x, \"y\"\r\nz", ""}));
    EXPECT_EQ(table->rows[1], (std::vector<std::string>{"", "2", "3"}));
    EXPECT_EQ(table->lines, (std::vector<std::int64_t>{2, 5}));
}

TEST(CsvTable, RefusesWhatIsNoTableWithItsPlace) {
    const struct {
        std::string bytes;
        const char *where, *words;
    } cases[] = {
        {"", "m.csv", "found nothing"},
        {"a,b\n", "m.csv", "no rows"},
        {"a,a\n1,2\n", "m.csv:1", "two columns"},
        {"a,\n1,2\n", "m.csv:1", "cell 2 is empty"},
        {"a,b\n1,2\n3\n", "m.csv:3", "found 1 cells, expected 2"},
        {"a,b\n1,2,3\n", "m.csv:2", "more than 2 cells"},
        {"a,b\n1,\"2\n", "m.csv:2 cell 2", "end of the file"},
        {"a,b\n1,\"2\"x\n", "m.csv:2 cell 2", "behind a closing quote"},
        {"a,b\n1,2\"\n", "m.csv:2 cell 2", "a quote that opens or closes nothing"},
        {std::string("a,b\n1,\0\n", 8), "m.csv:2 cell 2", "NUL"},
        {"a\n" + std::string(kLongestCsvCell + 1, 'x') + "\n", "m.csv:2 cell 1", "a cell of more than"},
    };
    for (const auto& one : cases) {
        const core::Error error = refusal(one.bytes);
        EXPECT_EQ(error.code, core::ErrorCode::Input) << one.words;
        EXPECT_EQ(error.where, one.where) << one.words;
        EXPECT_NE(error.message.find(one.words), std::string::npos) << error.message;
    }
}

TEST(CsvTable, HoldsItsBoundOnCells) {
    std::string columns = "a0", row;
    for (std::size_t i = 1; i < kMostCsvColumns; ++i) {
        columns += ",a" + std::to_string(i);
        row += ",";
    }
    std::string bytes = columns + "\n";
    for (std::size_t i = 0; i <= kMostCsvCells / kMostCsvColumns; ++i) bytes += row + "\n";
    EXPECT_NE(refusal(bytes).message.find("cells"), std::string::npos);
    EXPECT_NE(refusal(columns + ",more\n").message.find("more than"), std::string::npos);
}

TEST(CsvTable, NumbersAreNumbersOrBlankOrRefused) {
    const auto table = parseCsv("n,m\n12,1.5e3\n,nan\nx,-1\n2.5,1e400\n 7,0x10\n", "m.csv");
    ASSERT_TRUE(table);
    EXPECT_EQ(**CsvRow(*table, 0).integer("n", 0, 100), 12);
    EXPECT_EQ(**CsvRow(*table, 0).number("m", 0, 1e6), 1500);
    EXPECT_FALSE(*CsvRow(*table, 1).number("n", 0, 1e6));
    EXPECT_FALSE(*CsvRow(*table, 0).number("absent", 0, 1e6));
    for (const auto& [row, column] : {std::pair{1, "m"}, {2, "n"}, {2, "m"}, {3, "n"}, {3, "m"}, {4, "n"}, {4, "m"}}) {
        const auto value = CsvRow(*table, static_cast<std::size_t>(row)).integer(column, 0, 100);
        ASSERT_FALSE(value) << row << " " << column;
        EXPECT_EQ(value.error().where, "m.csv:" + std::to_string(row + 2) + " column \"" + column + "\"");
        EXPECT_NE(value.error().message.find("found"), std::string::npos);
        EXPECT_NE(value.error().message.find("expected"), std::string::npos);
    }
    EXPECT_FALSE(CsvRow(*table, 0).integer("n", 0, 11)) << "outside its range";
}

TEST(CsvTable, OffersTheColumnThatWasMeant) {
    const auto table = parseCsv("time_su\n1\n", "m.csv");
    ASSERT_TRUE(table);
    const auto missing = requireColumns(*table, {"time_us"});
    ASSERT_FALSE(missing);
    EXPECT_EQ(missing.error().where, "m.csv:1");
    EXPECT_NE(missing.error().hint.find("time_su"), std::string::npos);
}

}  // namespace
}  // namespace shardscope::cli
