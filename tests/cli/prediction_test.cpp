#include "cli/face/prediction.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "cli/face/measured_figures.h"
#include "core/graph/build.h"
#include "core/model/spec.h"
#include "core/model/vit.h"

namespace shardscope::cli {
namespace {

struct Predicted {
    core::Model model;
    core::StepGraph graph;
    core::MachineTimes machine;
};

/// On two ranks, every kernel a microsecond.
Predicted onTwo(const core::Plan& plan) {
    Predicted p;
    core::Workload workload;
    workload.batch = 2;
    p.model = *core::buildModel(*core::namedVit("vit_tiny"), workload);
    p.graph = *core::buildStepGraph(p.model, plan);
    p.machine.cores = 2;
    p.machine.compute.resize(1);
    for (const core::Program& program : p.model.programs)
        for (const auto* kernels : {&program.forward, &program.backward})
            for (const core::Kernel& kernel : *kernels)
                p.machine.compute[0].kernels[core::kernelSignature(program, kernel)] = 1e-6;
    p.machine.compute[0].copy = {1e-7, 1e-10};
    p.machine.compute[0].optimizer = {1e-7, 1e-10};
    p.machine.transfers.push_back({2,
                                   {{{1000, 1e-5, 2e-5, 5e-6}}},
                                   {{{1000, 2e-5, 3e-5, 1e-5}}},
                                   {{{1000, 3e-5, 4e-5, 3e-5}}},
                                   {{{1000, 4e-5, 5e-5, 1e-5}}}});
    return p;
}

Predicted fsdpOfTwo() {
    core::Plan plan;
    plan.policy = core::UnitPolicy::Fsdp;
    plan.mesh.dpShard = 2;
    return onTwo(plan);
}

/// A run that went exactly as predicted.
runtime::TrainReport asPredicted(const PredictedRun& predicted) {
    runtime::TrainReport report;
    report.stepNs = {9 * predicted.step, 5 * predicted.step, predicted.step, predicted.step, predicted.step};
    runtime::RankReport rank;
    rank.peakTotal = predicted.peak;
    rank.typical.breakdown = predicted.breakdown.front();
    rank.typical.activities = timeline::activityTimesOf(predicted.timeline).front();
    report.ranks.assign(2, rank);
    return report;
}

TEST(Prediction, OfARunThatWentAsPredictedHasNoError) {
    const Predicted p = fsdpOfTwo();
    const auto predicted = predictRun(p.graph, p.model, p.machine);
    ASSERT_TRUE(predicted) << describe(predicted.error());
    const auto figures = sideBySide(figuresOf(*predicted), figuresOf(asPredicted(*predicted)));
    std::vector<std::string> names;
    for (const PredictedFigure& figure : figures) {
        EXPECT_DOUBLE_EQ(figure.error(), 0) << figure.what;
        names.push_back(figure.what);
    }
    // The first two steps, which took longer, do not count.
    EXPECT_EQ(figures.front().what, "step");
    EXPECT_DOUBLE_EQ(figures.front().measured, static_cast<double>(predicted->step));
    for (const char* name : {"compute", "exposed transfer", "waiting", "idle", "ops: forward", "ops: backward",
                             "ops: all-gather", "ops: reduce-scatter", "ops: optimizer step", "peak memory"})
        EXPECT_NE(std::ranges::find(names, name), names.end()) << name;
}

TEST(Prediction, CountsARankThatIsDoneEarlyAsWaiting) {
    core::Plan plan;
    plan.policy = core::UnitPolicy::None;
    plan.schedule = core::StageSchedule::Naive;
    plan.mesh.pp = 2;
    Predicted p = onTwo(plan);
    constexpr std::int64_t kFinish = 2000;
    p.machine.host.finish = 1e-9 * kFinish;
    const auto predicted = predictRun(p.graph, p.model, p.machine);
    ASSERT_TRUE(predicted) << describe(predicted.error());
    ASSERT_EQ(predicted->breakdown.size(), 2u);
    const std::vector<timeline::Breakdown> ofOneStep = timeline::breakdownOf(predicted->timeline);
    // The first stage ends the step; the last one is done with its optimizer long before.
    EXPECT_EQ(predicted->breakdown[0].waiting, ofOneStep[0].waiting);
    EXPECT_GT(ofOneStep[1].idle, 10 * kFinish);
    EXPECT_EQ(predicted->breakdown[1].idle, kFinish);
    EXPECT_EQ(predicted->breakdown[1].waiting, ofOneStep[1].waiting + ofOneStep[1].idle - kFinish);
}

TEST(Prediction, TellsHowFarItIsOff) {
    const Predicted p = fsdpOfTwo();
    const auto predicted = predictRun(p.graph, p.model, p.machine);
    ASSERT_TRUE(predicted);
    runtime::TrainReport slower = asPredicted(*predicted);
    for (std::int64_t& step : slower.stepNs) step = 2 * predicted->step;
    const auto figures = sideBySide(figuresOf(*predicted), figuresOf(slower));
    EXPECT_DOUBLE_EQ(figures.front().error(), -0.5);
    const std::string text = predictionText(figures);
    EXPECT_NE(text.find("-50.0 %"), std::string::npos) << text;
    const core::Document document = predictionDocument(figures);
    ASSERT_EQ(document.items.size(), figures.size());
    EXPECT_EQ(document.items.front().find("unit")->text, "ns");
    EXPECT_EQ(document.items.back().find("unit")->text, "bytes");
    EXPECT_TRUE(std::isinf(PredictedFigure({"new", 1, 0, false}).error()));
    EXPECT_EQ(PredictedFigure({"none", 0, 0, false}).error(), 0);
}

TEST(Prediction, RowsStandInOneOrderWhateverARunLacks) {
    const std::vector<RunFigure> runs[] = {
        {{"step", 1, false}, {"ops: divide", 2, false}, {"peak memory", 3, true}},
        {{"step", 4, false}, {"ops: backward", 5, false}, {"ops: send", 6, false}, {"peak memory", 7, true}}};
    const std::vector<FigureRow> rows = figureRows(runs);
    std::vector<std::string> names;
    for (const FigureRow& row : rows) names.push_back(row.what);
    EXPECT_EQ(names, (std::vector<std::string>{"step", "ops: backward", "ops: divide", "ops: send", "peak memory"}));
    EXPECT_EQ(rows[1].values, (std::vector<double>{0, 5}));
    EXPECT_EQ(rows[2].values, (std::vector<double>{2, 0}));
    EXPECT_TRUE(rows[4].bytes);
}

TEST(Prediction, FiguresAreReadBackAndNoOthers) {
    const std::vector<RunFigure> figures{{"step", 5, false}, {"ops: divide", 0, false}, {"peak memory", 7, true}};
    const auto read = figuresFrom(figuresDocument(figures), "run.json");
    ASSERT_TRUE(read) << describe(read.error());
    EXPECT_EQ(*read, figures);
    const auto refused = [](const core::Document& document, const char* part) {
        const auto other = figuresFrom(document, "run.json");
        ASSERT_FALSE(other) << part;
        EXPECT_NE(describe(other.error()).find(part), std::string::npos) << describe(other.error());
        EXPECT_NE(describe(other.error()).find("run.json"), std::string::npos) << describe(other.error());
    };
    refused(core::Document::table(), "found a table, expected a list of figures");
    refused(core::Document::list(), "0 figures, expected 1 to 256");
    refused(figuresDocument(std::vector<RunFigure>(257)), "257 figures, expected 1 to 256");
    refused(figuresDocument({{"step", 5, false}, {"step", 6, false}}), "item 2 is a figure that is there already");
    refused(figuresDocument({{"step", -1, false}}), "item 1 is -1, expected 0 to 2^61");
    refused(figuresDocument({{"step", 1e300, false}}), "item 1 is 1e+300, expected 0 to 2^61");
    refused(figuresDocument({{"", 1, false}}), "item 1 is no figure");
    core::Document unit = figuresDocument(figures);
    unit.items[1].set("unit", core::Document::of("furlongs"));
    refused(unit, "item 2 is no figure");
    unit.items[1] = core::Document::of("step");
    refused(unit, "item 2 is no figure");
}

TEST(Prediction, NeedsTheTimesOfItsGroups) {
    Predicted p = fsdpOfTwo();
    p.machine.transfers.clear();
    const auto predicted = predictRun(p.graph, p.model, p.machine);
    ASSERT_FALSE(predicted);
    EXPECT_NE(describe(predicted.error()).find("among 2 ranks"), std::string::npos);
}

}  // namespace
}  // namespace shardscope::cli
