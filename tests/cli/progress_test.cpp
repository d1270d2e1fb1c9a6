// What a run tells while it goes on, and the steps that it writes to a file.

#include "cli/face/progress.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "core/base/document.h"

namespace shardscope::cli {
namespace {

constexpr std::int64_t kSecond = 1'000'000'000;

Progress::Options options(std::int64_t steps) {
    Progress::Options made;
    made.steps = steps;
    made.ranks = 2;
    made.globalBatch = 64;
    made.sampleWord = "image";
    made.header = "header\n";
    return made;
}

/// Steps of one second each, of which rank 1 waits a half; rank 0 computes no loss where `lossOfRank0` is false.
std::string toldOf(const Progress::Options& asked, bool lossOfRank0 = true) {
    std::string text;
    auto progress = Progress::create(asked, [&text](std::string_view part) -> core::Result<void> {
        text += part;
        return {};
    });
    EXPECT_TRUE(progress);
    for (std::int64_t step = 0; step < asked.steps; ++step) {
        const std::int64_t begin = step * kSecond;
        const auto loss = [&](double value) { return std::optional<double>(value / static_cast<double>(step + 1)); };
        // A rank's clock of its own changes nothing.
        (*progress)->add(
            {1, step, loss(3), begin + 77 * kSecond, begin + 78 * kSecond, kSecond / 5, kSecond / 2, 2048});
        (*progress)->add({0, step, lossOfRank0 ? loss(1) : std::nullopt, begin, begin + kSecond, 0, 0, 1024});
    }
    EXPECT_TRUE((*progress)->finish());
    return text;
}

TEST(Progress, TellsEveryStepOfAFewAsTheyAreDone) {
    const std::string text = toldOf(options(3));
    EXPECT_TRUE(
        text.starts_with("header\nstep    1/3  loss 2.000000  1.00 s  64 images/s  exposed 10.0 %  waiting 25.0 %"))
        << text;
    EXPECT_NE(text.find("memory 2.00 KiB  ETA 0:02\nstep    2/3  loss 1.000000"), std::string::npos) << text;
    EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 4);
    EXPECT_NE(toldOf(options(1), false).find("loss 3.000000"), std::string::npos) << "the last stage's alone";
}

TEST(Progress, OfManyStepsTellsTheFirstTheLastAndOneEveryFewSeconds) {
    const std::string text = toldOf(options(24));
    for (const char* step : {"step    1/24", "step    6/24", "step   11/24", "step   21/24", "step   24/24"})
        EXPECT_NE(text.find(step), std::string::npos) << step << "\n" << text;
    EXPECT_EQ(text.find("step    2/24"), std::string::npos) << text;
    EXPECT_EQ(text.find('\r'), std::string::npos) << "no terminal";
}

TEST(Progress, WritesItsLineOverOnATerminal) {
    Progress::Options asked = options(24);
    asked.terminal = true;
    const std::string text = toldOf(asked);
    EXPECT_EQ(std::count(text.begin(), text.end(), '\r'), 24);
    EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 2) << "the header's and the last line's";
    EXPECT_TRUE(text.ends_with("\n"));
}

TEST(Progress, PrintsItsHeaderBeforeAnyStep) {
    std::string text;
    const auto progress = Progress::create(options(3), [&text](std::string_view part) -> core::Result<void> {
        text += part;
        return {};
    });
    ASSERT_TRUE(progress);
    EXPECT_EQ(text, "header\n");
}

TEST(Progress, FitsTheTerminalItsLineIsWrittenOverOn) {
    for (const int width : {50, 60, 80}) {
        Progress::Options asked = options(2000);
        asked.terminal = true;
        asked.width = width;
        asked.header.clear();
        const std::string text = toldOf(asked);
        for (std::size_t at = text.find('\r'); at != std::string::npos; at = text.find('\r', at + 1))
            ASSERT_LT(text.find("\x1b[K", at) - at - 1, static_cast<std::size_t>(width)) << text.substr(at, 120);
        EXPECT_NE(text.find("ETA"), std::string::npos) << width;
    }
}

TEST(Progress, TellsTheRateOfTheStepItself) {
    std::string text;
    auto progress = Progress::create(options(2), [&text](std::string_view part) -> core::Result<void> {
        text += part;
        return {};
    });
    ASSERT_TRUE(progress);
    for (const std::int64_t rank : {0, 1}) (*progress)->add({rank, 0, 1.0, 0, 4 * kSecond, 0, 0, 1});
    for (const std::int64_t rank : {0, 1}) (*progress)->add({rank, 1, 1.0, 4 * kSecond, 5 * kSecond, 0, 0, 1});
    EXPECT_NE(text.find("16 images/s"), std::string::npos) << text;
    EXPECT_NE(text.find("64 images/s"), std::string::npos) << text;
}

TEST(Progress, SaysOnceThatItsLogFailsAndGoesOn) {
    if (!std::filesystem::exists("/dev/full")) GTEST_SKIP() << "no full device";
    Progress::Options asked = options(3);
    asked.log = "/dev/full";
    std::string text;
    std::vector<core::Error> errors;
    auto progress = Progress::create(
        asked,
        [&text](std::string_view part) -> core::Result<void> {
            text += part;
            return {};
        },
        [&errors](const core::Error& error) { errors.push_back(error); });
    ASSERT_TRUE(progress);
    for (const std::int64_t step : {0, 1, 2})
        for (const std::int64_t rank : {0, 1}) (*progress)->add({rank, step, 1.0, step, step + kSecond, 0, 0, 1});
    EXPECT_TRUE((*progress)->finish());
    EXPECT_FALSE((*progress)->logged());
    ASSERT_EQ(errors.size(), 1u);
    EXPECT_EQ(errors[0].hint.find("folder"), std::string::npos) << errors[0].hint;
    EXPECT_NE(text.find("step    3/3"), std::string::npos);
}

TEST(Progress, LogsEachStepAsAJsonObject) {
    const std::string path = std::filesystem::temp_directory_path() / "shardscope_progress_test.jsonl";
    Progress::Options asked = options(30);
    asked.quiet = true;
    asked.log = path;
    EXPECT_EQ(toldOf(asked), "");
    std::ifstream file(path);
    std::int64_t lines = 0;
    for (std::string line; std::getline(file, line); ++lines) {
        const auto object = core::parseJson(line, path);
        ASSERT_TRUE(object) << line;
        EXPECT_EQ(object->find("step")->integer, lines + 1);
        EXPECT_EQ(object->find("step_ns")->integer, kSecond);
        EXPECT_DOUBLE_EQ(object->find("loss")->number(), 2.0 / static_cast<double>(lines + 1));
        EXPECT_EQ(object->find("exposed_ns")->integer, kSecond / 5);
        EXPECT_EQ(object->find("waiting_ns")->integer, kSecond / 2);
        EXPECT_EQ(object->find("peak_bytes")->integer, 2048);
    }
    EXPECT_EQ(lines, 30);
    std::filesystem::remove(path);
    asked.log = "/nowhere/at/all.jsonl";
    const auto refused = Progress::create(asked, {});
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().where, "--log-json /nowhere/at/all.jsonl");
}

}  // namespace
}  // namespace shardscope::cli
