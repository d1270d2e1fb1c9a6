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
