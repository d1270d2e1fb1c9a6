#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "tests/formats/small_timelines.h"
#include "traces/formats/output.h"

namespace shardscope::formats {
namespace {

namespace fs = std::filesystem;

TEST(Output, EachEndingGivesItsFormat) {
    const fs::path folder = fs::path(testing::TempDir()) / ("shardscope_output_" + std::to_string(::getpid()));
    fs::create_directories(folder);
    const timeline::Timeline timeline = fsdpOfFour();
    const std::vector<NamedTimeline> plans = {{"fsdp", &timeline}};
    Picture picture;
    picture.title = "FSDP";
    picture.panels.resize(1);
    picture.panels[0].timeline = &timeline;
    const std::vector<std::pair<std::string, std::string>> files = {
        {"a.json", "{\n\"schemaVersion\""}, {"b.JSON.gz", "\x1f\x8b"}, {"c.csv", "plan,rank"}, {"d.svg", "<?xml"},
        {"e.png", "\x89PNG\r\n\x1a\n"},     {"f.v2.pdf", "%PDF-"}};
    for (const auto& [name, begin] : files) {
        const auto done = writeOutput(folder / name, plans, picture);
        ASSERT_TRUE(done) << core::describe(done.error());
        std::ifstream in(folder / name, std::ios::binary);
        std::ostringstream text;
        text << in.rdbuf();
        EXPECT_EQ(text.str().substr(0, begin.size()), begin) << name;
    }
    EXPECT_EQ(std::distance(fs::directory_iterator(folder), fs::directory_iterator()),
              static_cast<std::ptrdiff_t>(files.size()));
    fs::remove_all(folder);
}

TEST(Output, OtherEndingsAreRefusedWithTheListOfGoodOnes) {
    for (const char* path : {"trace", "trace.txt", "json", "trace.gz", ""}) {
        const auto format = outputFormatOf(path);
        ASSERT_FALSE(format) << path;
        EXPECT_EQ(format.error().code, core::ErrorCode::Usage);
        EXPECT_NE(format.error().message.find(".json.gz"), std::string::npos);
    }
}

}  // namespace
}  // namespace shardscope::formats
