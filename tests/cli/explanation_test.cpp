// simulate --explain: FSDP2's three steps with their sizes, and PyTorch that does the same.

#include <gtest/gtest.h>

#include "cli/face/load.h"
#include "cli/face/report.h"

namespace shardscope::cli {
namespace {

using core::Document;

core::Result<Report> reportOf(const std::string& what, const std::vector<std::string>& overrides,
                              const std::string& strategy) {
    const auto loaded = load(what, overrides);
    if (!loaded) return tl::unexpected(loaded.error());
    const auto resolved = core::resolve(loaded->scenario, loaded->inputs, std::vector<std::string>{strategy});
    if (!resolved) return tl::unexpected(resolved.error());
    return evaluate(*resolved, loaded->source);
}

core::Result<Report> fsdp(const std::vector<std::string>& overrides) {
    return reportOf(SHARDSCOPE_SOURCE_DIR "/examples/lecture.toml", overrides, "fsdp");
}

std::string explained(const std::vector<std::string>& overrides, const std::string& strategy = "fsdp",
                      const std::string& what = SHARDSCOPE_SOURCE_DIR "/examples/lecture.toml") {
    const auto report = reportOf(what, overrides, strategy);
    if (!report) return core::describe(report.error());
    return explanation(*report, report->plans[0]);
}

TEST(Explanation, ShowsUnitsRootAndCalls) {
    const std::string text = explained({});
    // The lecture's root has 358,666 parameters, 816,396 padded on 4 ranks (framework semantics 1.7).
    for (const char* part : {"358,666", "816,396", "encoder.pos_embedding [1, 197, 768]", "for i in range(12)",
                             "fully_shard(model, mesh=mesh, mp_policy=policy)", "param_dtype=torch.bfloat16"})
        EXPECT_NE(text.find(part), std::string::npos) << part << "\n" << text;
}

TEST(Explanation, WritesPrefetchListsDtypesAndUnitsOfSeveralBlocksAsCalls) {
    const std::string text = explained({"parallelism.fsdp_forward_prefetch=2", "parallelism.fsdp_backward_prefetch=1",
                                        "parallelism.fsdp_root_prefetch=3", "precision.dtype=bfloat16",
                                        "parallelism.fsdp_blocks_per_unit=3"});
    for (const char* part : {"import torch\n", "model.to(torch.bfloat16)",
                             "for first in range(0, 12, 3):", "for i in range(first, first + 3)]",
                             "unit.set_modules_to_forward_prefetch(units[i + 1 : i + 3])",
                             "unit.set_modules_to_backward_prefetch(units[max(0, i - 1) : i][::-1])",
                             "model.set_modules_to_forward_prefetch(units[:3])",
                             "model.set_modules_to_backward_prefetch(units[-3:][::-1])",
                             "model.get_submodule(\"encoder.layers.encoder_layer_9\")]"})
        EXPECT_NE(text.find(part), std::string::npos) << part << "\n" << text;
    // What the default leaves out.
    const std::string plain = explained({});
    for (const char* part : {"prefetch(", "model.to(", "units ="})
        EXPECT_EQ(plain.find(part), std::string::npos) << part << "\n" << plain;
}

TEST(Explanation, WritesSwitchesAndTheLoopOverMicroBatches) {
    const std::string text =
        explained({"parallelism.fsdp_reduce_scatter_inputs=2", "parallelism.fsdp_separate_reduce_scatter_group=true",
                   "parallelism.fsdp_divide_factor=8", "parallelism.fsdp_force_sum=true",
                   "parallelism.fsdp_reshard_after_backward=false", "parallelism.fsdp_last_backward_only=true",
                   "training.gradient_sync=last", "training.local_batch_size=1", "training.global_batch_size=8"});
    for (const char* part :
         {"import FSDPModule", "set_reduce_scatter_max_input_buffers(2)", "set_separate_reduce_scatter_group()",
          "set_gradient_divide_factor(8.0)", "set_force_sum_reduction_for_comms(True)",
          "for i in range(2):  # micro-batches", "last = i == 1", "model.set_requires_gradient_sync(last)",
          "model.set_reshard_after_backward(last)", "model.set_is_last_backward(last)", "loss(i).backward()"})
        EXPECT_NE(text.find(part), std::string::npos) << part << "\n" << text;
    const std::string plain = explained({});
    for (const char* part : {"FSDPModule", "set_", "for i in range(1)"})
        EXPECT_EQ(plain.find(part), std::string::npos) << part << "\n" << plain;
}

TEST(Explanation, WritesWhatIsFrozen) {
    const std::string text = explained({R"(training.frozen=["conv_proj"])"});
    EXPECT_NE(text.find("name.startswith(\"conv_proj.\"): p.requires_grad_(False)"), std::string::npos) << text;
}

TEST(Explanation, SharesAContextWithoutARoot) {
    const std::string text = explained({"parallelism.fsdp_wrap_root=false", "parallelism.fsdp_share_context=true"});
    EXPECT_NE(text.find("share_comm_ctx(["), std::string::npos) << text;
}

TEST(Explanation, WritesCheckpointing) {
    const std::string text = explained({"training.activation_checkpoint=every", "training.checkpoint_every=3",
                                        "training.checkpoint_early_stop=false"});
    for (const char* part : {"type(m).__name__ == \"EncoderBlock\"][2::3]", "apply_activation_checkpointing(model",
                             "checkpoint_wrapper(m, early_stop=False)"})
        EXPECT_NE(text.find(part), std::string::npos) << part << "\n" << text;
    EXPECT_LT(text.find("apply_activation"), text.find("fully_shard(model.get"));
    EXPECT_EQ(explained({}).find("checkpoint"), std::string::npos);
}

TEST(Explanation, WrapsInnerUnitsBeforeTheUnitAroundThem) {
    const std::string text = explained({R"(parallelism.fsdp_wrap=["encoder.layers.encoder_layer_3", "encoder"])"});
    const std::size_t inner = text.find("fully_shard(model.get_submodule(\"encoder.layers.encoder_layer_3\")");
    const std::size_t outer = text.find("fully_shard(model.get_submodule(\"encoder\")");
    ASSERT_NE(inner, std::string::npos) << text;
    ASSERT_NE(outer, std::string::npos) << text;
    EXPECT_LT(inner, outer);
}

// Framework semantics 1.2: without a root no gather is prefetched in backward, and every unit's reduce-scatter input
// lives to the end of backward.
TEST(Explanation, TellsWhatAMissingRootCosts) {
    const auto with = fsdp({});
    const auto without = fsdp({"parallelism.fsdp_wrap_root=false"});
    ASSERT_TRUE(with && without);
    EXPECT_FALSE(with->plans[0].missingRoot);
    const PlanReport& plan = without->plans[0];
    ASSERT_TRUE(plan.missingRoot);
    EXPECT_EQ(plan.missingRoot->stepWithRootNs, with->plans[0].stepNs);
    EXPECT_EQ(plan.missingRoot->peakWithRoot, with->plans[0].tightest().memory.step.hostOrder.total);
    EXPECT_GT(plan.stepNs, plan.missingRoot->stepWithRootNs);
    // Twelve reduce-scatter inputs of 7,087,872 fp32 gradients at once, where one follows the other with the root.
    const std::int64_t inputs = std::int64_t{12} * 7'087'872 * 4;
    EXPECT_GE(plan.missingRoot->borrowed.value, inputs);
    EXPECT_LE(plan.missingRoot->borrowed.value, inputs + 2 * 7'087'872 * 4);
    EXPECT_LT(plan.missingRoot->borrowedWithRoot.value, inputs / 3);

    const std::string text = explanation(*without, plan);
    for (const char* part : {"no root", " ms a step", " GB (", "at the peak"})
        EXPECT_NE(text.find(part), std::string::npos) << part << "\n" << text;
    const Document document = reportDocument(*without);
    const Document* cost = document.find("plans")->items.at(0).find("missing_root");
    ASSERT_NE(cost, nullptr);
    EXPECT_EQ(cost->find("step_with_root_ns")->integer, with->plans[0].stepNs);
    EXPECT_EQ(reportDocument(*with).find("plans")->items.at(0).find("missing_root"), nullptr);
}

TEST(Explanation, NamesTheRootOfEveryStageAndGuardsItsModules) {
    const std::string text =
        explained({"parallelism.pipeline_parallel_degree=2", "parallelism.data_parallel_shard_degree=2",
                   "parallelism.fsdp_root_prefetch=1"});
    for (const char* part : {"the root of stage 0 owns", "the root of stage 1 owns", "kept from forward",
                             "own = dict(model.named_modules())", "in own:\n           fully_shard(",
                             "units = [own[name] for name in names if name in own]"})
        EXPECT_NE(text.find(part), std::string::npos) << part << "\n" << text;
}

TEST(Explanation, TellsWhatBelongsToNoUnitAndJoinsOnlyNeighbours) {
    const std::string text =
        explained({R"(parallelism.fsdp_wrap=["encoder.layers.encoder_layer_3", "encoder.layers.encoder_layer_5"])",
                   "parallelism.fsdp_wrap_root=false"});
    // 85,413,130 parameters, of which two blocks of 7,087,872 are wrapped.
    EXPECT_NE(text.find("71,237,386 parameters belong to no unit"), std::string::npos) << text;
    EXPECT_EQ(text.find(".. encoder.layers.encoder_layer_5"), std::string::npos) << text;
}

TEST(Explanation, OfOneGpuSpeaksOfNoOtherStage) {
    const auto loaded = load(SHARDSCOPE_SOURCE_DIR "/examples/lecture.toml");
    ASSERT_TRUE(loaded);
    const auto resolved = core::resolve(loaded->scenario, loaded->inputs, std::vector<std::string>{"single"});
    ASSERT_TRUE(resolved) << core::describe(resolved.error());
    const auto report = evaluate(*resolved, loaded->source);
    ASSERT_TRUE(report);
    const std::string text = explanation(*report, report->plans[0]);
    EXPECT_EQ(text.find("next stage"), std::string::npos) << text;
    EXPECT_NE(text.find("All layers on one GPU"), std::string::npos) << text;
}

// Compiled in place and before it is wrapped, so that the names of fully_shard's modules stay.
TEST(Explanation, CompilesEveryBlockBeforeItIsWrapped) {
    const std::string compiled = "model.get_submodule(f\"encoder.layers.encoder_layer_{i}\").compile()";
    const std::pair<const char*, const char*> wrapped[] = {{"fsdp", "fully_shard(model"}, {"ddp", "DDP(model"}};
    for (const auto& [strategy, wrap] : wrapped) {
        const std::string text = explained({"training.compile=true", "training.activation_checkpoint=full"}, strategy);
        ASSERT_NE(text.find(compiled), std::string::npos) << text;
        ASSERT_NE(text.find(wrap), std::string::npos) << text;
        EXPECT_LT(text.find(compiled), text.find(wrap));
        EXPECT_LT(text.find("apply_activation_checkpointing(model"), text.find(compiled));
        EXPECT_EQ(explained({}, strategy).find("compile"), std::string::npos);
    }
    EXPECT_NE(explained({"training.compile=true"}, "single").find(compiled), std::string::npos);
    const std::string flat = explained({"training.compile=true", "parallelism.fsdp_version=1"});
    EXPECT_NE(flat.find(compiled), std::string::npos) << flat;
    EXPECT_NE(flat.find("use_orig_params=True"), std::string::npos) << flat;
    const std::string staged = explained({"training.compile=true", "parallelism.pipeline_parallel_degree=2",
                                          "parallelism.data_parallel_shard_degree=2"});
    EXPECT_NE(staged.find("in dict(model.named_modules()): model.get_submodule(f"), std::string::npos) << staged;
}

TEST(Explanation, WritesAutocastOnlyWhereItIsSet) {
    for (const std::string strategy : {"ddp", "single"}) {
        const std::string with = explained({"precision.autocast=true"}, strategy);
        EXPECT_NE(with.find("with torch.autocast(\"cuda\", dtype=torch.bfloat16):"), std::string::npos) << with;
        EXPECT_EQ(with.find("_MixedPrecision"), std::string::npos) << with;
        EXPECT_EQ(explained({}, strategy).find("with torch.autocast"), std::string::npos);
        EXPECT_EQ(explained({"precision.mixed_precision_param=none"}, strategy).find("autocast"), std::string::npos);
    }
    const std::string ddp = explained({}, "ddp");
    EXPECT_NE(ddp.find("_MixedPrecision(param_dtype=torch.bfloat16, reduce_dtype=torch.float32)"), std::string::npos)
        << ddp;
}

TEST(Explanation, CountsASharedWeightOnceInAStage) {
    // GPT-2's embedding is its head as well: 124,439,808 parameters (framework semantics 9.3).
    const std::string text = explained({"cluster.gpu=h100-sxm"}, "single", "gpt2");
    EXPECT_NE(text.find("124,439,808"), std::string::npos) << text;
    EXPECT_EQ(text.find("163,037,184"), std::string::npos) << text;
}

}  // namespace
}  // namespace shardscope::cli
