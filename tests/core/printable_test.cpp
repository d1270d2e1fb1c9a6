#include "core/base/printable.h"

#include <gtest/gtest.h>

#include "core/base/document.h"
#include "core/base/result.h"

namespace shardscope::core {
namespace {

using namespace std::string_literals;

TEST(Printable, SpellsOutWhatATerminalWouldObey) {
    EXPECT_EQ(printable("\x1b[31mred\x1b[0m"), "\\x1b[31mred\\x1b[0m");
    EXPECT_EQ(printable("a\0b\nc\td\re\x7f"s), "a\\x00b\\nc\\td\\re\\x7f");
    EXPECT_EQ(printable("\xc2\x9b"
                        "31m \xc2\x85"),
              "\\u009b31m \\u0085");  // C1: the one-character CSI, next line
    EXPECT_EQ(printable("\xe2\x80\xae"
                        "txt"),
              "\\u202etxt");  // right-to-left override
    EXPECT_EQ(printable("\x9b"
                        "31m \xff \xc0\x8a"),
              "\\x9b31m \\xff \\xc0\\x8a");  // bytes that are no UTF-8
}

TEST(Printable, LeavesWritingOfAllKindsAlone) {
    for (const char* text : {"", "plain ~ text", "뷰어 모델", "é ß Ω", "\xf0\x9f\x98\x80", "█▓≈"})
        EXPECT_EQ(printable(text), text);
    EXPECT_EQ(printableLines("a\n\tb\x1b\n"), "a\n\tb\\x1b\n");
}

TEST(Printable, ErrorsCarryNoControlCharacters) {
    const std::string text = describe({ErrorCode::Input, "found \"\x1b[2J\"", "a\nb.toml:1", "try \x07\xc2\x9b"});
    EXPECT_EQ(text, "a\\nb.toml:1: found \"\\x1b[2J\"\n  try \\x07\\u009b");
}

TEST(Printable, JsonIsFitForATerminalAndReadsBackEqual) {
    const std::string text = "\x1b[31m \x7f \xc2\x9b \xe2\x80\xae 뷰어 \xf0\x9f\x98\x80 \"\n";
    const std::string json = writeJson(Document::of(text), false);
    EXPECT_EQ(printable(json), json);
    EXPECT_NE(json.find("뷰어"), std::string::npos);
    EXPECT_EQ(parseJson(json, "j")->text, text);
}

}  // namespace
}  // namespace shardscope::core
