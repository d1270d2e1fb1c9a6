// simulate --why-memory and --why-idle: every figure of the answers holds in the simulated step.

#include <gtest/gtest.h>

#include <algorithm>

#include "cli/face/load.h"
#include "cli/face/why_idle.h"
#include "cli/face/why_memory.h"

namespace shardscope::cli {
namespace {

using core::Document;
using timeline::FlowReason;
using timeline::kNoIndex;

struct Answer {
    Loaded loaded;
    Report report;
    [[nodiscard]] const PlanReport& plan() const { return report.plans.front(); }
};

Answer answerOf(const std::string& what, std::vector<std::string> overrides, const std::string& strategy) {
    auto loaded = load(what, overrides);
    EXPECT_TRUE(loaded);
    const auto resolved = core::resolve(loaded->scenario, loaded->inputs, std::vector<std::string>{strategy});
    EXPECT_TRUE(resolved) << core::describe(resolved.error());
    auto report = evaluate(*resolved, loaded->source);
    EXPECT_TRUE(report) << core::describe(report.error());
    return {std::move(*loaded), std::move(*report)};
}

Answer lecture(const std::string& strategy, std::vector<std::string> overrides = {}) {
    return answerOf(SHARDSCOPE_SOURCE_DIR "/examples/lecture.toml", std::move(overrides), strategy);
}

Answer llama() {
    return answerOf("llama-3.1-8b", {"cluster.gpu=h100-sxm", "parallelism.data_parallel_shard_degree=8"}, "fsdp");
}

WhyMemory memoryOf(const Answer& answer) {
    auto why = whyMemory(answer.loaded, answer.report);
    EXPECT_TRUE(why) << core::describe(why.error());
    return std::move(*why);
}

TEST(WhyMemory, SaysWhatTheReportSays) {
    for (const Answer& answer : {lecture("naive"), lecture("fsdp"), lecture("ddp"), llama()}) {
        const WhyMemory why = memoryOf(answer);
        const ClassReport& fullest = answer.plan().classes[why.fullest];
        EXPECT_EQ(&fullest, &answer.plan().tightest());
        const sim::StepMemory& step = fullest.memory.step;
        EXPECT_EQ(why.allocated.bytes, step.hostOrder.total.value);
        EXPECT_EQ(why.inUse.bytes, step.deviceTime.total.value);
        EXPECT_EQ(why.inUse.atNs, step.deviceTimePeakAt);
        EXPECT_EQ(why.stays, step.atStart.total().value);
        EXPECT_GT(why.allocated.atNs, 0);
        EXPECT_LT(why.allocated.atNs, answer.plan().stepNs);
        std::int64_t reserved = 0;
        for (const auto& [stream, bytes] : why.reservedOf) reserved += bytes;
        EXPECT_EQ(reserved, step.reserved.value);
    }
}

// Framework semantics 1.4: while a unit's backward runs, the gather of the one before it in forward is under way; the
// root is not resharded (1.2). 7,087,872 parameters a block, in bfloat16.
TEST(WhyMemory, NamesTheUnitsThatAreWholeAtThePeak) {
    const WhyMemory why = memoryOf(lecture("fsdp"));
    ASSERT_EQ(why.gathered.size(), 3u);
    EXPECT_EQ(why.gathered[0].unit, "encoder.layers.encoder_layer_10");
    EXPECT_EQ(why.gathered[0].bytes, 7'087'872 * 2);
    EXPECT_EQ(why.gathered[0].why, "prefetched by backward beside the unit whose turn it is");
    EXPECT_EQ(why.gathered[1].unit, "encoder.layers.encoder_layer_11");
    EXPECT_EQ(why.gathered[1].bytes, 7'087'872 * 2);
    EXPECT_EQ(why.gathered[1].why, "its own turn");
    EXPECT_EQ(why.gathered[2].unit, "root");
    EXPECT_EQ(why.gathered[2].why, "whole since forward, as it is not resharded after forward");
    EXPECT_TRUE(memoryOf(lecture("naive")).gathered.empty());
}

TEST(WhyMemory, EveryRemedyGivesWhatItSaysWhenItIsSet) {
    for (const std::string strategy : {"naive", "fsdp", "ddp"}) {
        const Answer now = lecture(strategy);
        const WhyMemory why = memoryOf(now);
        ASSERT_FALSE(why.remedies.empty());
        std::int64_t before = 0;
        for (const Remedy& remedy : why.remedies) {
            SCOPED_TRACE(remedy.set.front());
            EXPECT_LT(remedy.neededBytes, now.plan().tightest().memory.needed());
            EXPECT_GE(remedy.neededBytes, before);
            before = remedy.neededBytes;
            const bool other = remedy.set.front() == "parallelism.strategy=fsdp";
            const Answer then = lecture(other ? "fsdp" : strategy, remedy.set);
            EXPECT_EQ(then.plan().tightest().memory.needed(), remedy.neededBytes);
            EXPECT_EQ(then.plan().tightest().memory.step.hostOrder.total.value, remedy.allocatedBytes);
            EXPECT_EQ(then.plan().stepNs, remedy.stepNs);
            EXPECT_EQ(then.report.globalBatch, now.report.globalBatch);
        }
    }
}

TEST(WhyMemory, OnTwiceAsManyGpusShardsTakeHalf) {
    const Answer now = llama();
    const auto wide = memoryOf(now).onMoreGpus;
    ASSERT_TRUE(wide);
    EXPECT_EQ(wide->ranks, 16);
    EXPECT_EQ(wide->globalBatch, 16);
    const Answer then = answerOf("llama-3.1-8b", {"cluster.gpu=h100-sxm", wide->remedy.set.front()}, "fsdp");
    EXPECT_EQ(then.plan().tightest().memory.needed(), wide->remedy.neededBytes);
    // Sharded parameters and the optimizer's state, 12 bytes a parameter, by 8 and by 16.
    const std::int64_t half = 12 * now.report.parameters / 16;
    const std::int64_t less = now.plan().tightest().memory.step.hostOrder.total.value - wide->remedy.allocatedBytes;
    EXPECT_NEAR(static_cast<double>(less), static_cast<double>(half), 1e-3 * static_cast<double>(half));
    EXPECT_FALSE(memoryOf(lecture("naive")).onMoreGpus);
}

TEST(WhyMemory, KnowsNoRemedyThatIsTakenAlready) {
    const WhyMemory why = memoryOf(lecture("fsdp", {"training.activation_checkpoint=full"}));
    for (const Remedy& remedy : why.remedies)
        EXPECT_EQ(remedy.set.front().find("activation_checkpoint"), std::string::npos);
}

TEST(WhyMemory, AnswersInSentencesAndAsData) {
    const Answer answer = llama();
    const WhyMemory why = memoryOf(answer);
    const std::string text = whyMemoryText(answer.report, why);
    for (const char* part : {"Why a GPU of fsdp needs 41.4 GiB", "are ranks 0 to 7 (all ranks)", "backward loss",
                             "phase backward", "activations           15.3 GiB  53.7 %", "Reserved against allocated",
                             "root (1.96 GiB): whole since forward", "training.activation_checkpoint=full"})
        EXPECT_NE(text.find(part), std::string::npos) << part << "\n" << text;
    const Document document = whyMemoryDocument(answer.report, why);
    EXPECT_EQ(document.find("needed_bytes")->integer, answer.plan().tightest().memory.needed());
    EXPECT_EQ(document.find("gathered")->items.at(0).find("unit")->text, "root");
    EXPECT_EQ(document.find("remedies")->items.size(), why.remedies.size());
}

TEST(WhyIdle, StretchesAreAllThatIsNotCompute) {
    for (const Answer& answer : {lecture("naive"), lecture("fsdp"), lecture("ddp"), llama()}) {
        const PlanReport& plan = answer.plan();
        const WhyIdle why = whyIdle(plan);
        ASSERT_EQ(why.classes.size(), plan.classes.size());
        for (const IdleClass& one : why.classes) {
            const ClassReport& rank = plan.classes[one.row];
            std::int64_t blamed = 0, stretched = 0;
            for (const timeline::CauseTotal& cause : one.causes) blamed += cause.time;
            EXPECT_EQ(blamed, plan.stepNs - rank.times.compute);
            ASSERT_LT(one.waits.size(), 8u);  // none is left out
            for (std::size_t i = 0; i < one.waits.size(); ++i) {
                const LongWait& wait = one.waits[i];
                stretched += wait.alikeNs;
                std::int64_t causes = 0;
                for (const timeline::CauseTotal& cause : wait.causes) causes += cause.time;
                EXPECT_EQ(causes, wait.endNs - wait.beginNs);
                EXPECT_LE(wait.alikeNs, one.waits[i > 0 ? i - 1 : 0].alikeNs);
                std::int64_t until = wait.endNs;
                for (const WaitLink& link : wait.chain) {
                    EXPECT_LE(link.untilNs, until);
                    EXPECT_GT(link.untilNs, wait.beginNs);
                    until = link.untilNs;
                }
            }
            EXPECT_EQ(stretched, plan.stepNs - rank.times.compute) << plan.name << " " << rank.name;
        }
    }
}

// Naive placement of four stages: the first waits from its last forward to its first gradient; one other stage computes
// at any instant of that, but for the messages.
TEST(WhyIdle, NaivesFirstStageWaitsForTheSecondsGradient) {
    const Answer answer = lecture("naive");
    const PlanReport& plan = answer.plan();
    const timeline::Timeline& t = plan.timeline;
    const IdleClass first = whyIdle(plan).classes.at(0);
    EXPECT_EQ(first.causes.front().cause, timeline::Cause::DownstreamStage);
    const LongWait& wait = first.waits.at(0);
    EXPECT_EQ(wait.alike, 4);  // one a micro-batch
    ASSERT_GE(wait.chain.size(), 3u);
    EXPECT_EQ(static_cast<timeline::Activity>(t.spans.activity[wait.chain[0].span]), timeline::Activity::Receive);
    EXPECT_EQ(wait.chain[0].untilNs, wait.endNs);
    EXPECT_EQ(wait.chain[1].reason, FlowReason::Peer);
    EXPECT_EQ(t.lanes[t.spans.lane[wait.chain[1].span]].rankIndex, 1u);
    EXPECT_EQ(t.strings[t.spans.name[wait.chain[2].span]], "backward encoder.layers.encoder_layer_3");
    std::int64_t others = 0;
    for (const auto& [row, time] : wait.meanwhile) others += time;
    EXPECT_EQ(wait.meanwhile.size(), 3u);
    EXPECT_LE(others, wait.endNs - wait.beginNs);
    EXPECT_GT(others * 10, (wait.endNs - wait.beginNs) * 9);
}

TEST(WhyIdle, FsdpsChainLeadsFromTheOptimizerToTheRootsReduction) {
    const Answer answer = llama();
    const timeline::Timeline& t = answer.plan().timeline;
    const LongWait wait = whyIdle(answer.plan()).classes.at(0).waits.at(0);
    ASSERT_NE(wait.next, kNoIndex);
    EXPECT_EQ(t.strings[t.spans.name[wait.next]], "optimizer step");
    ASSERT_FALSE(wait.chain.empty());
    for (const WaitLink& link : wait.chain)
        EXPECT_TRUE(link.span == kNoIndex || t.strings[t.spans.unit[link.span]] == "root");
}

TEST(WhyIdle, AnswersInSentencesAndAsData) {
    const Answer answer = lecture("naive");
    const WhyIdle why = whyIdle(answer.plan());
    const std::string text = whyIdleText(answer.plan(), why);
    for (const char* part : {"Over all 4 GPUs: 25.4 % of every step computes", "stage 0, rank 0: computes",
                             "could not move before its other side", "the longest of each kind", "4 of this kind take",
                             "pipeline bubble", "Meanwhile stage 1 computes"})
        EXPECT_NE(text.find(part), std::string::npos) << part << "\n" << text;
    EXPECT_EQ(text.find(" 0 ns"), std::string::npos) << text;
    const Document document = whyIdleDocument(answer.plan(), why);
    const Document& stage = document.find("classes")->items.at(0);
    EXPECT_EQ(stage.find("compute_ns")->integer, answer.plan().classes[0].times.compute);
    const Document& wait = stage.find("longest_waits")->items.at(0);
    EXPECT_EQ(wait.find("alike")->integer, 4);
    EXPECT_EQ(wait.find("chain")->items.at(1).find("reason")->text, timeline::nameOf(FlowReason::Peer));
}

TEST(WhyIdle, OneGpuHasNobodyToWaitFor) {
    const Answer answer = lecture("single");
    const WhyIdle why = whyIdle(answer.plan());
    for (const LongWait& wait : why.classes.at(0).waits) EXPECT_TRUE(wait.meanwhile.empty());
    EXPECT_NE(whyIdleText(answer.plan(), why).find("Over all 1 GPU:"), std::string::npos);
}

// The limit keeps two freed units at most (framework semantics 1.18).
TEST(WhyMemory, OffersFsdp1sLimitWhereItIsOff) {
    const std::vector<std::string> flat{"parallelism.fsdp_version=1"};
    std::vector<std::string> unlimited = flat;
    unlimited.emplace_back("parallelism.fsdp1_limit_all_gathers=false");
    const Answer with = lecture("fsdp", flat), without = lecture("fsdp", unlimited);
    const auto offered = [](const Answer& answer) {
        std::int64_t bytes = 0;
        for (const Remedy& remedy : memoryOf(answer).remedies)
            if (remedy.set.front() == "parallelism.fsdp1_limit_all_gathers=true") bytes = remedy.neededBytes;
        return bytes;
    };
    ASSERT_GT(without.plan().tightest().memory.needed(), with.plan().tightest().memory.needed());
    EXPECT_EQ(offered(without), with.plan().tightest().memory.needed());
    EXPECT_EQ(offered(with), 0);
}

TEST(WhyIdle, NamesTheAllReduceOfDdpAndOfReplicas) {
    // Over a network, so that something is waited for.
    const std::vector<std::string> slow{"cluster.gpu=t4", "cluster.nodes=4", "cluster.gpus_per_node=1"};
    std::vector<std::string> replicas = slow;
    replicas.insert(replicas.end(),
                    {"parallelism.data_parallel_replicate_degree=2", "parallelism.data_parallel_shard_degree=2"});
    for (const Answer& answer : {lecture("ddp", slow), lecture("fsdp", replicas)}) {
        const std::string text = whyIdleText(answer.plan(), whyIdle(answer.plan()));
        EXPECT_NE(text.find("all-reduce"), std::string::npos) << text;
        EXPECT_EQ(text.find("collective of"), std::string::npos) << text;
    }
}

}  // namespace
}  // namespace shardscope::cli
