#include "traces/formats/run_file.h"

#include <gtest/gtest.h>

#include "tests/formats/small_timelines.h"

namespace shardscope::formats {
namespace {

using core::Document;

RunFile someRun(timeline::Timeline timeline) {
    RunFile run;
    run.about = Document::table();
    run.about.set("model", Document::of("vit_tiny"));
    run.scenario = "[model]\nname = \"vit_tiny\"\n";
    run.folder = "/somewhere";
    run.machine = Document::table();
    run.machine.set("processor", Document::of("a processor"));
    run.timeline = std::move(timeline);
    return run;
}

std::string written(const RunFile& run, bool packed = false) {
    const std::string path = ::testing::TempDir() + "run_file_test.json";
    if (!packed) {
        StringSink sink;
        writeRunFile(run, "gloo", sink);
        return sink.text();
    }
    GzipSink sink(std::make_unique<FileSink>(path));
    writeRunFile(run, "gloo", sink);
    EXPECT_TRUE(sink.finish());
    std::string bytes;
    if (std::FILE* file = std::fopen(path.c_str(), "rb")) {
        char buffer[4096];
        while (const std::size_t n = std::fread(buffer, 1, sizeof buffer, file)) bytes.append(buffer, n);
        std::fclose(file);
    }
    std::remove(path.c_str());
    return bytes;
}

void expectEqual(const timeline::Timeline& a, const timeline::Timeline& b) {
    EXPECT_EQ(a.title, b.title);
    EXPECT_EQ(a.end, b.end);
    ASSERT_EQ(a.strings.size(), b.strings.size());
    for (timeline::StringId id = 0; id < a.strings.size(); ++id) EXPECT_EQ(a.strings[id], b.strings[id]);
    ASSERT_EQ(a.ranks.size(), b.ranks.size());
    for (std::size_t i = 0; i < a.ranks.size(); ++i) {
        const timeline::RankRow &x = a.ranks[i], &y = b.ranks[i];
        EXPECT_EQ(std::tie(x.rank, x.multiplicity, x.stage, x.name, x.laneBegin, x.laneEnd, x.stepBegin, x.stepEnd),
                  std::tie(y.rank, y.multiplicity, y.stage, y.name, y.laneBegin, y.laneEnd, y.stepBegin, y.stepEnd));
    }
    ASSERT_EQ(a.lanes.size(), b.lanes.size());
    for (std::size_t i = 0; i < a.lanes.size(); ++i) {
        const timeline::Lane &x = a.lanes[i], &y = b.lanes[i];
        EXPECT_EQ(std::tie(x.rank, x.multiplicity, x.rankName, x.stream, x.computeStream, x.rankIndex),
                  std::tie(y.rank, y.multiplicity, y.rankName, y.stream, y.computeStream, y.rankIndex));
    }
    const timeline::Spans &s = a.spans, &r = b.spans;
    EXPECT_EQ(std::tie(s.lane, s.start, s.end, s.transferStart, s.name, s.unit, s.kind, s.phase, s.activity,
                       s.microBatch, s.op, s.bytes, s.dtype, s.group, s.issued),
              std::tie(r.lane, r.start, r.end, r.transferStart, r.name, r.unit, r.kind, r.phase, r.activity,
                       r.microBatch, r.op, r.bytes, r.dtype, r.group, r.issued));
    ASSERT_EQ(a.groups.size(), b.groups.size());
    for (std::size_t i = 0; i < a.groups.size(); ++i) {
        EXPECT_EQ(a.groups[i].name, b.groups[i].name);
        EXPECT_EQ(a.groups[i].size, b.groups[i].size);
    }
    ASSERT_EQ(a.flows.size(), b.flows.size());
    for (std::size_t i = 0; i < a.flows.size(); ++i)
        EXPECT_EQ(std::tie(a.flows[i].from, a.flows[i].to, a.flows[i].reason),
                  std::tie(b.flows[i].from, b.flows[i].to, b.flows[i].reason));
    ASSERT_EQ(a.counters.size(), b.counters.size());
    for (std::size_t i = 0; i < a.counters.size(); ++i)
        EXPECT_EQ(std::tie(a.counters[i].rankIndex, a.counters[i].name, a.counters[i].time, a.counters[i].value),
                  std::tie(b.counters[i].rankIndex, b.counters[i].name, b.counters[i].time, b.counters[i].value));
}

TEST(RunFile, IsReadBackAsItWasWritten) {
    for (const auto& timeline : {naiveOfFour(), fsdpOfFour()})
        for (const bool packed : {false, true}) {
            const RunFile run = someRun(timeline);
            const auto read = readRunFile(written(run, packed), "run.json");
            ASSERT_TRUE(read) << describe(read.error());
            EXPECT_EQ(core::writeJson(read->about), core::writeJson(run.about));
            EXPECT_EQ(read->scenario, run.scenario);
            EXPECT_EQ(read->folder, run.folder);
            EXPECT_EQ(core::writeJson(read->machine), core::writeJson(run.machine));
            expectEqual(read->timeline, run.timeline);
        }
    const auto empty = readRunFile(written(someRun({})), "run.json");
    ASSERT_TRUE(empty) << describe(empty.error());
    EXPECT_EQ(empty->timeline.spans.size(), 0u);
}

/// The file with one of the timeline's values changed.
std::string changed(const std::string& table, const std::string& key, Document value) {
    auto document = core::parseJson(written(someRun(fsdpOfFour())), "run.json");
    Document& own = document->members.back().second;
    for (auto& [name, member] : own.members)
        if (name == "timeline") {
            if (table.empty()) {
                member.set(key, std::move(value));
                break;
            }
            for (auto& [inner, columns] : member.members)
                if (inner == table) columns.set(key, value);
        }
    return core::writeJson(*document);
}

TEST(RunFile, RefusesWhatItCannotHaveWritten) {
    const auto refusal = [](const std::string& bytes) {
        const auto read = readRunFile(bytes, "run.json", 1 << 20);
        EXPECT_FALSE(read);
        return read ? std::string() : describe(read.error());
    };
    const auto has = [](const std::string& text, const char* part) {
        EXPECT_NE(text.find(part), std::string::npos) << text;
    };
    has(refusal("{}"), "no run that Shardscope wrote");
    has(refusal("[1, 2"), "run.json");
    has(refusal(std::string(2 << 20, ' ')), "at most 1048576");
    has(refusal("{\"shardscope\": {\"schema\": \"shardscope.timeline\", \"version\": 7}}"), "version 7, expected 2");
    has(refusal("{\"schemaVersion\": 1, \"traceEvents\": [{\"ph\": \"X\"}]}"), "another tool");
    has(refusal(changed("spans", "start", Document::of("0 1 x"))), "number 3 of column 'start' is 'x'");
    has(refusal(changed("spans", "start", Document::of("0 1 "))), "column 'start'");
    has(refusal(changed("spans", "start", Document::of("99999999999999999999"))), "column 'start'");
    has(refusal(changed("spans", "lane", Document::of("0 0"))), "the first one 2");
    has(refusal(changed("spans", "kind", Document::of("9"))), "is 9, expected 0 to 4");
    has(refusal(changed("spans", "name", Document::of("-1"))), "is -1");
    has(refusal(changed("spans", "end", Document::list())), "no text");
    has(refusal(changed("flows", "reason", Document::of("200"))), "is 200");
    has(refusal(changed("ranks", "lane_end", Document::of("3 6 9 4000000000"))), "lanes of others");
    has(refusal(changed("spans", "bytes", Document::of("9007199254740993"))), "is 9007199254740993, expected 0 to");
    has(refusal(changed("", "strings", Document::of("x"))), "'strings' is no list");
    has(refusal(changed("", "end", Document::of(std::int64_t{-1}))), "'end' no time");
}

TEST(RunFile, RefusesWhatDoesNotAddUpIn64Bits) {
    constexpr std::int64_t kMost = std::int64_t{1} << 53;
    const auto refusal = [](const timeline::Timeline& timeline) {
        const auto read = readRunFile(written(someRun(timeline)), "run.json");
        return read ? std::string() : describe(read.error());
    };
    const auto has = [](const std::string& text, const char* part) {
        EXPECT_NE(text.find(part), std::string::npos) << text;
    };
    timeline::Timeline many = fsdpOfFour();
    many.ranks.front().stepEnd = many.ranks.front().stepBegin + (std::int64_t{1} << 40);
    EXPECT_EQ(refusal(many), "");
    many.ranks.front().multiplicity = 0xffffffff;
    has(refusal(many), "up to row 1, the steps of all ranks sum up to more than");
    timeline::Timeline wide = fsdpOfFour();
    wide.lanes.front().multiplicity = 0xffffffff;
    wide.spans.bytes.front() = std::int64_t{1} << 40;
    has(refusal(wide), "the bytes of the spans");
    wide.spans.bytes.front() = 0;
    wide.spans.end.front() = wide.spans.start.front() + (std::int64_t{1} << 40);
    has(refusal(wide), "the times of the spans");
    timeline::Timeline full = fsdpOfFour();
    full.counters.assign(129, {0, 0, {0}, {kMost}});
    has(refusal(full), "up to row 129, the largest values of the counters");
    full.counters.pop_back();
    EXPECT_EQ(refusal(full), "");
    timeline::Timeline early = fsdpOfFour();
    early.spans.issued.front() = timeline::kNotIssued + 1;
    has(refusal(early), "number 1 of column 'issued'");
    early.spans.issued.front() = timeline::kNotIssued;
    EXPECT_EQ(refusal(early), "");
}

TEST(RunFile, IsKnownByItsBeginning) {
    EXPECT_TRUE(looksLikeTrace(written(someRun(fsdpOfFour())).substr(0, 500)));
    EXPECT_TRUE(looksLikeTrace(written(someRun(fsdpOfFour()), true).substr(0, 4)));
    EXPECT_TRUE(looksLikeTrace("[{\"ph\": \"X\"}]"));
    for (const char* other : {"", "   ", "{\"model_type\": \"llama\"}", "[1, 2]", "[model]\nname = \"vit_tiny\""})
        EXPECT_FALSE(looksLikeTrace(other)) << other;
}

TEST(RunFile, RefusesSpansThatRunBackwardsOrOutOfOrder) {
    timeline::Timeline backwards = fsdpOfFour();
    std::swap(backwards.spans.start[1], backwards.spans.end[1]);
    const auto first = readRunFile(written(someRun(backwards)), "run.json");
    ASSERT_FALSE(first);
    EXPECT_NE(describe(first.error()).find("span 2 ends before it begins"), std::string::npos);
    timeline::Timeline shuffled = fsdpOfFour();
    std::swap(shuffled.spans.lane.front(), shuffled.spans.lane.back());
    const auto second = readRunFile(written(someRun(shuffled)), "run.json");
    ASSERT_FALSE(second);
    EXPECT_NE(describe(second.error()).find("earlier lane or time"), std::string::npos);
    timeline::Timeline foreign = fsdpOfFour();
    foreign.spans.group.front() = 77;
    EXPECT_FALSE(readRunFile(written(someRun(foreign)), "run.json"));
}

}  // namespace
}  // namespace shardscope::formats
