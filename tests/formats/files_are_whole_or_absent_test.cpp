#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "traces/formats/sink.h"

namespace shardscope::formats {
namespace {

namespace fs = std::filesystem;

class Files : public testing::Test {
protected:
    void SetUp() override {
        m_folder = fs::path(testing::TempDir()) / ("shardscope_sink_" + std::to_string(::getpid()));
        fs::remove_all(m_folder);
        fs::create_directories(m_folder);
    }
    void TearDown() override { fs::remove_all(m_folder); }

    [[nodiscard]] std::string read(const fs::path& path) const {
        std::ifstream in(path, std::ios::binary);
        std::ostringstream text;
        text << in.rdbuf();
        return text.str();
    }
    [[nodiscard]] std::size_t filesInFolder() const {
        return static_cast<std::size_t>(std::distance(fs::directory_iterator(m_folder), fs::directory_iterator()));
    }
    fs::path m_folder;
};

TEST_F(Files, AppearWhenFinished) {
    const fs::path path = m_folder / "trace.json";
    FileSink sink(path);
    sink.write("hello ");
    sink.write("world");
    EXPECT_FALSE(fs::exists(path));
    ASSERT_TRUE(sink.finish());
    EXPECT_EQ(read(path), "hello world");
    EXPECT_EQ(filesInFolder(), 1u);
}

TEST_F(Files, DroppedOnesLeaveNothing) {
    {
        FileSink sink(m_folder / "trace.json");
        sink.write("half");
    }
    EXPECT_EQ(filesInFolder(), 0u);
}

TEST_F(Files, OldContentStaysUntilTheNewIsWhole) {
    const fs::path path = m_folder / "trace.json";
    std::ofstream(path) << "old";
    {
        FileSink sink(path);
        sink.write("half");
    }
    EXPECT_EQ(read(path), "old");
    FileSink sink(path);
    sink.write("new");
    ASSERT_TRUE(sink.finish());
    EXPECT_EQ(read(path), "new");
}

TEST_F(Files, LinksStayLinks) {
    std::ofstream(m_folder / "target") << "old";
    fs::create_symlink(m_folder / "target", m_folder / "link");
    FileSink sink(m_folder / "link");
    sink.write("new");
    ASSERT_TRUE(sink.finish());
    EXPECT_TRUE(fs::is_symlink(m_folder / "link"));
    EXPECT_EQ(read(m_folder / "target"), "new");
}

TEST_F(Files, LinksToWhatIsNotThereYetStayLinks) {
    fs::create_directories(m_folder / "elsewhere");
    fs::create_symlink("elsewhere/target", m_folder / "second");
    fs::create_symlink(m_folder / "second", m_folder / "first");
    FileSink sink(m_folder / "first");
    sink.write("new");
    ASSERT_TRUE(sink.finish());
    EXPECT_TRUE(fs::is_symlink(m_folder / "first") && fs::is_symlink(m_folder / "second"));
    EXPECT_EQ(read(m_folder / "elsewhere" / "target"), "new");
    fs::create_symlink("missing/target", m_folder / "third");
    FileSink nowhere(m_folder / "third");
    const auto done = nowhere.finish();
    ASSERT_FALSE(done);
    EXPECT_NE(done.error().where.find("missing/target"), std::string::npos) << done.error().where;
    fs::create_symlink("circle", m_folder / "circle");
    FileSink circle(m_folder / "circle");
    EXPECT_FALSE(circle.finish());
}

TEST_F(Files, APipeIsWrittenIfSomeoneReadsIt) {
    const std::string path = (m_folder / "pipe.json").string();
    ASSERT_EQ(::mkfifo(path.c_str(), 0600), 0);
    {
        FileSink sink(path);
        sink.write("text");
        const auto done = sink.finish();
        ASSERT_FALSE(done);
        EXPECT_EQ(done.error().code, core::ErrorCode::Io);
        EXPECT_NE(done.error().hint.find("pipe"), std::string::npos) << core::describe(done.error());
    }
    const int reader = ::open(path.c_str(), O_RDONLY | O_NONBLOCK);
    ASSERT_GE(reader, 0);
    FileSink sink(path);
    sink.write("text");
    ASSERT_TRUE(sink.finish());
    char bytes[8] = {};
    EXPECT_EQ(::read(reader, bytes, sizeof bytes), 4);
    EXPECT_STREQ(bytes, "text");
    ::close(reader);
    EXPECT_EQ(filesInFolder(), 1u);
}

TEST_F(Files, LeftoversOfAKilledRunAreInNobodysWay) {
    const fs::path path = m_folder / "trace.json";
    const std::string leftover = path.string() + ".partial-" + std::to_string(::getpid());
    std::ofstream(leftover) << "old";
    FileSink sink(path);
    sink.write("new");
    ASSERT_TRUE(sink.finish());
    EXPECT_EQ(read(path), "new");
    EXPECT_EQ(read(leftover), "old");
}

TEST_F(Files, MissingFolderIsAnErrorWithItsPath) {
    FileSink sink(m_folder / "missing" / "trace.json");
    sink.write("text");
    const auto done = sink.finish();
    ASSERT_FALSE(done);
    EXPECT_EQ(done.error().code, core::ErrorCode::Io);
    EXPECT_NE(done.error().where.find("missing/trace.json"), std::string::npos);
    EXPECT_FALSE(done.error().hint.empty());
}

TEST_F(Files, FolderInPlaceOfAFileIsAnError) {
    FileSink sink(m_folder);
    EXPECT_FALSE(sink.finish());
}

TEST_F(Files, FullDiskIsAnError) {
    if (!fs::exists("/dev/full")) GTEST_SKIP() << "no /dev/full here";
    for (const bool compressed : {false, true}) {
        std::unique_ptr<Sink> sink = std::make_unique<FileSink>("/dev/full");
        if (compressed) sink = std::make_unique<GzipSink>(std::move(sink));
        sink->write(std::string(1 << 20, 'x'));
        const auto done = sink->finish();
        ASSERT_FALSE(done) << "compressed: " << compressed;
        EXPECT_NE(done.error().message.find("No space left"), std::string::npos) << done.error().message;
    }
}

TEST_F(Files, InterruptionRemovesWhatIsUnfinished) {
    FileSink sink(m_folder / "trace.json");
    sink.write("half");
    EXPECT_EQ(filesInFolder(), 1u);
    removePartialFiles();
    EXPECT_EQ(filesInFolder(), 0u);
}

}  // namespace
}  // namespace shardscope::formats
