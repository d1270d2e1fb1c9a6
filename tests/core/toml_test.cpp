#include <gtest/gtest.h>

#include "core/base/document.h"

namespace shardscope::core {
namespace {

TEST(Toml, KeepsFileOrderAndLines) {
    const auto parsed =
        parseToml("title = \"x\"\n[zeta]\nk = 1.5\n\nlist = [1,\n 2]\n[alpha]\nt = { z = 1, a = true }\n", "f.toml");
    ASSERT_TRUE(parsed) << describe(parsed.error());
    ASSERT_EQ(parsed->members.size(), 3u);
    EXPECT_EQ(parsed->members[0].first, "title");
    EXPECT_EQ(parsed->members[1].first, "zeta");
    EXPECT_EQ(parsed->members[2].first, "alpha");
    const Document& zeta = parsed->members[1].second;
    EXPECT_EQ(zeta.line, 2);
    ASSERT_EQ(zeta.members.size(), 2u);
    EXPECT_EQ(zeta.members[0].second.kind, Document::Kind::Real);
    EXPECT_EQ(zeta.members[0].second.real, 1.5);
    EXPECT_EQ(zeta.members[0].second.line, 3);
    const Document& list = zeta.members[1].second;
    ASSERT_EQ(list.items.size(), 2u);
    EXPECT_EQ(list.items[1].integer, 2);
    EXPECT_EQ(list.items[1].line, 6);
    const Document& inlineTable = parsed->members[2].second.members.at(0).second;
    ASSERT_EQ(inlineTable.members.size(), 2u);
    EXPECT_EQ(inlineTable.members[0].first, "z");
    EXPECT_EQ(inlineTable.members[1].second.kind, Document::Kind::Boolean);
}

TEST(Toml, ErrorsNameFileAndPlace) {
    const auto parsed = parseToml("a = 1\nb = = 2\n", "f.toml");
    ASSERT_FALSE(parsed);
    EXPECT_EQ(parsed.error().code, ErrorCode::Input);
    EXPECT_EQ(parsed.error().where.substr(0, 9), "f.toml:2:");
}

TEST(Toml, RefusesWhatWouldOverflowTheStack) {
    std::string key = "a";
    for (int i = 0; i < 100'000; ++i) key += ".a";
    const auto dotted = parseToml("x = 1\n" + key + " = 1", "f.toml");
    ASSERT_FALSE(dotted);
    EXPECT_EQ(dotted.error().where, "f.toml:2");
    EXPECT_FALSE(parseToml("a = " + std::string(100'000, '['), "f.toml"));
    EXPECT_FALSE(parseToml("a = " + std::string(100'000, '[') + std::string(100'000, ']'), "f.toml"));
}

TEST(Toml, DotsInStringsAndCommentsAreNoKeyParts) {
    const std::string dots(500, '.');
    const auto parsed =
        parseToml("# " + dots + "\na = \"" + dots + "\"\nb = '''\n" + dots + "'''\nc = 'x\\' # " + dots, "f.toml");
    ASSERT_TRUE(parsed) << describe(parsed.error());
    EXPECT_EQ(parsed->find("a")->text, dots);
    EXPECT_EQ(parsed->find("b")->text, dots);
}

TEST(Toml, RefusesWrongBytes) {
    EXPECT_FALSE(parseToml("a = \"\xff\"", "f.toml"));
    EXPECT_FALSE(parseToml(std::string_view("a = 1\0", 6), "f.toml"));
    EXPECT_FALSE(parseToml("a = 99999999999999999999999", "f.toml"));
    EXPECT_FALSE(parseToml("a = 1\na = 2", "f.toml"));
    EXPECT_TRUE(parseToml("", "f.toml"));
}

// Both aborted or ran into undefined behaviour inside toml++ 3.3 (found by the cluster fuzzer).
TEST(Toml, OddCharactersOutsideStringsAreRefused) {
    EXPECT_FALSE(parseToml("[\vname]", "f.toml"));
    const auto letter = parseToml("a = 1\nb = \xCF\x9F\n", "f.toml");
    ASSERT_FALSE(letter);
    EXPECT_EQ(letter.error().where.substr(0, 8), "f.toml:2");
    EXPECT_TRUE(
        parseToml("\xEF\xBB\xBF# \xC3\xA9\na = \"\xC3\xA9\"\nb = '''\xC3\xA9'''\n\"\xC3\xA9\" = 1\n", "f.toml"));
}

}  // namespace
}  // namespace shardscope::core
