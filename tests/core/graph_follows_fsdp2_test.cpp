// The graph against recordings of PyTorch 2.15 (tests/data/sharded, source named there).

#include <gtest/gtest.h>

#include <algorithm>

#include "core/graph/build.h"
#include "core/graph/host_memory.h"
#include "core/plan/sharding.h"
#include "tests/checkers/support/recorded_case.h"
#include "tests/checkers/support/recorded_events.h"

namespace shardscope::core {
namespace {

std::vector<Document> recordedCases() {
    auto cases = checkers::readJsonLines(SHARDSCOPE_TEST_DATA "/sharded/schedules.jsonl");
    EXPECT_TRUE(cases) << describe(cases.error());
    return cases ? *cases : std::vector<Document>{};
}

class RecordedSchedule : public testing::TestWithParam<std::string> {
protected:
    void SetUp() override {
        for (const Document& record : recordedCases())
            if (record.find("id")->text == GetParam()) m_record = record;
        ASSERT_EQ(m_record.kind, Document::Kind::Table);
        auto expressed = checkers::express(*m_record.find("config"));
        ASSERT_TRUE(expressed) << describe(expressed.error());
        m_case = std::move(*expressed);
    }
    Document m_record;
    checkers::ExpressedCase m_case;
};

TEST_P(RecordedSchedule, hostActionsAreThoseOfTheFrameworkEventByEvent) {
    const auto graph = buildStepGraph(m_case.model, m_case.plan);
    ASSERT_TRUE(graph) << describe(graph.error());
    const auto ours = checkers::renderEvents(*graph, graph->classes[0], m_case.model, m_case.observed);
    const auto& steps = m_record.find("steps")->items;
    ASSERT_FALSE(steps.empty());
    for (const Document& step : steps) {
        const auto recorded = checkers::recordedEvents(step);
        ASSERT_GT(recorded.size(), 20u);
        for (std::size_t e = 0; e < std::min(ours.size(), recorded.size()); ++e) ASSERT_EQ(ours[e], recorded[e]) << e;
        EXPECT_EQ(ours.size(), recorded.size());
    }
}

// Bytes at the recorded events; README of the recordings: gradients count from the end of their unit's backward on.
TEST_P(RecordedSchedule, bytesInHostOrderAreTheRecordedOnes) {
    const auto graph = buildStepGraph(m_case.model, m_case.plan);
    ASSERT_TRUE(graph);
    std::int64_t gather = 0, unsharded = 0, both = 0, inputs = 0, total = 0, inputsNow = 0;
    std::vector<std::int64_t> gradients(graph->units.size(), 0);
    UnitId reducing;
    HostMemoryCursor cursor(*graph, graph->classes[0]);
    // What stays whole without a root is no unsharded parameter of FSDP2.
    const std::int64_t whole = m_case.plan.fsdp.wrap.root ? 0 : cursor.live()[MemoryCategory::UnshardedParameters];
    while (const HostAction* action = cursor.next()) {
        if (action->kind == HostActionKind::Allocate || action->kind == HostActionKind::Release) {
            const Block& block = graph->blocks[action->block.index()];
            const std::int64_t change =
                action->kind == HostActionKind::Allocate ? block.bytes.value : -block.bytes.value;
            const bool onCompute = graph->streams[block.pool].kind == StreamKind::Compute;
            if (block.category == MemoryCategory::ReduceBuffers && onCompute) inputsNow += change;
            if (block.category == MemoryCategory::UnshardedGradients && block.unit.valid())
                gradients[block.unit.index()] += change;
        }
        if (action->kind == HostActionKind::Mark && action->mark == Mark::PostBackward) reducing = action->unit;
        if (action->kind == HostActionKind::Mark && action->mark == Mark::ReduceIssued) reducing = {};
        // Only whole events are recorded: look at the last action before the next mark.
        const std::uint32_t next = graph->classes[0].actionBegin + cursor.position();
        if (next < graph->classes[0].actionEnd && graph->actions[next].kind != HostActionKind::Mark) continue;
        const std::int64_t g = cursor.live()[MemoryCategory::GatherBuffers];
        const std::int64_t u = cursor.live()[MemoryCategory::UnshardedParameters] - whole;
        gather = std::max(gather, g);
        unsharded = std::max(unsharded, u);
        both = std::max(both, g + u);
        inputs = std::max(inputs, inputsNow);
        total = std::max(total, g + u + inputsNow + (reducing.valid() ? gradients[reducing.index()] : 0));
    }
    const Document& recorded = *m_record.find("steps")->items.back().find("host_order_bytes");
    EXPECT_EQ(gather, recorded.find("gather_buffers")->integer);
    EXPECT_EQ(unsharded, recorded.find("unsharded")->integer);
    EXPECT_EQ(both, recorded.find("gather_plus_unsharded")->integer);
    EXPECT_EQ(inputs, recorded.find("rs_inputs")->integer);
    EXPECT_EQ(total, recorded.find("total")->integer);
}

INSTANTIATE_TEST_SUITE_P(Cases, RecordedSchedule,
                         testing::Values("blocks2_raf_true", "blocks3_w1", "blocks3_no_root_wrap", "emb_head_units",
                                         "nested_stage_bare", "nested_attn_mlp", "blocks2_raf_int2_root_int2_w4",
                                         "mp_f16_f16_w4", "mp_bf16_noreduce", "fwd1_bwd1_root1", "accum2_sync_every",
                                         "tied_group_emb_head"),
                         [](const auto& param) { return param.param; });

TEST(RecordedRefusal, aWeightTiedAcrossUnitsIsRefused) {
    for (const Document& record : recordedCases()) {
        if (record.find("id")->text != "tied_split_units") continue;
        const auto expressed = checkers::express(*record.find("config"));
        ASSERT_TRUE(expressed);
        const auto graph = buildStepGraph(expressed->model, expressed->plan);
        ASSERT_FALSE(graph);
        EXPECT_NE(graph.error().message.find("emb.weight"), std::string::npos);
        return;
    }
    FAIL() << "the case is gone";
}

TEST(RecordedShapes, shardsAndPaddingsAreTheRecordedOnes) {
    const auto text = checkers::readFile(SHARDSCOPE_TEST_DATA "/sharded/shapes.json");
    ASSERT_TRUE(text);
    const auto file = parseJson(*text, "shapes.json");
    ASSERT_TRUE(file);
    const auto shapeOf = [](const Document& list) {
        Shape shape;
        for (const Document& item : list.items) shape.push_back(item.integer);
        return shape;
    };
    std::size_t compared = 0;
    for (const Document& entry : file->find("single")->items) {
        const Shape shape = shapeOf(*entry.find("shape"));
        const std::int64_t world = entry.find("world")->integer;
        for (std::int64_t r = 0; r < world; ++r, ++compared)
            EXPECT_EQ(shardShape(shape, world, r), shapeOf(entry.find("local")->items[static_cast<std::size_t>(r)]));
        EXPECT_EQ(paddedShardShape(shape, world), shapeOf(*entry.find("padded_shard")));
    }
    EXPECT_GT(compared, 10u);
    for (const auto& [ranks, divisors] : file->find("fp16_pre_post_divisors")->members) {
        EXPECT_EQ(fp16Divisors(std::stoll(ranks)).pre, divisors.items[0].number()) << ranks;
        EXPECT_EQ(fp16Divisors(std::stoll(ranks)).post, divisors.items[1].number()) << ranks;
    }
}

}  // namespace
}  // namespace shardscope::core
