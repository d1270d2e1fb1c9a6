#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"  // GCC 12's false alarm inside std::regex under sanitizers
#endif

#include <gtest/gtest.h>
#include <zlib.h>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <regex>
#include <set>
#include <sstream>

#include "tests/formats/small_timelines.h"
#include "traces/formats/kineto_writer.h"

namespace shardscope::formats {
namespace {

using nlohmann::json;
using timeline::Activity;

std::string textOf(const timeline::Timeline& timeline, const KinetoOptions& options = {}) {
    StringSink sink;
    writeKineto(timeline, options, sink);
    EXPECT_TRUE(sink.finish());
    return sink.text();
}

json eventsOfText(const std::string& text) {
    return json::parse(text).at("traceEvents");
}
json eventsOf(const timeline::Timeline& timeline) {
    return eventsOfText(textOf(timeline));
}

/// Microseconds with three decimals back to nanoseconds, from the text and not through a double.
std::int64_t nanoseconds(const std::string& text) {
    const std::size_t point = text.find('.');
    EXPECT_EQ(text.size() - point, 4u) << text;
    return std::stoll(text.substr(0, point) + text.substr(point + 1));
}

TEST(Kineto, IsJsonWithTheFieldsThatReadersAskFor) {
    const json trace = json::parse(textOf(fsdpOfFour()));
    EXPECT_EQ(trace.at("schemaVersion"), 1);
    EXPECT_EQ(trace.at("distributedInfo").at("rank"), 0);
    EXPECT_EQ(trace.at("distributedInfo").at("world_size"), 4);
    EXPECT_EQ(trace.at("distributedInfo").at("pg_config").at(0).at("pg_desc"), "dp_shard");
    EXPECT_EQ(trace.at("simulated"), true);
    ASSERT_FALSE(trace.at("traceEvents").empty());
    for (const json& event : trace.at("traceEvents")) {
        ASSERT_TRUE(event.at("ph").is_string());
        ASSERT_TRUE(event.at("pid").is_number_integer());
        ASSERT_TRUE(event.at("ts").is_number());
        if (event.at("ph") == "X") {
            ASSERT_GE(event.at("dur").get<double>(), 0);
            ASSERT_TRUE(event.at("cat").is_string());
        }
    }
}

TEST(Kineto, FindsTheRankAsHtaDoes) {
    // HTA takes the first match of this expression in the file's text for the rank (trace formats B.1).
    KinetoOptions options;
    options.onlyRank = 2;
    const std::string text = textOf(fsdpOfFour(), options);
    std::smatch match;
    ASSERT_TRUE(std::regex_search(text, match, std::regex(R"re("rank":\s+(\d+))re")));
    EXPECT_EQ(match[1], "2");
    for (const json& event : eventsOfText(text)) ASSERT_EQ(event.at("pid"), 2);
}

TEST(Kineto, KernelNamesFallIntoHtasTypes) {
    // Trace formats B.2, in its order.
    const std::regex communication("(^nccl.*)|(^hip)|(^hccl)|(.*ncclKernel.*)");
    const std::regex memory("(^(hip)?Memcpy)|(^(hip)?Memset)|(^dma)");
    std::int64_t gathers = 0, copies = 0, compute = 0;
    for (const json& event : eventsOf(fsdpOfFour())) {
        if (event.at("ph") != "X" || !event.at("args").contains("stream")) continue;
        const std::string name = event.at("name"), activity = event.at("args").at("activity");
        const bool isCommunication = std::regex_search(name, communication, std::regex_constants::match_continuous);
        const bool isMemory = std::regex_search(name, memory, std::regex_constants::match_continuous);
        EXPECT_EQ(isCommunication, activity == "all-gather" || activity == "reduce-scatter") << name;
        EXPECT_EQ(isMemory, activity == "gather copy-in") << name;
        gathers += isCommunication;
        copies += isMemory;
        compute += !isCommunication && !isMemory;
    }
    EXPECT_EQ(gathers, 4 * 8);
    EXPECT_EQ(copies, 4);
    EXPECT_EQ(compute, 4 * 13);
}

TEST(Kineto, CollectivesCarryNcclsArguments) {
    bool isFound = false;
    for (const json& event : eventsOf(fsdpOfFour())) {
        if (event.at("ph") != "X" || event.at("args").value("activity", "") != "reduce-scatter") continue;
        isFound = true;
        const json& args = event.at("args");
        EXPECT_EQ(event.at("name").get<std::string>().rfind("ncclDevKernel_ReduceScatter_Sum_bf16(blocks.", 0), 0u);
        EXPECT_EQ(args.at("Collective name"), "_reduce_scatter_base");
        EXPECT_EQ(args.at("In msg nelems"), 32'000'000);  // 64 MB of 2-byte elements over 4 ranks
        EXPECT_EQ(args.at("Out msg nelems"), 8'000'000);
        EXPECT_EQ(args.at("Group size"), 4);
        EXPECT_EQ(args.at("dtype"), "BFloat16");
    }
    EXPECT_TRUE(isFound);
}

TEST(Kineto, TimesAreTheNanosecondsExactly) {
    timeline::HandMade t;
    t.rank("compute", 0);
    const std::vector<std::pair<std::int64_t, std::int64_t>> times = {
        {0, 1}, {999, 1000}, {1001, 1999}, {123'456'789'012'345'678, 123'456'789'012'345'901}};
    for (const auto& [start, end] : times) t.span("compute", Activity::Kernels, start, end);
    const std::string text = textOf(t.finish());
    const std::regex event(R"re("cat":"kernel".*"ts":([0-9.]+),"dur":([0-9.]+))re");
    std::size_t i = 0;
    for (std::sregex_iterator it(text.begin(), text.end(), event), end; it != end; ++it, ++i) {
        ASSERT_LT(i, times.size());
        EXPECT_EQ(nanoseconds((*it)[1]), times[i].first);
        EXPECT_EQ(nanoseconds((*it)[2]), times[i].second - times[i].first);
    }
    EXPECT_EQ(i, times.size());
}

TEST(Kineto, OverlappingSpansGetThreadsOfTheirOwn) {
    timeline::HandMade t;
    t.rank("compute", 0);
    t.span("compute", Activity::Kernels, 0, 10, "a");
    t.span("compute", Activity::Kernels, 2, 5, "nests");
    t.span("compute", Activity::Kernels, 8, 15, "overlaps");
    t.span("compute", Activity::Kernels, 15, 20, "follows");
    std::map<std::string, std::int64_t> thread;
    std::set<std::int64_t> namedThreads;
    for (const json& event : eventsOf(t.finish())) {
        if (event.at("ph") == "X" && event.at("cat") == "kernel") thread[event.at("args").at("unit")] = event.at("tid");
        if (event.at("name") == "thread_name") namedThreads.insert(event.at("tid").get<std::int64_t>());
    }
    EXPECT_EQ(thread.at("a"), thread.at("nests"));
    EXPECT_NE(thread.at("a"), thread.at("overlaps"));
    EXPECT_EQ(thread.at("a"), thread.at("follows"));
    for (const auto& [unit, tid] : thread) EXPECT_TRUE(namedThreads.contains(tid)) << unit;
}

TEST(Kineto, FlowsBeginInsideTheirSpanAndEndAtTheWaitingOne) {
    timeline::HandMade t;
    t.rank("compute comm", 0);
    const auto gather = t.span("comm", Activity::AllGather, 0, 1000, "a");
    const auto forward = t.span("compute", Activity::Kernels, 1500, 2500, "a");
    t.flow(gather, forward, timeline::FlowReason::EventWait);
    json start, finish;
    for (const json& event : eventsOf(t.finish())) {
        if (event.at("ph") == "s") start = event;
        if (event.at("ph") == "f") finish = event;
    }
    EXPECT_EQ(start.at("name"), "event wait");
    EXPECT_EQ(start.at("id"), finish.at("id"));
    EXPECT_DOUBLE_EQ(start.at("ts").get<double>(), 0.999);
    EXPECT_DOUBLE_EQ(finish.at("ts").get<double>(), 1.5);
    EXPECT_EQ(finish.at("bp"), "e");
    EXPECT_NE(start.at("tid"), finish.at("tid"));
}

TEST(Kineto, LaunchesAreTiedToTheirKernels) {
    timeline::HandMade t;
    t.rank("compute", 0);
    t.span("compute", Activity::Kernels, 1500, 2500, "a", timeline::kNotIssued, core::Phase::Forward, 700);
    json launch, kernel;
    for (const json& event : eventsOf(t.finish())) {
        if (event.at("ph") != "X" || event.at("cat") == "user_annotation") continue;
        (event.at("cat") == "cuda_runtime" ? launch : kernel) = event;
    }
    EXPECT_EQ(launch.at("name"), "cudaLaunchKernel");
    EXPECT_DOUBLE_EQ(launch.at("ts").get<double>(), 0.7);
    EXPECT_EQ(launch.at("args").at("correlation"), kernel.at("args").at("correlation"));
    EXPECT_FALSE(launch.at("args").contains("stream"));
}

TEST(Kineto, NamesOfAnyBytesStayJson) {
    timeline::HandMade t;
    t.rank("compute", 0);
    t.made.title = "quote \" backslash \\ line\nbreak";
    const std::string bytes = "\"\\\x01\x1f\x7f\xff\xc0\xaf\xed\xa0\x80 \xea\xb0\x80 \xf0\x9f\x98\x80";
    t.span("compute", Activity::Kernels, 0, 10, bytes);
    const json trace = json::parse(textOf(t.finish()));
    EXPECT_EQ(trace.at("traceName"), "quote \" backslash \\ line\nbreak");
    for (const json& event : trace.at("traceEvents")) {
        if (event.at("ph") != "X" || event.at("cat") != "kernel") continue;
        const std::string unit = event.at("args").at("unit");
        EXPECT_NE(unit.find("\xea\xb0\x80 \xf0\x9f\x98\x80"), std::string::npos);  // good characters stay
        EXPECT_NE(unit.find("\xEF\xBF\xBD"), std::string::npos);
    }
}

TEST(Kineto, PlansOfOneFileKeepTheirProcessesAndIdsApart) {
    const timeline::Timeline naive = naiveOfFour(), fsdp = fsdpOfFour();
    const std::vector<NamedTimeline> plans = {{"naive", &naive}, {"fsdp", &fsdp}};
    StringSink sink;
    writeKineto(plans, {}, sink);
    std::map<std::int64_t, std::string> processes;
    std::map<std::pair<std::string, std::int64_t>, std::set<std::int64_t>> pidsOfId;
    std::map<std::int64_t, std::int64_t> spans;
    for (const json& event : eventsOfText(sink.text())) {
        const std::int64_t pid = event.at("pid");
        if (event.at("name") == "process_name") processes[pid] = event.at("args").at("name");
        if (event.at("ph") == "s" || event.at("ph") == "f")
            pidsOfId[{event.at("cat"), event.at("id")}].insert(pid / 10);
        if (event.at("ph") == "X" && event.at("args").contains("activity")) ++spans[pid / 10];
    }
    EXPECT_EQ(processes.size(), 8u);
    EXPECT_EQ(processes.at(3), "naive: rank 3");
    EXPECT_EQ(processes.at(12), "fsdp: rank 2");
    EXPECT_EQ(spans.at(0), static_cast<std::int64_t>(naive.spans.size()));
    EXPECT_EQ(spans.at(1), static_cast<std::int64_t>(fsdp.spans.size()));
    for (const auto& [id, pids] : pidsOfId) EXPECT_EQ(pids.size(), 1u) << id.first << " " << id.second;
}

TEST(Kineto, StepIsAnAnnotationOfTheHost) {
    std::int64_t steps = 0;
    for (const json& event : eventsOf(fsdpOfFour())) {
        if (event.at("name") != "ProfilerStep#0") continue;
        ++steps;
        EXPECT_EQ(event.at("cat"), "user_annotation");
        EXPECT_DOUBLE_EQ(event.at("dur").get<double>(), 42'000);
        EXPECT_FALSE(event.at("args").contains("stream"));
    }
    EXPECT_EQ(steps, 4);
}

TEST(Kineto, SameTimelineGivesTheSameBytes) {
    EXPECT_EQ(textOf(fsdpOfFour()), textOf(fsdpOfFour()));
}

TEST(Kineto, CompressedFileHoldsTheSameText) {
    const std::string path = testing::TempDir() + "/shardscope_kineto.json.gz";
    const timeline::Timeline timeline = naiveOfFour();
    GzipSink sink(std::make_unique<FileSink>(path));
    writeKineto(timeline, {}, sink);
    ASSERT_TRUE(sink.finish());
    gzFile file = gzopen(path.c_str(), "rb");
    ASSERT_NE(file, nullptr);
    std::string text(1 << 20, '\0');
    const int length = gzread(file, text.data(), static_cast<unsigned>(text.size()));
    EXPECT_EQ(gzclose(file), Z_OK);
    ASSERT_GT(length, 0);
    text.resize(static_cast<std::size_t>(length));
    EXPECT_EQ(text, textOf(timeline));
    EXPECT_LT(std::filesystem::file_size(path), text.size() / 4);
    std::filesystem::remove(path);
}

}  // namespace
}  // namespace shardscope::formats
