// A checker of recordings fails when something differs, when nothing was held, and when more is left out than may be.

#include "tests/checkers/support/outcome.h"

#include <gtest/gtest.h>

namespace shardscope::checkers {
namespace {

TEST(CheckerOutcome, FailsWhereMoreIsLeftOutThanMayBe) {
    const char* const words[] = {"check", "a.json", "--left-out-at-most", "10", "b.json"};
    const auto arguments = argumentsOf(5, words, "check");
    ASSERT_TRUE(arguments.has_value());
    EXPECT_EQ(arguments->files, (std::vector<std::string>{"a.json", "b.json"}));
    EXPECT_EQ(exitCode({105, 0, 10}, *arguments), 0);
    EXPECT_EQ(exitCode({104, 0, 11}, *arguments), 1);
    EXPECT_EQ(exitCode({104, 1, 10}, *arguments), 1);
    EXPECT_EQ(exitCode({0, 0, 10}, *arguments), 1);
}

TEST(CheckerOutcome, HasNoLimitUnlessItIsGiven) {
    const char* const words[] = {"check", "a.json"};
    const auto arguments = argumentsOf(2, words, "check");
    ASSERT_TRUE(arguments.has_value());
    EXPECT_EQ(exitCode({1, 0, 114}, *arguments), 0);
}

TEST(CheckerOutcome, RefusesWordsThatAreNoLimitAndNoFile) {
    const char* const none[] = {"check"};
    EXPECT_FALSE(argumentsOf(1, none, "check"));
    const char* const missing[] = {"check", "a.json", "--left-out-at-most"};
    EXPECT_FALSE(argumentsOf(3, missing, "check"));
    const char* const wrong[] = {"check", "a.json", "--left-out-at-most", "-1"};
    EXPECT_FALSE(argumentsOf(4, wrong, "check"));
    const char* const unknown[] = {"check", "a.json", "--larger"};
    EXPECT_FALSE(argumentsOf(3, unknown, "check"));
}

}  // namespace
}  // namespace shardscope::checkers
