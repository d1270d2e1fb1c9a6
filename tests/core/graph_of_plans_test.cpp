// Properties of built graphs: counts, bytes on the wire, stages, refusals.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "core/graph/build.h"
#include "core/graph/export.h"
#include "core/graph/host_memory.h"
#include "core/graph/optimizer_state.h"
#include "core/model/named_decoders.h"
#include "core/model/vit.h"
#include "tests/checkers/support/recorded_case.h"

namespace shardscope::core {
namespace {

Model toy(std::int64_t blocks = 4, bool tied = false) {
    checkers::ToySizes sizes;
    sizes.model.blocks = blocks;
    sizes.model.tied = tied;
    auto model = checkers::toyModel(sizes);
    EXPECT_TRUE(model) << describe(model.error());
    return std::move(*model);
}

Plan fsdp(std::int64_t ranks) {
    Plan plan;
    plan.mesh.dpShard = ranks;
    return plan;
}

Plan naive(std::int64_t stages, std::int64_t microBatches = 1) {
    Plan plan;
    plan.schedule = StageSchedule::Naive;
    plan.policy = UnitPolicy::None;
    plan.mesh.pp = stages;
    plan.microBatches = microBatches;
    return plan;
}

StepGraph built(const Model& model, const Plan& plan) {
    auto graph = buildStepGraph(model, plan);
    EXPECT_TRUE(graph) << describe(graph.error());
    return graph ? std::move(*graph) : StepGraph{};
}

std::size_t count(const StepGraph& graph, OpKind kind) {
    return static_cast<std::size_t>(
        std::count_if(graph.ops.begin(), graph.ops.end(), [&](const Op& op) { return op.kind == kind; }));
}

// framework semantics 11, key instants: the order of the communication FIFO of four blocks and a root.
TEST(GraphOfPlans, communicationIsIssuedInTheGoldenOrder) {
    const StepGraph graph = built(toy(), fsdp(2));
    std::vector<std::string> order;
    for (const Op& op : graph.ops)
        if (op.kind == OpKind::AllGather || op.kind == OpKind::ReduceScatter)
            order.push_back((op.kind == OpKind::AllGather ? "AG " : "RS ") + graph.units[op.unit.index()].name);
    EXPECT_EQ(order, (std::vector<std::string>{"AG root", "AG blocks.0", "AG blocks.1", "AG blocks.2", "AG blocks.3",
                                               "AG blocks.3", "AG blocks.2", "RS blocks.3", "AG blocks.1",
                                               "RS blocks.2", "AG blocks.0", "RS blocks.1", "RS blocks.0", "RS root"}));
}

// L units resharded after forward and a kept root: 2L + 1 gathers, L + 1 reduce-scatters (framework semantics 1.17
// counts the same for the volumes).
TEST(GraphOfPlans, gathersAndReduceScattersAreTwoLPlusOneAndLPlusOne) {
    for (const std::int64_t blocks : {1, 2, 5, 9}) {
        const StepGraph graph = built(toy(blocks), fsdp(4));
        EXPECT_EQ(count(graph, OpKind::AllGather), static_cast<std::size_t>(2 * blocks + 1));
        EXPECT_EQ(count(graph, OpKind::ReduceScatter), static_cast<std::size_t>(blocks + 1));
    }
    Plan plan = fsdp(4);
    plan.fsdp.keepLastUnit = true;
    EXPECT_EQ(count(built(toy(5), plan), OpKind::AllGather), 10u);
    plan = fsdp(1);
    EXPECT_EQ(count(built(toy(5), plan), OpKind::AllGather), 0u);
}

TEST(GraphOfPlans, bytesOnTheWireAreThoseOfThePaddedUnits) {
    const Model model = toy(3);
    Plan plan = fsdp(4);
    plan.precision.param = DType::BF16;
    plan.precision.reduce = DType::F32;
    const StepGraph graph = built(model, plan);
    std::int64_t gathered = 0, reduced = 0, expectedGathered = 0, expectedReduced = 0;
    for (const Op& op : graph.ops) {
        if (op.kind == OpKind::AllGather) gathered += op.bytes.value;
        if (op.kind == OpKind::ReduceScatter) reduced += op.bytes.value;
    }
    for (const Unit& unit : graph.units) {
        expectedGathered += (unit.isRoot ? 1 : 2) * 2 * unit.paddedElements;
        expectedReduced += 4 * unit.paddedElements;
    }
    EXPECT_EQ(gathered, expectedGathered);
    EXPECT_EQ(reduced, expectedReduced);
}

// framework semantics 1.7: the lecture's root of 358,666 parameters is padded to these.
TEST(GraphOfPlans, theLecturesRootIsPaddedForItsLeadingOnes) {
    auto spec = namedVit("vit_b_16");
    ASSERT_TRUE(spec);
    spec->channels = 1;
    spec->classes = 10;
    const auto model = buildModel(*spec, Workload{});
    ASSERT_TRUE(model);
    const std::map<std::int64_t, std::int64_t> padded = {{1, 358666}, {2, 510730}, {4, 816396}, {8, 1427728}};
    for (const auto& [ranks, elements] : padded) {
        const auto units = formUnits(*model, fsdp(ranks));
        ASSERT_TRUE(units);
        ASSERT_EQ(units->size(), 13u);
        EXPECT_EQ(units->back().elements, 358666);
        EXPECT_EQ(units->back().paddedElements, elements);
    }
}

TEST(GraphOfPlans, threeBlocksAUnitMakeAThirdOfTheUnits) {
    Plan plan = fsdp(2);
    plan.fsdp.wrap.blocksPerUnit = 3;
    const auto units = formUnits(toy(7), plan);
    ASSERT_TRUE(units);
    ASSERT_EQ(units->size(), 4u);
    EXPECT_EQ((*units)[0].name, "blocks.0-2");
    EXPECT_EQ((*units)[0].elements, 3 * 148);
    EXPECT_EQ((*units)[2].elements, 148);
    EXPECT_EQ((*units)[3].name, "root");
}

// framework semantics 1.7: rank 3 of 4 of ViT-B/16 holds 1,216,512 bytes of Adam state less than rank 0.
TEST(GraphOfPlans, optimizerStateCountsOwnUnpaddedElements) {
    const auto model = buildModel(*namedVit("vit_b_16"), Workload{});
    ASSERT_TRUE(model);
    const Plan plan = fsdp(4);
    const auto units = formUnits(*model, plan);
    ASSERT_TRUE(units);
    EXPECT_EQ(optimizerStateBytes(*model, *units, plan, 0).value - optimizerStateBytes(*model, *units, plan, 3).value,
              1216512);
    std::int64_t all = 0;
    for (std::int64_t rank = 0; rank < 4; ++rank) all += optimizerStateBytes(*model, *units, plan, rank).value;
    EXPECT_EQ(all, 8 * parameterCount(*model));
}

TEST(GraphOfPlans, memoryIsTheSameAtTheStepsStartAndEnd) {
    for (const bool firstStep : {false, true}) {
        Plan plan = fsdp(2);
        plan.firstStep = firstStep;
        const Model model = toy();
        const StepGraph graph = built(model, plan);
        HostMemoryCursor cursor(graph, graph.classes[0]);
        const CategoryBytes start = cursor.live();
        while (cursor.next() != nullptr) {
        }
        const Bytes grown = cursor.live().total() - start.total();
        EXPECT_EQ(grown, firstStep ? optimizerStateBytes(model, graph.units, plan, 0) : Bytes{0});
    }
}

TEST(GraphOfPlans, stagesCoverTheLayersAndTheLossStaysLast) {
    const Model model = toy(6);
    for (const StageSplit split : {StageSplit::ByLayers, StageSplit::ByParameters, StageSplit::ByTime})
        for (std::int64_t stages = 1; stages <= 9; ++stages) {
            Plan plan = naive(stages);
            plan.split = split;
            plan.layerWeights.assign(model.layers.size(), 1.0);
            const auto ranges = splitStages(model, plan);
            ASSERT_TRUE(ranges) << describe(ranges.error());
            ASSERT_EQ(ranges->size(), static_cast<std::size_t>(stages));
            std::size_t next = 0;
            for (const auto& [begin, end] : *ranges) {
                EXPECT_EQ(begin.index(), next);
                EXPECT_LT(begin, end);
                next = end.index();
            }
            EXPECT_EQ(next, model.layers.size());
            EXPECT_GE(ranges->back().second.index() - ranges->back().first.index(), 2u);  // a layer and the loss
        }
    EXPECT_FALSE(splitStages(model, naive(10)));
}

TEST(GraphOfPlans, naiveStagesSendActivationsDownAndGradientsUp) {
    const Model model = toy(4);
    const StepGraph graph = built(model, naive(3, 2));
    ASSERT_EQ(graph.classes.size(), 3u);
    // Per boundary and micro-batch one message each way, of batch x sequence x width floats.
    EXPECT_EQ(count(graph, OpKind::Send), 8u);
    EXPECT_EQ(count(graph, OpKind::Receive), 8u);
    for (const Op& op : graph.ops)
        if (op.kind == OpKind::Send) {
            EXPECT_EQ(op.bytes.value, 2 * 5 * 6 * 4);
        }
    // Every parameter lies on exactly one stage.
    std::int64_t elements = 0;
    for (const Unit& unit : graph.units) elements += unit.elements;
    EXPECT_EQ(elements, parameterCount(model));
}

TEST(GraphOfPlans, aStageStartsTheNextMicroBatchOnlyAfterItsBackward) {
    const StepGraph graph = built(toy(4), naive(2, 3));
    for (const RankClass& c : graph.classes) {
        std::uint16_t microBatch = 0;
        bool backward = false;
        for (const Op& op : graph.opsOf(c)) {
            if (op.kind != OpKind::Compute) continue;
            if (op.microBatch != microBatch) {
                EXPECT_TRUE(backward);
                EXPECT_EQ(op.microBatch, microBatch + 1);
                microBatch = op.microBatch;
                backward = false;
            }
            EXPECT_FALSE(backward && op.phase == Phase::Forward);
            backward |= op.phase == Phase::Backward;
        }
        EXPECT_EQ(microBatch, 2);
    }
}

TEST(GraphOfPlans, aTiedWeightLiesOnBothEndStagesAndItsGradientsAreExchanged) {
    const Model model = toy(4, true);
    const StepGraph graph = built(model, naive(2));
    std::int64_t elements = 0;
    for (const Unit& unit : graph.units) elements += unit.elements;
    EXPECT_EQ(elements, parameterCount(model) + 11 * 6);
    std::size_t exchanged = 0;
    for (const Op& op : graph.ops)
        if (op.kind == OpKind::Send && op.phase == Phase::Reduction) {
            EXPECT_EQ(op.bytes.value, 11 * 6 * 4);
            ++exchanged;
        }
    EXPECT_EQ(exchanged, 2u);
    EXPECT_EQ(count(graph, OpKind::AddGradient), 2u);
}

TEST(GraphOfPlans, fsdpWrapsUnitsWithinTheStagesOfANaivePlan) {
    Plan plan = naive(2);
    plan.policy = UnitPolicy::Fsdp;
    plan.mesh.dpShard = 2;
    const Model model = toy(4);
    const StepGraph graph = built(model, plan);
    std::int64_t elements = 0;
    for (const Unit& unit : graph.units) elements += unit.elements;
    EXPECT_EQ(elements, parameterCount(model));
    EXPECT_EQ(graph.units.size(), 6u);
    EXPECT_EQ(count(graph, OpKind::ReduceScatter), 6u);
    // The second stage's input needs a gradient, so its root reduces by autograd, before the end-of-backward callback.
    for (const HostAction& action : graph.actionsOf(graph.classes[1]))
        if (action.kind == HostActionKind::Mark && action.mark == Mark::PostBackward) {
            EXPECT_FALSE(action.final);
        }
}

// A unit that is fed by integers alone reduces at the end of backward, as one that is fed by the batch does
// (framework semantics 1.5): GPT-2 makes the ids of its positions itself.
TEST(GraphOfPlans, unitsThatAreFedByIdsReduceInTheFinalCallback) {
    DecoderSpec spec = *namedDecoder("gpt2");
    spec.layers = 2;
    spec.tiedEmbeddings = false;
    Workload workload;
    workload.sequence = 16;
    const Model model = *buildModel(spec, workload);
    Plan plan = fsdp(2);
    plan.fsdp.wrap.kind = UnitWrap::Kind::List;
    plan.fsdp.wrap.units = {{"transformer.wte"}, {"transformer.wpe"}, {"transformer.h.0"}, {"transformer.h.1"}};
    const StepGraph graph = built(model, plan);
    std::map<std::string, bool> final;
    for (const HostAction& action : graph.actionsOf(graph.classes[0]))
        if (action.kind == HostActionKind::Mark && action.mark == Mark::PostBackward)
            final[graph.units[action.unit.index()].name] = action.final;
    EXPECT_EQ(final, (std::map<std::string, bool>{{"transformer.wte", true},
                                                  {"transformer.wpe", true},
                                                  {"transformer.h.0", false},
                                                  {"transformer.h.1", false},
                                                  {"root", true}}));
}

TEST(GraphOfPlans, microBatchesUnderPolicyNoneAccumulateIntoOneSetOfGradients) {
    const StepGraph once = built(toy(), naive(1, 1)), thrice = built(toy(), naive(1, 3));
    const auto gradientBytes = [](const StepGraph& graph) {
        std::int64_t bytes = 0;
        for (const Block& block : graph.blocks)
            if (block.category == MemoryCategory::UnshardedGradients) bytes += block.bytes.value;
        return bytes;
    };
    EXPECT_EQ(gradientBytes(once), gradientBytes(thrice));
    EXPECT_EQ(count(once, OpKind::AddGradient), 0u);
    EXPECT_GT(count(thrice, OpKind::AddGradient), 0u);
}

TEST(GraphOfPlans, theHashTellsPlansApart) {
    const Model model = toy();
    const StepGraph graph = built(model, fsdp(2));
    EXPECT_EQ(graph.hash, built(model, fsdp(2)).hash);
    EXPECT_NE(graph.hash, built(model, fsdp(4)).hash);
    Plan plan = fsdp(2);
    plan.fsdp.backwardPrefetch = 2;
    EXPECT_NE(graph.hash, built(model, plan).hash);
}

TEST(GraphOfPlans, whatCannotBeBuiltIsRefusedWithItsReason) {
    const Model model = toy();
    const auto refusal = [&](auto change) {
        Plan plan = fsdp(4);
        change(plan);
        const auto graph = buildStepGraph(model, plan);
        return graph ? std::string() : graph.error().message;
    };
    const auto has = [](const std::string& text, const char* part) { return text.find(part) != std::string::npos; };
    EXPECT_TRUE(has(refusal([](Plan& p) {
                        p.fsdp.reshardAfterForward = {Reshard::Kind::Group, 3};
                    }),
                    "does not divide"));
    EXPECT_TRUE(has(refusal([](Plan& p) { p.fsdp.reshardOf = {{"blocks.9", {}}}; }), "no unit 'blocks.9'"));
    EXPECT_TRUE(has(refusal([](Plan& p) { p.mesh.dpShard = 0; }), "expected 1"));
    EXPECT_TRUE(has(refusal([](Plan& p) { p.microBatches = 0; }), "micro-batches"));
    EXPECT_TRUE(has(refusal([](Plan& p) { p.mesh.pp = 2; }), "one stage"));
    EXPECT_TRUE(has(refusal([](Plan& p) { p.policy = UnitPolicy::None; }), "average"));
    EXPECT_TRUE(has(refusal([](Plan& p) { p.mesh.dpReplicate = 0; }), "expected 1"));
    EXPECT_TRUE(has(refusal([](Plan& p) {
                        p.checkpointing.mode = Checkpointing::Mode::EveryNth;
                        p.checkpointing.everyNth = 100;
                    }),
                    "which is none"));
    EXPECT_EQ(refusal([](Plan& p) { p.checkpointing.mode = Checkpointing::Mode::EveryNth; }), "")
        << "every 2nd of them";
    const auto partly = [](Plan& p) {
        p.microBatches = 2;
        p.gradientSync = GradientSync::AllReduceLast;
    };
    EXPECT_TRUE(has(refusal(partly), "without replicas"));
    EXPECT_TRUE(has(refusal([&](Plan& p) { partly(p), p.mesh = {1, 2, 1}; }), "one shard"));
    EXPECT_TRUE(has(refusal([&](Plan& p) { partly(p), p.mesh = {1, 2, 2}, p.fsdp.manualFinalize = true; }), "put off"));
    EXPECT_TRUE(has(refusal([&](Plan& p) { partly(p), p.policy = UnitPolicy::None, p.mesh = {}; }), "under 'fsdp'"));
    EXPECT_TRUE(has(refusal([](Plan& p) { p.fsdp.reduceInputs = 0; }), "expected 1 to 1000"));
    EXPECT_TRUE(has(refusal([](Plan& p) { p.fsdp.divideFactor = 0; }), "more than 0"));
    EXPECT_TRUE(has(refusal([](Plan& p) { p.fsdp.shareContext = true; }), "without a root"));
    EXPECT_TRUE(has(refusal([](Plan& p) { p.fsdp.notGatheredInBackward = {"blocks.9"}; }), "no unit 'blocks.9'"));
    EXPECT_TRUE(has(refusal([](Plan& p) { p.fsdp.notGatheredInBackward = {"blocks.0"}; }), "backward reads"));
    const auto wrap = [&](std::vector<std::vector<std::string>> units) {
        return refusal([&](Plan& p) {
            p.fsdp.wrap.kind = UnitWrap::Kind::List;
            p.fsdp.wrap.units = std::move(units);
        });
    };
    EXPECT_TRUE(has(wrap({{"block.1"}}), "no module 'block.1'"));
    EXPECT_TRUE(has(wrap({{"blocks"}}), "ModuleList"));
    EXPECT_TRUE(has(wrap({{"head"}, {"head"}}), "wrapped twice"));
    EXPECT_TRUE(has(wrap({{"blocks.0"}, {"blocks.0.fc1"}}), "wrapped after"));
    EXPECT_TRUE(has(wrap({{"blocks.0", "blocks.0.fc1"}}), "lies inside"));
    EXPECT_TRUE(has(wrap({{}}), "without modules"));
}

TEST(GraphOfPlans, whatNoMachineHoldsIsRefusedBeforeItIsBuilt) {
    const auto refusal = [](const Model& model, const Plan& plan) {
        const auto graph = buildStepGraph(model, plan);
        return graph ? Error{ErrorCode::Input, "built", "", ""} : graph.error();
    };
    Plan plan = fsdp(2);
    plan.microBatches = 65535;
    const Error batches = refusal(toy(100), plan);
    EXPECT_EQ(batches.code, ErrorCode::Unsupported);
    EXPECT_NE(batches.message.find("65535 micro-batches has about"), std::string::npos) << batches.message;
    EXPECT_NE(batches.message.find("at most 400000"), std::string::npos) << batches.message;
    EXPECT_NE(batches.hint.find("training.global_batch_size"), std::string::npos) << batches.hint;
    // A thousand stages: the bound is lower, because every class of ranks is followed on its own.
    const Error stages = refusal(toy(1000), naive(1000, 8));
    EXPECT_EQ(stages.code, ErrorCode::Unsupported);
    EXPECT_NE(stages.message.find("at most 33554"), std::string::npos) << stages.message;
    EXPECT_NE(stages.hint.find("training.naive_micro_batch"), std::string::npos) << stages.hint;
    EXPECT_NE(refusal(toy(4000), naive(4000)).message.find("modules x stages"), std::string::npos);
    plan.mesh = {3000, 1, 1};
    plan.split = StageSplit::ByParameters;
    const auto split = splitStages(toy(3000), plan);
    ASSERT_FALSE(split);
    EXPECT_EQ(split.error().code, ErrorCode::Unsupported);
}

// The guard's estimate is taken before the graph is there; it has to be near what is built then.
TEST(GraphOfPlans, graphsBelowTheBoundAreBuiltAndTheEstimateIsNearTheirOps) {
    const auto estimate = [](const Model& model, Plan plan, std::int64_t fewer) {
        plan.microBatches = 60'000;
        const auto graph = buildStepGraph(model, plan);
        if (graph) return 0.0;
        const std::string& text = graph.error().message;
        return std::stod(text.substr(text.find("about ") + 6)) / 60'000 * static_cast<double>(fewer);
    };
    for (const std::int64_t blocks : {8, 30}) {
        Plan plan = fsdp(8);
        plan.microBatches = 20;
        const double sharded = static_cast<double>(built(toy(blocks), plan).ops.size());
        EXPECT_NEAR(estimate(toy(blocks), plan, 20) / sharded, 1, 0.25) << blocks;
        const double placed = static_cast<double>(built(toy(blocks), naive(8, 20)).ops.size());
        EXPECT_NEAR(estimate(toy(blocks), naive(8), 20) / placed, 1, 0.25) << blocks;
    }
}

TEST(GraphExport, dotAndDocumentNameEveryOp) {
    const Model model = toy(2);
    const StepGraph graph = built(model, fsdp(2));
    const std::string dot = toDot(graph, model);
    EXPECT_EQ(dot.rfind("digraph step {", 0), 0u);
    for (std::size_t i = 0; i < graph.ops.size(); ++i)
        EXPECT_NE(dot.find("o" + std::to_string(i) + " [label="), std::string::npos);
    const auto parsed = parseJson(writeJson(toDocument(graph, model)), "graph");
    ASSERT_TRUE(parsed);
    EXPECT_EQ(parsed->find("classes")->items[0].find("ops")->items.size(), graph.ops.size());
    EXPECT_EQ(parsed->find("schema")->text, "shardscope.step_graph");
    EXPECT_EQ(parsed->find("units")->items.size(), graph.units.size());
}

// What follows a class's memory looks at its own blocks alone.
TEST(GraphOfPlans, theBlocksOfAClassLieTogether) {
    const Model model = toy();
    for (const Plan& plan : {fsdp(4), naive(3, 2)}) {
        const StepGraph graph = built(model, plan);
        std::size_t next = 0;
        for (std::size_t c = 0; c < graph.classes.size(); ++c) {
            const ClassBlocks own = blocksOf(graph, ClassId(c));
            EXPECT_EQ(own.first, next);
            ASSERT_FALSE(own.blocks.empty());
            EXPECT_EQ(own.blocks.data(), graph.blocks.data() + own.first);
            for (const Block& block : own.blocks) EXPECT_EQ(block.rankClass, ClassId(c));
            next += own.blocks.size();
        }
        EXPECT_EQ(next, graph.blocks.size());
        EXPECT_TRUE(blocksOf(graph, ClassId(graph.classes.size())).blocks.empty());
    }
}

// GPT-2's head is its embedding's weight, and the only Linear of it (its other products are Conv1D).
TEST(OriginalDtype, IsAskedForByEveryModuleThatHoldsAParameter) {
    Workload workload;
    workload.sequence = 16;
    workload.dtype = DType::BF16;
    const auto model = buildModel(*namedDecoder("gpt2"), workload);
    ASSERT_TRUE(model) << describe(model.error());
    Plan plan = fsdp(2);
    plan.precision.param = DType::BF16;
    const auto originals = [&](const std::string& name) {
        plan.fsdp.originalDtype = {name};
        const auto graph = buildStepGraph(*model, plan);
        EXPECT_TRUE(graph) << (graph ? "" : describe(graph.error()));
        std::int64_t elements = 0;
        if (graph)
            for (const Unit& unit : graph->units) elements += unit.originalTrained;
        return elements;
    };
    // 50,257 x 768, and 12 blocks' two norms and the last one of 2 x 768.
    EXPECT_EQ(originals("Linear"), 50'257 * 768);
    EXPECT_EQ(originals("lm_head"), 50'257 * 768);
    EXPECT_EQ(originals("transformer.wte"), 50'257 * 768);
    EXPECT_EQ(originals("LayerNorm"), 25 * 2 * 768);
    const auto hintOf = [&](const std::string& name) {
        plan.fsdp.originalDtype = {name};
        const auto graph = buildStepGraph(*model, plan);
        return graph ? std::string("no error") : graph.error().hint;
    };
    // What a hint names can be asked for.
    EXPECT_EQ(hintOf("LayerNrom"), "the nearest name is 'LayerNorm'");
    EXPECT_EQ(hintOf("transformer.h.3.ln_9"), "the nearest name is 'transformer.h.3.ln_1'");
    EXPECT_EQ(hintOf("Droput"), "");
}

TEST(Stages, MoreThanThePartsOfAModelAreRefusedWithItsBlocks) {
    const Model model = toy(4);  // an embedding, four blocks, norm and head
    const auto graph = buildStepGraph(model, naive(static_cast<std::int64_t>(model.layers.size())));
    ASSERT_FALSE(graph);
    EXPECT_NE(graph.error().message.find(fmt::format("has 4 blocks, {} parts with what stands before and after them",
                                                     model.layers.size() - 1)),
              std::string::npos)
        << graph.error().message;
}

}  // namespace
}  // namespace shardscope::core
