#include <gtest/gtest.h>

#include "tests/formats/small_timelines.h"
#include "traces/formats/csv_writer.h"

namespace shardscope::formats {
namespace {

/// A reader of RFC 4180 as strict as its grammar: rows end in CRLF, quotes are doubled inside quoted fields.
std::vector<std::vector<std::string>> parse(const std::string& text) {
    std::vector<std::vector<std::string>> rows;
    std::size_t at = 0;
    while (at < text.size()) {
        std::vector<std::string> row;
        for (;;) {
            std::string field;
            if (text[at] == '"') {
                for (++at;; ++at) {
                    if (text.at(at) != '"') {
                        field += text[at];
                    } else if (text.at(at + 1) == '"') {
                        field += text[at++];
                    } else {
                        break;
                    }
                }
                ++at;
            } else {
                while (text.at(at) != ',' && text.at(at) != '\r') {
                    EXPECT_NE(text[at], '"');
                    EXPECT_NE(text[at], '\n');
                    field += text[at++];
                }
            }
            row.push_back(field);
            if (text.at(at) == ',') {
                ++at;
                continue;
            }
            EXPECT_EQ(text.substr(at, 2), "\r\n");
            at += 2;
            break;
        }
        rows.push_back(row);
    }
    return rows;
}

std::vector<std::vector<std::string>> tableOf(const timeline::Timeline& timeline) {
    StringSink sink;
    writeCsv(timeline, sink);
    return parse(sink.text());
}

TEST(Csv, HasOneRowASpanAsWideAsTheHeader) {
    const timeline::Timeline timeline = fsdpOfFour();
    const auto rows = tableOf(timeline);
    ASSERT_EQ(rows.size(), timeline.spans.size() + 1);
    for (const auto& row : rows) EXPECT_EQ(row.size(), rows[0].size());
    EXPECT_EQ(rows[0][0], "plan");
    EXPECT_EQ(rows[0][1], "rank");
}

TEST(Csv, KeepsNanosecondsAndAwkwardNames) {
    timeline::HandMade t;
    t.rank("compute comm", 0);
    t.made.ranks[0].multiplicity = 16384;
    t.span("comm", timeline::Activity::AllGather, 5, 123'456'789'012'345'678, "a,\"b\"\r\nc", 10);
    const auto rows = tableOf(t.finish());
    ASSERT_EQ(rows.size(), 2u);
    std::map<std::string, std::string> cell;
    for (std::size_t i = 0; i < rows[0].size(); ++i) cell[rows[0][i]] = rows[1][i];
    EXPECT_EQ(cell.at("unit"), "a,\"b\"\r\nc");
    EXPECT_EQ(cell.at("end_ns"), "123456789012345678");
    EXPECT_EQ(cell.at("duration_ns"), "123456789012345673");
    EXPECT_EQ(cell.at("transfer_start_ns"), "10");
    EXPECT_EQ(cell.at("waiting_ns"), "5");
    EXPECT_EQ(cell.at("kind"), "collective");
    EXPECT_EQ(cell.at("ranks"), "16384");
    EXPECT_EQ(cell.at("op"), "");
    EXPECT_EQ(cell.at("issued_ns"), "");
}

}  // namespace
}  // namespace shardscope::formats
