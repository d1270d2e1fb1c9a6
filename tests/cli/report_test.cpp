#include "cli/face/report.h"

#include <gtest/gtest.h>

#include <algorithm>

#include <map>

#include "cli/face/load.h"
#include "cli/face/output.h"
#include "cli/face/sweep.h"
#include "cli/face/text_picture.h"
#include "cli/face/text_table.h"

namespace shardscope::cli {
namespace {

using core::Document;
using timeline::Activity;

core::Result<Report> answer(const std::vector<std::string>& overrides, const std::vector<std::string>& strategies,
                            const EvaluateOptions& options = {}) {
    auto loaded = load(SHARDSCOPE_SOURCE_DIR "/examples/lecture.toml", overrides);
    if (!loaded) return tl::unexpected(loaded.error());
    auto resolved = core::resolve(loaded->scenario, loaded->inputs, strategies);
    if (!resolved) return tl::unexpected(resolved.error());
    return evaluate(*resolved, loaded->source, options);
}

Report lecture() {
    auto report = answer({}, {"naive", "fsdp", "single"});
    EXPECT_TRUE(report) << core::describe(report.error());
    return std::move(*report);
}

TEST(Report, TimesOfEveryClassSumToTheStep) {
    const Report report = lecture();
    ASSERT_EQ(report.plans.size(), 3u);
    for (const PlanReport& plan : report.plans) {
        std::int64_t ranks = 0;
        for (const ClassReport& one : plan.classes) {
            const timeline::Breakdown& t = one.times;
            EXPECT_EQ(t.compute + t.transfer + t.copy + t.waiting + t.idle, plan.stepNs)
                << plan.name << " " << one.name;
            std::int64_t blamed = 0;
            for (const timeline::CauseTotal& cause : one.causes) blamed += cause.time;
            EXPECT_EQ(blamed, plan.stepNs - t.compute) << plan.name << " " << one.name;
            ranks += one.ranks;
        }
        EXPECT_EQ(ranks, plan.ranks);
        EXPECT_EQ(plan.allRanks.step, plan.ranks * plan.stepNs);
    }
}

TEST(Report, LeavesOutPlansThatCannotBeBuiltAsLongAsTwoRemain) {
    // Frozen parameters are refused under ddp.
    const std::vector<std::string> frozen{"training.frozen=[\"conv_proj\"]"};
    EXPECT_FALSE(answer(frozen, {"naive", "fsdp", "ddp"}));
    EvaluateOptions partial;
    partial.partial = true;
    EXPECT_FALSE(answer(frozen, {"fsdp", "ddp"}, partial)) << "one alone is no comparison";
    const auto report = answer(frozen, {"naive", "fsdp", "ddp"}, partial);
    ASSERT_TRUE(report) << core::describe(report.error());
    ASSERT_EQ(report->plans.size(), 2u);
    ASSERT_EQ(report->refused.size(), 1u);
    EXPECT_EQ(report->refused[0].strategy, "ddp");
    EXPECT_NE(textReport(*report).find("ddp: left out, frozen parameters"), std::string::npos);
    const Document document = reportDocument(*report);
    EXPECT_EQ(document.find("refused")->items.at(0).find("where")->text, "[training] frozen");
    EXPECT_EQ(document.find("step_kind")->text, "train");
}

TEST(Report, NamesSettingsThatChangeNothing) {
    const auto report = answer({"parallelism.ddp_static_graph=true"}, {"naive", "fsdp"});
    ASSERT_TRUE(report) << core::describe(report.error());
    EXPECT_NE(textReport(*report).find("not used: parallelism.ddp_static_graph"), std::string::npos);
    EXPECT_EQ(reportDocument(*report).find("unused")->items.at(0).text, "parallelism.ddp_static_graph");
}

// Framework semantics 1.17: L units resharded after forward and a kept root make 2L + 1
// gathers and L + 1 reduce-scatters; the sizes are those of the units, padded.
TEST(Report, CountsFsdpsCollectivesAndTheirBytes) {
    const Report report = lecture();
    const PlanReport& fsdp = report.plans[1];
    const TransferCounts& counts = fsdp.classes.at(0).transfers;
    EXPECT_EQ(counts.allGathers, 2 * 12 + 1);
    EXPECT_EQ(counts.reduceScatters, 12 + 1);
    std::int64_t gathered = 0, reduced = 0;
    for (const core::Unit& unit : fsdp.graph->units) {
        const std::int64_t times = unit.isRoot ? 1 : 2;
        gathered += times * unit.paddedElements * 2 * 3 / 4;  // bf16, (N - 1) / N with N = 4
        reduced += unit.paddedElements * 4 * 3 / 4;           // fp32
    }
    EXPECT_EQ(counts.gatherBytes, gathered);
    EXPECT_EQ(counts.reduceBytes, reduced);
    EXPECT_EQ(counts.sends + counts.receives, 0);
}

TEST(Report, NaiveSendsEveryBoundaryOncePerMicroBatchAndDirection) {
    const Report report = lecture();
    const PlanReport& naive = report.plans[0];
    ASSERT_EQ(naive.classes.size(), 4u);
    std::int64_t sends = 0, receives = 0;
    for (const ClassReport& one : naive.classes) {
        sends += one.transfers.sends;
        receives += one.transfers.receives;
    }
    EXPECT_EQ(sends, 3 * 2 * 4);  // boundaries x directions x micro-batches
    EXPECT_EQ(receives, sends);
    // 32 images x 197 tokens x 768 x 2 bytes of activations, and as much of gradients.
    EXPECT_EQ(naive.classes[1].transfers.sendBytes, std::int64_t{32} * 197 * 768 * 2 * 2 * 4);
}

// With free links naive's forward and backward take N times FSDP's: the same kernels run one micro-batch after another.
TEST(Report, NaivesKernelsTakeNTimesFsdps) {
    EvaluateOptions options;
    options.knobs.freeCommunication = options.knobs.freeCopies = options.knobs.infiniteHost = true;
    options.knobs.noOverlapSlowdown = options.knobs.freeOptimizer = true;
    const auto report = answer({}, {"naive", "fsdp"}, options);
    ASSERT_TRUE(report) << core::describe(report.error());
    const PlanReport& naive = report->plans[0];
    const PlanReport& fsdp = report->plans[1];
    // Over all GPUs the same work; on the clock four times as long, as one GPU works at a time.
    EXPECT_EQ(naive.allRanksWork.forward, fsdp.allRanksWork.forward);
    EXPECT_EQ(naive.allRanksWork.backward, fsdp.allRanksWork.backward);
    const timeline::ComputeWork& one = fsdp.classes.at(0).work;
    const std::int64_t passes = naive.allRanksWork.forward + naive.allRanksWork.backward;
    EXPECT_EQ(passes, 4 * (one.forward + one.backward));
    EXPECT_EQ(naive.stepNs, passes);
    EXPECT_EQ(fsdp.stepNs, one.forward + one.backward);
}

TEST(Report, ComputeIsPassesAccumulationCopiesAndOptimizer) {
    for (const PlanReport& plan : lecture().plans) {
        for (const ClassReport& one : plan.classes) {
            EXPECT_EQ(one.work.total(), one.times.compute) << plan.name << " " << one.name;
            EXPECT_GT(one.work.forward, 0) << plan.name;
            EXPECT_GT(one.work.backward, 0) << plan.name;
            EXPECT_GT(one.work.optimizer, 0) << plan.name;
            // float32 parameters are cast to bfloat16 whoever computes; only micro-batches add gradients up.
            EXPECT_GT(one.work.copies, 0) << plan.name;
            EXPECT_EQ(one.work.accumulation > 0, plan.setup.plan.microBatches > 1) << plan.name;
            EXPECT_EQ(one.work.other, 0) << plan.name;
        }
        EXPECT_EQ(plan.allRanksWork.total(), plan.allRanks.compute);
    }
    const std::string table = textReport(lecture());
    for (const char* row : {"  forward", "  backward", "  gradient accumulation", "  copies and casts", "  optimizer"})
        EXPECT_NE(table.find(row), std::string::npos) << row;
}

TEST(Report, FiguresFollowFromEachOther) {
    const Report report = lecture();
    for (const PlanReport& plan : report.plans) {
        EXPECT_NEAR(plan.samplesPerSecond, 128.0 / (static_cast<double>(plan.stepNs) * 1e-9),
                    1e-6 * plan.samplesPerSecond);
        EXPECT_GT(plan.mfu, 0);
        EXPECT_LT(plan.mfu, 1);
        for (const ClassReport& one : plan.classes) {
            const MemoryVerdict& memory = one.memory;
            EXPECT_EQ(memory.fits(), memory.needed() <= memory.reserve.usable.value);
            EXPECT_EQ(memory.step.hostOrder.byCategory.total(), memory.step.hostOrder.total);
            EXPECT_GE(memory.step.reserved, memory.step.hostOrder.total);
            std::int64_t parts = 0;
            for (const sim::MemoryPart& part : memory.step.hostOrder.parts) parts += part.bytes.value;
            EXPECT_EQ(parts, memory.step.hostOrder.total.value) << plan.name << " " << one.name;
        }
        EXPECT_LE(plan.tightest().memory.left(), plan.classes.front().memory.left());
    }
    // The same FLOPs whoever does them.
    EXPECT_DOUBLE_EQ(report.plans[0].modelFlops, report.plans[1].modelFlops);
    EXPECT_DOUBLE_EQ(report.plans[0].modelFlops, report.plans[2].modelFlops);
}

// FSDP2 inside two naive stages: each stage's ranks gather and reduce only what their layers hold, messages pass
// between the stages once a direction, and a stage waits while the other works.
TEST(Report, FsdpInsideStagesGathersEachStagesUnits) {
    const auto report =
        answer({"parallelism.pipeline_parallel_degree=2", "parallelism.data_parallel_shard_degree=2"}, {"fsdp"});
    ASSERT_TRUE(report) << core::describe(report.error());
    EXPECT_EQ(report->globalBatch, 64);
    const PlanReport& plan = report->plans.at(0);
    EXPECT_EQ(plan.ranks, 4);
    ASSERT_EQ(plan.classes.size(), 2u);
    std::int64_t gathered = 0, reduced = 0, elements = 0;
    for (const core::Unit& unit : plan.graph->units) {
        gathered += unit.paddedElements * 2 / 2;  // bf16, (N - 1) / N with N = 2; "default": not resharded
        reduced += unit.paddedElements * 4 / 2;
        elements += unit.elements;
    }
    EXPECT_EQ(elements, report->parameters);
    std::int64_t gatherBytes = 0, reduceBytes = 0;
    for (const ClassReport& one : plan.classes) {
        EXPECT_EQ(one.ranks, 2);
        EXPECT_EQ(one.transfers.allGathers, 6 + 1) << one.name;
        EXPECT_EQ(one.transfers.reduceScatters, 6 + 1) << one.name;
        EXPECT_EQ(one.transfers.sends, 1);
        EXPECT_EQ(one.transfers.receives, 1);
        gatherBytes += one.transfers.gatherBytes;
        reduceBytes += one.transfers.reduceBytes;
        EXPECT_LT(one.times.compute, plan.stepNs * 6 / 10) << "one stage works at a time";
    }
    EXPECT_EQ(gatherBytes, gathered);
    EXPECT_EQ(reduceBytes, reduced);
}

TEST(Report, TheKoreanPictureSpeaksKorean) {
    const std::string english = pictureOf(lecture(), "en"), korean = pictureOf(lecture(), "ko");
    for (const char* words : {"stages of contiguous layers", "micro-batches of", "a batch of 32 per rank",
                              "everything on one GPU", "images a step"}) {
        EXPECT_NE(english.find(words), std::string::npos) << words;
        EXPECT_EQ(korean.find(words), std::string::npos) << words;
    }
    for (const char* words : {"스테이지로 나눔", "마이크로배치", "랭크마다 배치 32", "모두 GPU 하나에", "이미지 128개"})
        EXPECT_NE(korean.find(words), std::string::npos) << words;
}

TEST(Report, IsTheSameEveryTime) {
    EXPECT_EQ(core::writeJson(reportDocument(lecture())), core::writeJson(reportDocument(lecture())));
    EXPECT_EQ(pictureOf(lecture(), "en"), pictureOf(lecture(), "en"));
}

TEST(Report, TheJsonSaysWhatTheStructSays) {
    const Report report = lecture();
    const auto read = core::parseJson(core::writeJson(reportDocument(report)), "report.json");
    ASSERT_TRUE(read) << core::describe(read.error());
    EXPECT_EQ(read->find("schema")->text, "shardscope.report");
    EXPECT_EQ(read->find("version")->integer, 1);
    const Document& plan = read->find("plans")->items.at(1);
    EXPECT_EQ(plan.find("step_ns")->kind, Document::Kind::Integer);
    EXPECT_EQ(plan.find("step_ns")->integer, report.plans[1].stepNs);
    const Document& one = plan.find("classes")->items.at(0);
    EXPECT_EQ(one.find("times")->find("compute_ns")->integer, report.plans[1].classes[0].times.compute);
    EXPECT_EQ(one.find("memory")->find("needed_bytes")->integer, report.plans[1].classes[0].memory.needed());
    EXPECT_EQ(one.find("transfers")->find("wire_bytes")->integer, report.plans[1].classes[0].transfers.bytes());
}

TEST(Report, TheTextNamesThePlansAndTheFairnessRule) {
    const std::string text = textReport(lecture());
    for (const char* part :
         {"naive", "fsdp", "single", "global batch of 128", "Where the time goes", "85,413,130", "MFU"})
        EXPECT_NE(text.find(part), std::string::npos) << part;
}

std::vector<std::string> lines(const std::string& text) {
    std::vector<std::string> all;
    for (std::size_t from = 0, to = 0; (to = text.find('\n', from)) != std::string::npos; from = to + 1)
        all.push_back(text.substr(from, to - from));
    return all;
}

/// What `simulate` answers where the key is set on the command line.
Report simulated(const std::string& scenario, const std::string& assignment) {
    const auto alone = load(scenario, std::vector<std::string>{assignment});
    EXPECT_TRUE(alone) << core::describe(alone.error());
    const auto resolved = core::resolve(alone->scenario, alone->inputs);
    EXPECT_TRUE(resolved) << core::describe(resolved.error());
    return *evaluate(*resolved, alone->source);
}

TEST(Sweep, EveryRowIsWhatSimulateAnswers) {
    for (const char* over : {"parallelism.data_parallel_shard_degree=1,2,4", "cluster.gpu=h100-sxm,t4",
                             "parallelism.fsdp_reshard_after_forward=true,false,2"}) {
        const std::string scenario = SHARDSCOPE_SOURCE_DIR "/examples/lecture.toml";
        const auto loaded = load(scenario, {});
        ASSERT_TRUE(loaded);
        const auto swept = sweep(*loaded, over);
        ASSERT_TRUE(swept) << core::describe(swept.error());
        const Document document = sweepDocument(*swept);
        ASSERT_EQ(document.find("points")->items.size(), swept->points.size());
        const std::vector<std::string> csv = lines(sweepCsv(*swept)), table = lines(sweepTable(*swept));
        std::size_t row = 1;
        for (std::size_t i = 0; i < swept->points.size(); ++i) {
            ASSERT_TRUE(swept->points[i].report) << core::describe(swept->points[i].report.error());
            const Report alone = simulated(scenario, swept->key + "=" + swept->points[i].value);
            const Document& point = document.find("points")->items[i];
            EXPECT_EQ(point.find("value")->text, swept->points[i].value);
            EXPECT_EQ(core::writeJson(*point.find("report")), core::writeJson(reportDocument(alone))) << over;
            // The rows of the CSV are those of a sweep over this one value.
            Sweep one{swept->key, {}};
            one.points.push_back({swept->points[i].value, alone});
            const std::vector<std::string> oneCsv = lines(sweepCsv(one));
            for (std::size_t plan = 0; plan < alone.plans.size(); ++plan, ++row) {
                EXPECT_EQ(csv.at(row), oneCsv.at(1 + plan));
                EXPECT_EQ(csv.at(row).find(alone.plans[plan].name), swept->points[i].value.size() + 1);
                EXPECT_NE(csv.at(row).find("," + std::to_string(alone.plans[plan].stepNs) + ","), std::string::npos);
                EXPECT_NE(table.at(row + 1).find(durationText(alone.plans[plan].stepNs)), std::string::npos);
            }
        }
        EXPECT_EQ(csv.size(), row);
        for (const std::string& line : csv)
            EXPECT_EQ(std::count(line.begin(), line.end(), ','), std::count(csv[0].begin(), csv[0].end(), ','));
    }
}

TEST(Sweep, PointsThatDifferHaveRowsThatDiffer) {
    const auto loaded = load(SHARDSCOPE_SOURCE_DIR "/examples/lecture.toml", {});
    ASSERT_TRUE(loaded);
    const auto swept = sweep(*loaded, "cluster.gpu=h100-sxm,t4");
    ASSERT_TRUE(swept) << core::describe(swept.error());
    EXPECT_NE(swept->points[0].report->plans[0].stepNs, swept->points[1].report->plans[0].stepNs);
}

TEST(Sweep, OverStrategiesEachRowIsItsOwn) {
    const auto loaded = load(SHARDSCOPE_SOURCE_DIR "/examples/lecture.toml", {});
    ASSERT_TRUE(loaded);
    const std::vector<std::string> fsdp{"fsdp"};  // what the command asks for where nothing else is said
    const auto swept = sweep(*loaded, "parallelism.strategy=naive,fsdp", fsdp);
    ASSERT_TRUE(swept) << core::describe(swept.error());
    EXPECT_EQ(swept->points[0].report->plans.front().name, "naive");
    EXPECT_EQ(swept->points[1].report->plans.front().name, "fsdp");
}

TEST(Sweep, APointThatCannotBeIsARowAndAnUnknownKeyAnError) {
    const auto loaded = load(SHARDSCOPE_SOURCE_DIR "/examples/lecture.toml",
                             std::vector<std::string>{"cluster.nodes=1", "cluster.gpus_per_node=4"});
    ASSERT_TRUE(loaded);
    const auto swept = sweep(*loaded, "parallelism.data_parallel_shard_degree=4,8");
    ASSERT_TRUE(swept) << core::describe(swept.error());
    EXPECT_TRUE(swept->points[0].report.has_value());
    EXPECT_FALSE(swept->points[1].report.has_value());
    EXPECT_NE(sweepTable(*swept).find("not possible"), std::string::npos);
    for (const char* bad : {"", "x", "=1", "training.seqlen=1,2", "parallelism.strategy="})
        EXPECT_FALSE(sweep(*loaded, bad)) << bad;
}

TEST(Texts, TablesAlignAndGroupDigits) {
    TextTable table({"a", "b"}, {Align::Left, Align::Right});
    table.row({"가나", "1"});
    table.row({"x", "100"});
    EXPECT_EQ(table.text(1), " a       b\n ----  ---\n 가나    1\n x     100\n");
    EXPECT_EQ(groupedDigits(0), "0");
    EXPECT_EQ(groupedDigits(-1234567), "-1,234,567");
    EXPECT_EQ(groupedDigits(999), "999");
}

TEST(Sweep, NamesWhatNoPointUses) {
    const auto loaded =
        load(SHARDSCOPE_SOURCE_DIR "/examples/lecture.toml",
             std::vector<std::string>{"parallelism.ddp_bucket_cap_mb=50", "training.gradient_sync=last"});
    ASSERT_TRUE(loaded);
    // gradient_sync needs micro-batches, which the second value makes.
    const auto swept = sweep(*loaded, "training.global_batch_size=128,256");
    ASSERT_TRUE(swept) << core::describe(swept.error());
    EXPECT_EQ(unusedIn(*swept), std::vector<std::string>{"parallelism.ddp_bucket_cap_mb"});
    EXPECT_NE(sweepTable(*swept).find("not used: parallelism.ddp_bucket_cap_mb changes nothing here"),
              std::string::npos);
    EXPECT_EQ(sweepDocument(*swept).find("unused")->items.size(), 1u);
    // The swept key itself, its default left aside.
    const auto every = sweep(*loaded, "training.checkpoint_every=2,3,4");
    ASSERT_TRUE(every);
    EXPECT_EQ(unusedIn(*every), (std::vector<std::string>{"training.gradient_sync", "training.checkpoint_every",
                                                          "parallelism.ddp_bucket_cap_mb"}));
}

TEST(Report, SaysThatParametersInTheirOriginalDtypeArePricedInTheOther) {
    const auto said = [](const std::string& name) {
        const auto loaded = load(SHARDSCOPE_SOURCE_DIR "/examples/lecture.toml",
                                 std::vector<std::string>{"parallelism.fsdp_original_dtype=" + name});
        EXPECT_TRUE(loaded);
        const auto resolved = core::resolve(loaded->scenario, loaded->inputs, std::vector<std::string>{"fsdp"});
        EXPECT_TRUE(resolved) << core::describe(resolved.error());
        const auto report = evaluate(*resolved, loaded->source);
        EXPECT_TRUE(report) << core::describe(report.error());
        return std::ranges::any_of(report->caveats, [](const std::string& caveat) {
            return caveat.find("parameters kept in float32") != std::string::npos;
        });
    };
    EXPECT_TRUE(said("[\"LayerNorm\"]"));
    EXPECT_TRUE(said("[\"conv_proj\", \"encoder\", \"heads\", \"class_token\"]")) << "the whole model";
    EXPECT_FALSE(said("[]"));
}

}  // namespace
}  // namespace shardscope::cli
