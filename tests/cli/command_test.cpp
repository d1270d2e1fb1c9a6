#include "cli/command/command.h"

#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <set>

namespace shardscope::cli {
namespace {

TEST(Commands, EveryOptionIsInTheTable) {
    std::set<std::string_view> known;
    for (const Option& option : optionTable()) EXPECT_TRUE(known.insert(option.names).second) << option.names;
    for (const Command& command : commandTable()) {
        for (const std::string_view names : command.options) EXPECT_TRUE(known.count(names)) << names;
        EXPECT_EQ(command.example.substr(0, command.name.size()), command.name);
        EXPECT_NE(command.run, nullptr);
    }
}

TEST(Commands, CompletionKnowsEveryCommandAndOption) {
    for (const char* shell : {"bash", "zsh", "fish"}) {
        const auto script = completionScript(shell);
        ASSERT_TRUE(script);
        for (const Command& command : commandTable())
            EXPECT_NE(script->find(command.name), std::string::npos) << shell << " " << command.name;
        EXPECT_NE(script->find("parallelism.data_parallel_shard_degree"), std::string::npos) << shell;
        EXPECT_NE(script->find("strategy"), std::string::npos) << shell;
    }
    EXPECT_EQ(completionScript("tcsh").error().code, core::ErrorCode::Usage);
}

TEST(Commands, ExitCodesFollowTheDocumentedRule) {
    EXPECT_EQ(exitCodeOf(core::ErrorCode::Usage), 2);
    EXPECT_EQ(exitCodeOf(core::ErrorCode::Input), 3);
    EXPECT_EQ(exitCodeOf(core::ErrorCode::Io), 4);
    EXPECT_EQ(exitCodeOf(core::ErrorCode::Unsupported), 5);
    EXPECT_EQ(exitCodeOf(core::ErrorCode::Cancelled), 130);
}

TEST(Commands, TheReferencePageIsWhatTheTableSays) {
    std::ifstream file(SHARDSCOPE_SOURCE_DIR "/docs/cli.md", std::ios::binary);
    const std::string page((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
    EXPECT_EQ(page, cliReference()) << "renew it with: shardscope docs cli > docs/cli.md";
}

}  // namespace
}  // namespace shardscope::cli
