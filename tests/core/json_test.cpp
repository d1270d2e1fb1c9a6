#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "core/base/repeated_keys.h"

namespace shardscope::core {
namespace {

Document parsed(std::string_view text) {
    auto document = parseJson(text, "case.json");
    EXPECT_TRUE(document.has_value()) << describe(document.error());
    return document.value_or(Document{});
}

Error refused(std::string_view text) {
    auto document = parseJson(text, "case.json");
    EXPECT_FALSE(document.has_value()) << text;
    return document ? Error{} : document.error();
}

TEST(Json, everyKindIsReadWithItsLine) {
    const Document d = parsed("{\n \"a\": [1, -2.5, true, null],\n \"b\": {\"c\": \"\\u00e4\\n\"},\n \"d\": 7\n}\n");
    ASSERT_EQ(d.kind, Document::Kind::Table);
    ASSERT_EQ(d.members.size(), 3u);
    const Document& list = *d.find("a");
    ASSERT_EQ(list.items.size(), 4u);
    EXPECT_EQ(list.items[0].integer, 1);
    EXPECT_EQ(list.items[1].real, -2.5);
    EXPECT_EQ(list.items[1].kind, Document::Kind::Real);
    EXPECT_TRUE(list.items[2].boolean);
    EXPECT_EQ(list.items[3].kind, Document::Kind::Null);
    EXPECT_EQ(d.find("b")->find("c")->text, "\xc3\xa4\n");
    EXPECT_EQ(d.line, 1);
    EXPECT_EQ(list.line, 2);
    EXPECT_EQ(d.find("b")->line, 3);
    EXPECT_EQ(d.find("d")->line, 4);
    EXPECT_EQ(d.find("e"), nullptr);
}

TEST(Json, repeatedKeysAreRefusedWithTheirPlace) {
    const Error error = refused("{\n \"a\": 1,\n \"b\": 2,\n \"a\": {\"x\": 1}\n}");
    EXPECT_NE(error.message.find("\"a\""), std::string::npos) << error.message;
    EXPECT_EQ(error.where, "case.json:4");
    EXPECT_EQ(error.hint, "keep one of the two");
    EXPECT_EQ(refused("[{\"a\": {\"x\": 1,\n\"x\": 3}}]").where, "case.json:2");
    EXPECT_EQ(parsed(R"({"a": {"x": 1}, "b": {"x": 3}})").find("b")->find("x")->integer, 3) << "of two tables";
}

TEST(Json, ofRepeatedKeysTheLastCountsWhereThatIsAskedFor) {
    const auto d = parseJsonWithRepeatedKeys(R"({"a": 1, "b": 2, "a": {"x": 1, "x": 3}})", "case.json");
    ASSERT_TRUE(d.has_value()) << describe(d.error());
    ASSERT_EQ(d->members.size(), 2u);
    EXPECT_EQ(d->members[0].first, "a");
    ASSERT_EQ(d->members[0].second.members.size(), 1u);
    EXPECT_EQ(d->find("a")->find("x")->integer, 3);
    EXPECT_EQ(d->find("b")->integer, 2);
}

TEST(Json, integersBeyondInt64BecomeReals) {
    EXPECT_EQ(parsed("9223372036854775807").integer, std::numeric_limits<std::int64_t>::max());
    EXPECT_EQ(parsed("-9223372036854775808").integer, std::numeric_limits<std::int64_t>::min());
    EXPECT_EQ(parsed("9223372036854775808").kind, Document::Kind::Real);
    EXPECT_EQ(parsed("18446744073709551616").real, 18446744073709551616.0);
    EXPECT_EQ(parsed("-9223372036854775809").kind, Document::Kind::Real);
}

TEST(Json, errorsNameFileLineAndColumn) {
    EXPECT_EQ(refused("{\n  \"a\": tru\n}").where, "case.json:2:11");
    EXPECT_EQ(refused("[1, 2,]").where, "case.json:1:7");
    EXPECT_EQ(refused("").where, "case.json");
    EXPECT_FALSE(refused("[1, 2").message.empty());
    for (const char* text : {"nan", "[NaN]", "[Infinity]", "{1: 2}", "[1] 2", "'a'", "[01]", "[1e999]", "\"\xff\"",
                             "\"\\ud800\"", "{\"a\" 1}", "\"open", "/* */ 1"})
        EXPECT_NE(refused(text).message, "") << text;
}

TEST(Json, aNulByteIsNoEnd) {
    EXPECT_EQ(refused(std::string_view("{}\0", 3)).where, "case.json:1:3");
    EXPECT_NE(refused(std::string_view("[1\0]", 5)).message, "");
}

TEST(Json, deepNestingIsRefusedWithoutRecursion) {
    EXPECT_TRUE(parseJson(std::string(256, '[') + std::string(256, ']'), "deep.json").has_value());
    EXPECT_FALSE(parseJson(std::string(257, '[') + std::string(257, ']'), "deep.json").has_value());
    const Error error = refused(std::string(1'000'000, '['));
    EXPECT_NE(error.message.find("256"), std::string::npos);
}

TEST(Json, aLongBrokenTokenIsNotQuotedWhole) {
    EXPECT_LT(refused("\"" + std::string(100'000, 'x')).message.size(), 400u);
}

TEST(Json, writtenTextReadsBackEqual) {
    Document d = Document::table();
    d.set("integer", Document::of(std::numeric_limits<std::int64_t>::min()));
    d.set("whole real", Document::of(5.0));
    d.set("real", Document::of(0.1));
    d.set("small", Document::of(5e-324));
    d.set("large", Document::of(1.7976931348623157e308));
    d.set("text", Document::of("a \"quoted\" \\ \n \t \x01 \xc3\xa4"));
    d.set("list", Document::list()).items = {Document::of(true), Document{}, Document::table()};
    for (const bool pretty : {true, false}) {
        const std::string text = writeJson(d, pretty);
        const Document back = parsed(text);
        EXPECT_EQ(back.find("whole real")->kind, Document::Kind::Real);
        EXPECT_EQ(back.find("real")->real, 0.1);
        EXPECT_EQ(back.find("small")->real, 5e-324);
        EXPECT_EQ(back.find("text")->text, d.find("text")->text);
        EXPECT_EQ(back.find("integer")->integer, d.find("integer")->integer);
        EXPECT_EQ(writeJson(back, pretty), text);
    }
    EXPECT_EQ(writeJson(Document::of(std::nan(""))), "null");
    EXPECT_EQ(writeJson(Document::of("\xff")), "\"\xef\xbf\xbd\"");
}

TEST(Json, prettyTextHasTwoSpacesALevel) {
    Document d = Document::table();
    d.set("a", Document::list()).items = {Document::of(std::int64_t{1}), Document::of(std::int64_t{2})};
    d.set("b", Document::table());
    EXPECT_EQ(writeJson(d), "{\n  \"a\": [\n    1,\n    2\n  ],\n  \"b\": {}\n}");
    EXPECT_EQ(writeJson(d, false), R"({"a":[1,2],"b":{}})");
}

TEST(Document, setReplacesAndAppends) {
    Document d;
    d.set("a", Document::of(std::int64_t{1}));
    d.set("b", Document::of(std::int64_t{2}));
    d.set("a", Document::of("x"));
    ASSERT_EQ(d.members.size(), 2u);
    EXPECT_EQ(d.members[0].second.text, "x");
}

}  // namespace
}  // namespace shardscope::core
