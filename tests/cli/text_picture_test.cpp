#include "cli/face/text_picture.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <sstream>

#include "tests/timeline/hand_made.h"

namespace shardscope::cli {
namespace {

using timeline::Activity;
using timeline::HandMade;
using timeline::Timeline;

std::vector<std::string> linesOf(const std::string& text) {
    std::vector<std::string> lines;
    std::istringstream in(text);
    for (std::string line; std::getline(in, line);) lines.push_back(line);
    return lines;
}

Timeline twoStages() {
    HandMade t;
    t.rank("compute p2p", 100);
    t.span("compute", Activity::Kernels, 0, 40);
    t.span("p2p", Activity::Send, 40, 50, "", 45);
    return t.finish();
}

TEST(TextPicture, ShortWorkIsShownAndProportionsHold) {
    // 12 turns of 3 ns forward and 7 ns backward in 1,000 ns: each far below a column of the picture.
    HandMade t;
    t.rank("compute p2p", 1000);
    for (std::int64_t turn = 0; turn < 12; ++turn) {
        t.span("compute", Activity::Kernels, turn * 80, turn * 80 + 3);
        t.span("compute", Activity::Kernels, turn * 80 + 40, turn * 80 + 47, "", timeline::kNotIssued,
               core::Phase::Backward);
    }
    const Timeline sparse = t.finish();
    const PicturedPlan plan{"naive", "", &sparse};
    const std::string row = linesOf(textPicture({&plan, 1}, {80, false, false})).at(1);
    EXPECT_EQ(std::count(row.begin(), row.end(), 'F'), 12) << row;
    EXPECT_EQ(std::count(row.begin(), row.end(), 'B'), 12) << row;

    // 200 turns, several a column: the row shows a fifth forward, half backward, the rest idle.
    HandMade d;
    d.rank("compute", 2000);
    for (std::int64_t turn = 0; turn < 200; ++turn) {
        d.span("compute", Activity::Kernels, turn * 10, turn * 10 + 2);
        d.span("compute", Activity::Kernels, turn * 10 + 2, turn * 10 + 7, "", timeline::kNotIssued,
               core::Phase::Backward);
    }
    const Timeline dense = d.finish();
    const PicturedPlan other{"dense", "", &dense};
    const std::string line = linesOf(textPicture({&other, 1}, {112, false, false})).at(1);
    EXPECT_NEAR(static_cast<double>(std::count(line.begin(), line.end(), 'F')), 20, 2) << line;
    EXPECT_NEAR(static_cast<double>(std::count(line.begin(), line.end(), 'B')), 50, 2) << line;
}

TEST(TextPicture, EachColumnShowsWhatFillsMostOfIt) {
    const Timeline t = twoStages();
    const PicturedPlan plan{"naive", "100 ns", &t};
    const std::string text = textPicture({&plan, 1}, {40, false, false});
    const auto lines = linesOf(text);
    ASSERT_GE(lines.size(), 4u) << text;
    EXPECT_EQ(lines[0], "naive: 100 ns");
    // 100 ns over the columns that the label leaves: 40% compute, then a twentieth waiting and one of exposed transfer.
    const auto forward = static_cast<double>(std::count(lines[1].begin(), lines[1].end(), 'F'));
    const std::size_t indent = lines[1].find('F');
    const auto columns = static_cast<double>(40 - indent - 1);
    EXPECT_NEAR(forward, 0.4 * columns, 1) << text;
    EXPECT_NE(lines[1].find('.'), std::string::npos) << text;
    EXPECT_NE(lines[1].find('='), std::string::npos) << text;
    EXPECT_NE(lines[2].find('-'), std::string::npos) << text;
    EXPECT_EQ(text.find('\x1b'), std::string::npos);
}

TEST(TextPicture, NoLineIsWiderThanTheTerminal) {
    const Timeline t = twoStages();
    for (const bool colour : {false, true})
        for (const int width : {40, 80, 133}) {
            const PicturedPlan plan{"naive", "", &t};
            for (std::string line : linesOf(textPicture({&plan, 1}, {width, colour, true}))) {
                for (std::size_t at; (at = line.find('\x1b')) != std::string::npos;)
                    line.erase(at, line.find('m', at) - at + 1);
                if (line.find("forward") != std::string::npos) continue;  // the legend
                EXPECT_LE(columnsOf(line), static_cast<std::size_t>(width)) << line;
            }
        }
}

TEST(TextPicture, PlansShareOneClock) {
    HandMade slow, fast;
    slow.rank("compute", 200);
    slow.span("compute", Activity::Kernels, 0, 200);
    fast.rank("compute", 100);
    fast.span("compute", Activity::Kernels, 0, 100);
    const Timeline a = slow.finish(), b = fast.finish();
    const PicturedPlan plans[] = {{"a", "", &a}, {"b", "", &b}};
    const auto lines = linesOf(textPicture(plans, {80, false, false}));
    const auto count = [](const std::string& line) { return std::count(line.begin(), line.end(), 'F'); };
    EXPECT_NEAR(static_cast<double>(count(lines[1])), 2.0 * static_cast<double>(count(lines[3])), 1.0);
}

TEST(TextPicture, ManyRanksAreCountedNotDrawn) {
    HandMade t;
    for (int r = 0; r < 20; ++r) {
        t.rank("compute", 10);
        t.span("compute", Activity::Kernels, 0, 10);
    }
    const Timeline made = t.finish();
    const PicturedPlan plan{"p", "", &made};
    EXPECT_NE(textPicture({&plan, 1}, {80, false, true}, 8).find("and 12 more"), std::string::npos);
}

TEST(Texts, DurationsAndBytesKeepThreeDigits) {
    EXPECT_EQ(durationText(0), "0 ns");
    EXPECT_EQ(durationText(999), "999 ns");
    EXPECT_EQ(durationText(84'200), "84.2 us");
    EXPECT_EQ(durationText(999'600), "1.00 ms");
    EXPECT_EQ(durationText(3'150'000'000), "3.15 s");
    EXPECT_EQ(durationText(-84'200), "-84.2 us");
    EXPECT_EQ(bytesText(84), "84 B");
    EXPECT_EQ(bytesText(std::int64_t{8} << 30), "8.00 GiB");
    EXPECT_EQ(bytesText((std::int64_t{1} << 40) - 1), "1.00 TiB");
}

TEST(Texts, ColumnsCountWideScriptsTwice) {
    EXPECT_EQ(columnsOf("abc"), 3u);
    EXPECT_EQ(columnsOf("가나"), 4u);
    EXPECT_EQ(columnsOf("█▓"), 2u);
    EXPECT_EQ(columnsOf("\xff\xff"), 2u);
}

}  // namespace
}  // namespace shardscope::cli
