#include "cli/command/command.h"

#include <gtest/gtest.h>

#include <fmt/format.h>

#include <fstream>
#include <iterator>
#include <set>

#include "cli/face/load.h"
#include "cli/face/report.h"

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

// A split by time needs prices: the graph that is printed must be the one that is simulated.
TEST(Commands, GraphPrintsTheGraphThatSimulateRuns) {
    Arguments arguments;
    arguments.input = SHARDSCOPE_SOURCE_DIR "/examples/lecture.toml";
    arguments.strategies = "naive";
    std::set<std::string> hashes;
    for (const char* split : {"layers", "time"})
        for (const char* gpu : {"a100-sxm-80gb", "t4"}) {
            arguments.set = {fmt::format("parallelism.pipeline_parallel_split={}", split),
                             fmt::format("cluster.gpu={}", gpu),
                             "model.image_size=320",
                             "model.layers=3",
                             "parallelism.data_parallel_shard_degree=3",
                             "training.global_batch_size=64"};
            const auto loaded = load(arguments.input, arguments.set);
            ASSERT_TRUE(loaded) << core::describe(loaded.error());
            const std::vector<std::string> naive{"naive"};
            const auto resolved = core::resolve(loaded->scenario, loaded->inputs, naive);
            ASSERT_TRUE(resolved) << core::describe(resolved.error());
            const auto report = evaluate(*resolved, loaded->source);
            ASSERT_TRUE(report) << core::describe(report.error());
            const std::string hash = fmt::format("{:016x}", report->plans.front().graph->hash);
            testing::internal::CaptureStdout();
            const auto printed = runGraph(arguments, {});
            const std::string text = testing::internal::GetCapturedStdout();
            ASSERT_TRUE(printed) << core::describe(printed.error());
            EXPECT_NE(text.find("hash " + hash), std::string::npos) << split << " on " << gpu << "\n" << text;
            hashes.insert(hash);
        }
    EXPECT_GE(hashes.size(), 2u) << "a split by time differs from one by layers here";
}

// What would run for hours, or fails in every rank, is refused before a rank starts.
TEST(Commands, RunRefusesWhatItCannotTrainBeforeItStarts) {
    const auto refusal = [](const std::string& input, std::vector<std::string> set, std::int64_t steps = 5) {
        Arguments arguments;
        arguments.input = input;
        arguments.set = std::move(set);
        arguments.steps = steps;
        arguments.ranksAs = "threads";  // processes would be this test program
        testing::internal::CaptureStdout();
        const auto ran = runTraining(arguments, {});
        testing::internal::GetCapturedStdout();
        return ran ? core::Error{core::ErrorCode::Input, "ran", "", ""} : ran.error();
    };
    const std::pair<core::Error, const char*> cases[] = {
        {refusal(SHARDSCOPE_SOURCE_DIR "/examples/lecture.toml", {}, 1000), "expected at most 60 minutes"},
        {refusal("vit_tiny", {"training.local_batch_size=100000000"}), "expected at most 60 minutes"},
        {refusal("vit_tiny", {}, 100'000'000), "100000000 steps of "},
        {refusal("vit_tiny", {"parallelism.fsdp_wrap_root=false"}), "keeps every parameter in a unit"},
        {refusal(SHARDSCOPE_SOURCE_DIR "/examples/models/toy_mlp.toml", {}), "this model takes no images"},
    };
    for (const auto& [error, words] : cases) {
        EXPECT_EQ(error.code, core::ErrorCode::Unsupported) << core::describe(error);
        EXPECT_NE(error.message.find(words), std::string::npos) << core::describe(error);
        EXPECT_EQ(error.where.find("rank "), std::string::npos) << core::describe(error);
        EXPECT_FALSE(error.hint.empty()) << core::describe(error);
    }
    EXPECT_EQ(refusal("vit_tiny", {}, 1).message, "ran");
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
    EXPECT_EQ(exitCodeOf(core::ErrorCode::Internal), 1);
}

TEST(Commands, AFaultOfTheProgramAsksForAReportAndWrongInputDoesNot) {
    const std::string fault = complaintOf({core::ErrorCode::Internal, "an op has no group", "step graph", ""});
    for (const char* words :
         {"a fault of this program", "step graph: an op has no group", "please report it", "shardscope doctor"})
        EXPECT_NE(fault.find(words), std::string::npos) << words << " in " << fault;
    EXPECT_EQ(complaintOf({core::ErrorCode::Input, "found 0", "a.toml:1", "choose 1"}),
              "shardscope: a.toml:1: found 0\n  choose 1\n");
}

TEST(Commands, TheReferencePageIsWhatTheTableSays) {
    std::ifstream file(SHARDSCOPE_SOURCE_DIR "/docs/cli.md", std::ios::binary);
    const std::string page((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
    EXPECT_EQ(page, cliReference()) << "renew it with: shardscope docs cli > docs/cli.md";
}

}  // namespace
}  // namespace shardscope::cli
