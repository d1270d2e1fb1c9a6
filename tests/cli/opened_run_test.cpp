#include "cli/face/opened_run.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdio>

#include "cli/face/run_machine.h"
#include "core/graph/build.h"
#include "core/scenario/resolve.h"
#include "traces/formats/sink.h"

namespace shardscope::cli {
namespace {

using core::Document;

const RunMachine kMachine{"a processor", "cpu", "gloo", 2, 2, 0, 0};

struct SmallRun {
    formats::RunFile file;
    core::StepGraph graph;
};

/// FSDP over two ranks whose ops take a microsecond each, one after another on one stream.
SmallRun smallRun() {
    const std::string overrides[] = {"cluster.nodes=2", "cluster.gpus_per_node=1", "training.local_batch_size=2"};
    const Loaded loaded = *load("vit_tiny", overrides);
    const std::vector<std::string> strategies{loaded.scenario.parallelism.strategy};
    const core::Resolved resolved = *core::resolve(loaded.scenario, loaded.inputs, strategies);
    const core::Model model = *core::buildModel(resolved.model, resolved.cases.front().workload);
    SmallRun run;
    run.graph = *core::buildStepGraph(model, resolved.cases.front().plan);
    timeline::Timeline& t = run.file.timeline;
    const timeline::StringId compute = t.strings.intern("compute"), op = t.strings.intern("op");
    const core::RankClass& ops = run.graph.classes.front();
    constexpr std::int64_t kOp = 1000;
    for (std::uint32_t r = 0; r < 2; ++r) {
        const timeline::StringId name = t.strings.intern(r == 0 ? "rank 0" : "rank 1");
        t.ranks.push_back({r, 1, ops.stage, name, r, r + 1, 0, kOp * (ops.opEnd - ops.opBegin)});
        t.lanes.push_back({r, 1, name, compute, true, r});
        for (std::uint32_t i = ops.opBegin; i < ops.opEnd; ++i) {
            timeline::SpanRow row;
            row.lane = r;
            row.start = kOp * (i - ops.opBegin);
            row.end = row.start + kOp;
            row.name = op;
            row.op = i;
            timeline::append(t, row);
        }
    }
    timeline::arrange(t);
    run.file.scenario = core::writeScenario(loaded.scenario);
    run.file.about = Document::table();
    run.file.about.set("graph_hash", Document::of(fmt::format("{:016x}", run.graph.hash)));
    run.file.about.set("machine", documentOf(kMachine));
    run.file.about.set("measured", figuresDocument({{"step", 5, false}}));
    return run;
}

core::Result<OpenedRun> opened(const formats::RunFile& run) {
    const std::string path = ::testing::TempDir() + "opened_run_test.json";
    formats::FileSink sink(path);
    formats::writeRunFile(run, "gloo", sink);
    EXPECT_TRUE(sink.finish());
    auto read = openRun(path);
    std::remove(path.c_str());
    return read;
}

std::string refusal(const formats::RunFile& run) {
    const auto read = opened(run);
    EXPECT_FALSE(read);
    return read ? std::string() : describe(read.error());
}

TEST(OpenedRun, RefusesFiguresAndMachinesThatNoRunHas) {
    SmallRun run = smallRun();
    const auto with = [&](const char* key, Document value) {
        formats::RunFile file = run.file;
        file.about.set(key, std::move(value));
        return refusal(file);
    };
    const auto has = [](const std::string& text, const char* part) {
        EXPECT_NE(text.find(part), std::string::npos) << text;
    };
    has(with("measured", Document::table()), "about, measured: found a table, expected a list of figures");
    has(with("measured", figuresDocument({{"step", 1e300, false}})), "item 1 is 1e+300");
    has(with("machine", Document::list()), "about, machine: 'processor' is no text");
    formats::RunFile without = run.file;
    without.about = Document::table();
    has(refusal(without), "'machine' or 'measured' is missing");
    formats::RunFile nobody = run.file;
    nobody.timeline = {};
    has(refusal(nobody), "a run without a rank");
}

TEST(OpenedRun, RefusesAMachineOfOtherKindsOrRanges) {
    const auto with = [](const char* key, Document value) {
        Document document = documentOf(kMachine);
        document.set(key, std::move(value));
        const auto read = runMachineFrom(document, "run.json");
        return read ? std::string() : describe(read.error());
    };
    EXPECT_EQ(with("cores", Document::of(std::int64_t{4})), "");
    for (const char* key : {"processor", "device", "transport"})
        EXPECT_NE(with(key, Document::of(std::int64_t{1})).find("is no text"), std::string::npos) << key;
    for (const char* key : {"cores", "ranks"})
        EXPECT_NE(with(key, Document::of(std::int64_t{0})).find("is no count"), std::string::npos) << key;
    for (const char* key : {"link_bandwidth", "link_latency"})
        for (const double value : {-1.0, 1e300, HUGE_VAL})
            EXPECT_NE(with(key, Document::of(value)).find("is no number from 0 to 1e18"), std::string::npos) << key;
}

/// Memory at the instants of the timeline, of the row of each rank.
std::vector<bool> inTime(const formats::RunFile& file) {
    const auto run = opened(file);
    EXPECT_TRUE(run) << describe(run.error());
    const auto report = evaluateRun(*run, run->loaded.scenario);
    EXPECT_TRUE(report) << describe(report.error());
    const PlanReport& measured = report->report.plans.front();
    std::vector<bool> has(measured.timeline.ranks.size());
    for (const timeline::Counter& counter : measured.timeline.counters) has[counter.rankIndex] = true;
    return has;
}

TEST(OpenedRun, TakesInstantsWhereEveryOpIsThereOnce) {
    SmallRun run = smallRun();
    EXPECT_EQ(inTime(run.file), (std::vector<bool>{true, true}));
    // On the second rank op 5 twice and op 6 not at all: as many spans as ops.
    timeline::Spans& spans = run.file.timeline.spans;
    const std::size_t second = spans.size() / 2;
    spans.op[second + 6] = spans.op[second + 5];
    EXPECT_EQ(inTime(run.file), (std::vector<bool>{true, false}));
    run = smallRun();
    run.file.timeline.spans.op.back() = 0xfffffffe;
    EXPECT_EQ(inTime(run.file), (std::vector<bool>{true, false})) << "an op of no class";
}

}  // namespace
}  // namespace shardscope::cli
