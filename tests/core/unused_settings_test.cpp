// Settings that change nothing are named, and strategies that cannot be are left out of a comparison.

#include "core/scenario/unused_settings.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <fstream>
#include <iterator>

#include "core/model/module_tree.h"
#include "core/model/named_decoders.h"
#include "core/model/vit.h"

namespace shardscope::core {
namespace {

using Keys = std::vector<std::string>;

Scenario scenarioOf(const std::string& toml) {
    auto scenario = parseScenario(*parseToml(toml, "s.toml"), "s.toml");
    EXPECT_TRUE(scenario) << (scenario ? "" : describe(scenario.error()));
    return scenario ? std::move(*scenario) : Scenario{};
}

ModelSpec toyMlp() {
    const std::string path = SHARDSCOPE_SOURCE_DIR "/examples/models/toy_mlp.toml";
    std::ifstream file(path);
    const std::string text((std::istreambuf_iterator<char>(file)), {});
    const auto tree = readModuleTree(*parseToml(text, path), path);
    EXPECT_TRUE(tree) << (tree ? "" : describe(tree.error()));
    return *tree;
}

Keys unused(const std::string& toml, const Keys& strategies, const ModelSpec& model = VitSpec{}) {
    const auto resolved = resolve(scenarioOf(toml), {model, std::nullopt, ""}, strategies);
    EXPECT_TRUE(resolved) << (resolved ? "" : describe(resolved.error()));
    return resolved ? resolved->unused : Keys{"refused"};
}

TEST(UnusedSettings, AreThoseThatNoPlanOfTheAnswerUses) {
    const std::string fsdps = "[parallelism]\nfsdp_shard_dim1 = [\"heads\"]\nfsdp_force_sum = true\n";
    EXPECT_EQ(unused(fsdps, {"naive"}), (Keys{"parallelism.fsdp_shard_dim1", "parallelism.fsdp_force_sum"}));
    EXPECT_EQ(unused(fsdps, {"fsdp"}), Keys{});
    EXPECT_EQ(unused(fsdps, {"naive", "fsdp"}), Keys{}) << "one of the two uses them";
    EXPECT_EQ(unused("[parallelism]\nddp_bucket_cap_mb = 50\n", {"naive", "fsdp"}),
              (Keys{"parallelism.ddp_bucket_cap_mb"}));
    EXPECT_EQ(unused("[parallelism]\nddp_bucket_cap_mb = 0\n", {"fsdp"}), Keys{}) << "its default";
    EXPECT_EQ(unused("[parallelism]\nfsdp1_limit_all_gathers = false\n", {"fsdp"}),
              (Keys{"parallelism.fsdp1_limit_all_gathers"}));
    EXPECT_EQ(unused("[parallelism]\nfsdp1_limit_all_gathers = false\nfsdp_version = 1\n", {"fsdp"}), Keys{});
    EXPECT_EQ(unused("[training]\ngradient_sync = \"last\"\ncheckpoint_every = 3\n", {"fsdp"}),
              (Keys{"training.gradient_sync", "training.checkpoint_every"}))
        << "one micro-batch, nothing checkpointed";
    EXPECT_EQ(unused("[training]\nstep_kind = \"evaluate\"\nclip_grad_norm = true\n", {"fsdp"}),
              (Keys{"training.clip_grad_norm"}));
    const std::string fused = "[model]\nrms_norm = \"fused\"\n";
    EXPECT_EQ(unused(fused, {"fsdp"}), (Keys{"model.rms_norm"})) << "a vision transformer has none";
    EXPECT_EQ(unused(fused, {"fsdp"}, *namedDecoder("llama-3.2-1b")), Keys{});
}

TEST(UnusedSettings, OfModelAndPrecisionAreThoseThatMakeNoOtherKernels) {
    const ModelSpec vit = VitSpec{}, llama = *namedDecoder("llama-3.2-1b");
    const std::string reduce = "[precision]\nmixed_precision_reduce = \"bfloat16\"\n";
    EXPECT_EQ(unused(reduce, {"ddp"}), (Keys{"precision.mixed_precision_reduce"})) << "DDP averages as backward makes";
    EXPECT_EQ(unused(reduce, {"naive", "fsdp"}), Keys{});
    EXPECT_EQ(unused("[training]\nstep_kind = \"evaluate\"\n" + reduce, {"fsdp"}),
              (Keys{"precision.mixed_precision_reduce"}));
    EXPECT_EQ(unused("[model]\ndropout = \"off\"\n", {"fsdp"}, vit), (Keys{"model.dropout"})) << "it has none";
    EXPECT_EQ(unused("[model]\ndropout = \"on\"\n", {"fsdp"}, vit), Keys{});
    for (const char* attention : {"math", "efficient", "cudnn"})
        EXPECT_EQ(unused(fmt::format("[model]\nattention = \"{}\"\n", attention), {"fsdp"}, llama), Keys{})
            << attention;
    EXPECT_EQ(unused("[model]\nkernel_rules = \"cpu\"\n", {"fsdp"}, vit), Keys{});
    EXPECT_EQ(unused("[model]\nattention = \"math\"\n", {"fsdp"}, toyMlp()), (Keys{"model.attention"}))
        << "linear layers alone";
}

TEST(ResolveSome, LeavesOutAStrategyThatCannotBeAsLongAsTwoRemain) {
    // Four micro-batches of 3 are no eight samples.
    const std::string odd = "[training]\nlocal_batch_size = 1\nglobal_batch_size = 8\nnaive_micro_batch = 3\n";
    const ScenarioInputs inputs{VitSpec{}, std::nullopt, ""};
    const Scenario scenario = scenarioOf(odd);
    const auto some = resolveSome(scenario, inputs, Keys{"naive", "fsdp", "ddp"});
    ASSERT_TRUE(some) << describe(some.error());
    ASSERT_EQ(some->cases.size(), 2u);
    EXPECT_EQ(some->cases[0].plan.name, "fsdp");
    ASSERT_EQ(some->refused.size(), 1u);
    EXPECT_EQ(some->refused[0].strategy, "naive");
    EXPECT_EQ(some->refused[0].error.where, resolve(scenario, inputs, Keys{"naive"}).error().where);
    EXPECT_FALSE(resolveSome(scenario, inputs, Keys{"naive", "fsdp"})) << "nothing to compare with is left";
    EXPECT_FALSE(resolveSome(scenarioOf("[model]\nheads = 7\n"), inputs, Keys{"naive", "fsdp", "ddp"}));
}

}  // namespace
}  // namespace shardscope::core
