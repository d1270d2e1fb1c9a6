// The graph against recordings of PyTorch 2.15 (tests/data/sharded, source named there).

#include <gtest/gtest.h>

#include <algorithm>

#include "core/graph/build.h"
#include "core/plan/sharding.h"
#include "tests/checkers/support/recorded_case.h"
#include "tests/checkers/support/recorded_events.h"
#include "tests/checkers/support/recorded_memory.h"

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
    [[nodiscard]] Plan planOfStep(const Document& step) const {
        return checkers::planOfStep(m_case, *m_record.find("config"), step.find("step")->integer);
    }
    Document m_record;
    checkers::ExpressedCase m_case;
};

TEST_P(RecordedSchedule, hostActionsAreThoseOfTheFrameworkEventByEvent) {
    const auto& steps = m_record.find("steps")->items;
    ASSERT_FALSE(steps.empty());
    for (const Document& step : steps) {
        const auto graph = buildStepGraph(m_case.model, planOfStep(step));
        ASSERT_TRUE(graph) << describe(graph.error());
        const auto ours = checkers::renderEvents(*graph, graph->classes[0], m_case.model, m_case.observed);
        const auto recorded = checkers::recordedEvents(step);
        ASSERT_GT(recorded.size(), 20u);
        for (std::size_t e = 0; e < std::min(ours.size(), recorded.size()); ++e) ASSERT_EQ(ours[e], recorded[e]) << e;
        EXPECT_EQ(ours.size(), recorded.size());
    }
}

// Bytes at the recorded events; README of the recordings: gradients count from the end of their unit's backward on.
TEST_P(RecordedSchedule, bytesInHostOrderAreTheRecordedOnes) {
    const Document& step = m_record.find("steps")->items.back();
    const auto graph = buildStepGraph(m_case.model, planOfStep(step));
    ASSERT_TRUE(graph);
    const checkers::HostOrderBytes ours = checkers::hostOrderBytes(*graph, graph->classes[0]);
    const Document& recorded = *step.find("host_order_bytes");
    EXPECT_EQ(ours.gatherBuffers, recorded.find("gather_buffers")->integer);
    EXPECT_EQ(ours.unsharded, recorded.find("unsharded")->integer);
    EXPECT_EQ(ours.gatherPlusUnsharded, recorded.find("gather_plus_unsharded")->integer);
    EXPECT_EQ(ours.reduceInputs, recorded.find("rs_inputs")->integer);
    EXPECT_EQ(ours.total, recorded.find("total")->integer);
}

INSTANTIATE_TEST_SUITE_P(Cases, RecordedSchedule,
                         testing::Values("blocks2_raf_true", "blocks3_w1", "blocks3_no_root_wrap", "emb_head_units",
                                         "nested_stage_bare", "nested_attn_mlp", "blocks2_raf_int2_root_int2_w4",
                                         "mp_f16_f16_w4", "mp_bf16_noreduce", "mp_override_norm_f32", "fwd1_bwd1_root1",
                                         "accum2_sync_every", "tied_group_emb_head", "accum2_nosync",
                                         "accum2_nosync_mp", "accum2_nosync_keep_params",
                                         "accum3_sync_keep_params_last_flag", "hsdp_accum2_rs_only", "hsdp_force_sum",
                                         "hsdp_1x2", "rs_buffers2", "separate_rs_group", "unshard_async_op_pf1",
                                         "manual_finalize", "emb_no_unshard_in_backward", "blocks3_no_root_share_ctx",
                                         "frozen_block", "frozen_weights_in_unit", "frozen_prefix",
                                         "ac_inside_no_early_stop", "ac_nested_attn_mlp_inside", "adamw_clip",
                                         "offload_nopin_mp", "shard_dim1"),
                         [](const auto& param) { return param.param; });

// Their recorded bytes leave out what the step before has left gathered.
class RecordedEvaluation : public RecordedSchedule {};

TEST_P(RecordedEvaluation, hostActionsAreThoseOfTheFrameworkEventByEvent) {
    std::size_t compared = 0;
    for (const Document& step : m_record.find("steps")->items) {
        const auto graph = buildStepGraph(m_case.model, planOfStep(step));
        ASSERT_TRUE(graph) << describe(graph.error());
        const auto recorded = checkers::recordedEvents(step);
        EXPECT_EQ(checkers::renderEvents(*graph, graph->classes[0], m_case.model, m_case.observed), recorded);
        compared += recorded.size();
    }
    EXPECT_GT(compared, 40u);
}

INSTANTIATE_TEST_SUITE_P(Cases, RecordedEvaluation,
                         testing::Values("eval_no_grad", "eval_no_grad_raf_false", "int2_eval_w4", "train_after_eval"),
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
        EXPECT_EQ(fp16Divisors(std::stod(ranks)).pre, divisors.items[0].number()) << ranks;
        EXPECT_EQ(fp16Divisors(std::stod(ranks)).post, divisors.items[1].number()) << ranks;
    }
}

}  // namespace
}  // namespace shardscope::core
