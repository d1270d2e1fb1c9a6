#include "core/scenario/resolve.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "core/graph/build.h"
#include "core/model/module_tree.h"
#include "core/model/named_decoders.h"
#include "core/model/vit.h"

namespace shardscope::core {
namespace {

Result<Resolved> resolved(const std::string& toml, std::vector<std::string> strategies = {},
                          ModelSpec model = VitSpec{}) {
    auto document = parseToml(toml, "s.toml");
    if (!document) return tl::unexpected(document.error());
    auto scenario = parseScenario(*document, "s.toml");
    if (!scenario) return tl::unexpected(scenario.error());
    return resolve(*scenario, {std::move(model), std::nullopt, ""}, strategies);
}

Error errorOf(const std::string& toml, std::vector<std::string> strategies = {}, ModelSpec model = VitSpec{}) {
    const auto result = resolved(toml, std::move(strategies), std::move(model));
    return result ? Error{ErrorCode::Input, "no error", "", ""} : result.error();
}

std::string whereOf(const std::string& toml, ModelSpec model = VitSpec{}) {
    return errorOf(toml, {"fsdp"}, std::move(model)).where;
}

TEST(Resolve, SizesThatDoNotFitAreRefusedAtTheirKeys) {
    EXPECT_EQ(whereOf("[model]\nheads = 7"), "s.toml:2 [model] heads");
    EXPECT_EQ(whereOf("[model]\npatch_size = 5"), "s.toml:2 [model] patch_size");
    EXPECT_EQ(whereOf("[model]\nhidden = 67108864\nheads = 5"), "s.toml:2 [model] hidden, s.toml:3 [model] heads");
    const Error grouped = errorOf("[model]\nkv_heads = 5", {"fsdp"}, *namedDecoder("llama-3.2-1b"));
    EXPECT_EQ(describe(grouped),
              "s.toml:2 [model] kv_heads: 5 kv_heads do not divide 32 heads\n  choose sizes that divide");
}

TEST(Resolve, HardwareIsRefusedWhereItsOwnTableWasGiven) {
    auto scenario = parseScenario(
        *parseToml("[cluster]\ngpu = { preset = \"a100-sxm-80gb\", memory_gb = -1 }", "s.toml"), "s.toml");
    ASSERT_TRUE(scenario);
    const auto where = [&] {
        const auto result = resolve(*scenario, {VitSpec{}, std::nullopt, ""});
        return result ? std::string("no error") : result.error().where;
    };
    EXPECT_EQ(where(), "s.toml:2 [cluster.gpu] memory_gb");
    scenario = parseScenario(*parseToml("[cluster]\ngpu = \"a100-sxm-80gb\"\nnodes = 1", "s.toml"), "s.toml");
    ASSERT_TRUE(applyOverride(*scenario, "cluster.node={preset = \"dgx-a100\", link_gbs = 1000000}"));
    EXPECT_EQ(where(), "--set [cluster.node] link_gbs");
    ASSERT_TRUE(applyOverride(*scenario, "cluster.node=dgx-a100"));
    ASSERT_TRUE(applyOverride(*scenario, "cluster.gpus_per_node=9", "--over"));
    EXPECT_EQ(where(), "--over [cluster] gpus_per_node");
    ASSERT_TRUE(applyOverride(*scenario, "cluster.gpus_per_node=0"));
    ASSERT_TRUE(applyOverride(*scenario, "parallelism.data_parallel_shard_degree=16"));
    EXPECT_EQ(where(), "--set [parallelism] data_parallel_shard_degree");
}

TEST(Resolve, GroupsThatCannotBeAreRefusedAtTheKeyThatAsksForThem) {
    const std::pair<std::string, std::string> cases[] = {
        {"fsdp_reshard_after_forward = 3", "s.toml:3 [parallelism] fsdp_reshard_after_forward"},
        {"fsdp_root_reshard_after_forward = 3", "s.toml:3 [parallelism] fsdp_root_reshard_after_forward"},
        {"fsdp_unit_reshard_after_forward = { \"encoder.layers.encoder_layer_3\" = 3 }",
         "s.toml:3 [parallelism] fsdp_unit_reshard_after_forward"},
    };
    for (const auto& [line, where] : cases) {
        const std::string toml = "[parallelism]\ndata_parallel_shard_degree = 4\n" + line;
        const auto scenario = parseScenario(*parseToml(toml, "s.toml"), "s.toml");
        const auto result = resolved(toml, {"fsdp"});
        ASSERT_TRUE(result) << describe(result.error());
        const Case& one = result->cases.front();
        const auto graph = buildStepGraph(*buildModel(result->model, one.workload), one.plan);
        ASSERT_FALSE(graph) << line;
        EXPECT_EQ(scenario->located(graph.error()).where, where);
    }
    EXPECT_NE(errorOf("[parallelism]\nfsdp_reshard_after_forward = 67108864").message.find("from 1 to 16777216"),
              std::string::npos);
}

TEST(Resolve, NaiveRunsFsdpsGlobalBatchAsItsMicroBatches) {
    const auto result =
        resolved("[cluster]\ngpu = \"t4\"\nnodes = 1\ngpus_per_node = 4\n[training]\nlocal_batch_size = 8\n",
                 {"naive", "fsdp", "single"});
    ASSERT_TRUE(result) << describe(result.error());
    EXPECT_EQ(result->globalBatch, 32);
    const Case& naive = result->cases.at(0);
    EXPECT_EQ(naive.plan.schedule, StageSchedule::Naive);
    EXPECT_EQ(naive.plan.policy, UnitPolicy::None);
    EXPECT_EQ(naive.plan.mesh, (Mesh{4, 1, 1}));
    EXPECT_EQ(naive.plan.microBatches, 4);
    EXPECT_EQ(naive.workload.batch, 8);
    const Case& fsdp = result->cases.at(1);
    EXPECT_EQ(fsdp.plan.mesh, (Mesh{1, 1, 4}));
    EXPECT_EQ(fsdp.plan.microBatches, 1);
    EXPECT_EQ(fsdp.workload.batch, 8);
    const Case& single = result->cases.at(2);
    EXPECT_EQ(single.plan.mesh.size(), 1);
    EXPECT_EQ(single.plan.microBatches, 4);
    // Samples of a step: micro-batches x batch x ranks that hold different data.
    for (const Case& one : result->cases)
        EXPECT_EQ(one.plan.microBatches * one.workload.batch * one.plan.mesh.dpShard, result->globalBatch);
    EXPECT_EQ(naive.plan.precision, fsdp.plan.precision);
    EXPECT_FALSE(result->notes.empty());
}

TEST(Resolve, NaiveMicroBatchChangesOnlyNaive) {
    const auto result =
        resolved("[cluster]\ngpus_per_node = 4\nnodes = 1\n[training]\nlocal_batch_size = 8\nnaive_micro_batch = 16\n",
                 {"naive", "fsdp"});
    ASSERT_TRUE(result) << describe(result.error());
    EXPECT_EQ(result->cases[0].plan.microBatches, 2);
    EXPECT_EQ(result->cases[0].workload.batch, 16);
    EXPECT_EQ(result->cases[1].workload.batch, 8);
    EXPECT_EQ(
        errorOf("[cluster]\ngpus_per_node = 4\nnodes = 1\n[training]\nlocal_batch_size = 8\nnaive_micro_batch = 5\n",
                {"naive"})
            .where,
        "s.toml:6 [training] naive_micro_batch");
}

TEST(Resolve, AccumulationFollowsFromTheGlobalBatch) {
    const auto result =
        resolved("[cluster]\nnodes = 1\ngpus_per_node = 2\n[training]\nlocal_batch_size = 2\nglobal_batch_size = 12\n");
    ASSERT_TRUE(result) << describe(result.error());
    EXPECT_EQ(result->cases[0].plan.microBatches, 3);
    const Error error =
        errorOf("[cluster]\nnodes = 1\ngpus_per_node = 2\n[training]\nlocal_batch_size = 2\nglobal_batch_size = 13\n");
    EXPECT_EQ(error.where, "s.toml:6 [training] global_batch_size");
    EXPECT_NE(error.message.find("13"), std::string::npos);
}

TEST(Resolve, DegreesHaveToMultiplyToGivenRanks) {
    const Error error =
        errorOf("[cluster]\nnodes = 1\ngpus_per_node = 4\n[parallelism]\ndata_parallel_shard_degree = 8\n");
    EXPECT_EQ(error.code, ErrorCode::Input);
    EXPECT_EQ(error.where, "s.toml:5 [parallelism] data_parallel_shard_degree");
    EXPECT_NE(error.hint.find("data_parallel_shard_degree = 4"), std::string::npos);
    EXPECT_EQ(
        errorOf("[cluster]\nnodes = 1\ngpus_per_node = 4\n[parallelism]\npipeline_parallel_degree = 2\n", {"naive"})
            .where,
        "s.toml:5 [parallelism] pipeline_parallel_degree");
}

TEST(Resolve, GpusThatAreNotCountedFollowTheDegrees) {
    const std::pair<int, std::pair<std::int64_t, std::int64_t>> sizes[] = {
        {1, {1, 1}}, {4, {1, 4}}, {8, {1, 8}}, {64, {8, 8}}};
    for (const auto& [degree, expected] : sizes) {
        const auto result = resolved("[parallelism]\ndata_parallel_shard_degree = " + std::to_string(degree));
        ASSERT_TRUE(result) << degree << describe(result.error());
        EXPECT_EQ(result->cluster.nodes, expected.first) << degree;
        EXPECT_EQ(result->cluster.gpusPerNode, expected.second) << degree;
        EXPECT_EQ(result->cases[0].plan.mesh.dpShard, degree);
    }
    EXPECT_EQ(errorOf("[parallelism]\ndata_parallel_shard_degree = 12").where,
              "s.toml:2 [parallelism] data_parallel_shard_degree");
    EXPECT_EQ(errorOf("[cluster]\nnodes = 2\n[parallelism]\ndata_parallel_shard_degree = 3").code, ErrorCode::Input);
    const auto whole = resolved("");
    ASSERT_TRUE(whole);
    EXPECT_EQ(whole->cluster.ranks(), 8);  // one whole node of the default GPU's usual node
}

TEST(Resolve, SaysWhatIsNotSimulated) {
    for (const std::string key : {"tensor_parallel_degree", "context_parallel_degree"}) {
        EXPECT_EQ(errorOf("[parallelism]\n" + key + " = 2").code, ErrorCode::Unsupported) << key;
        EXPECT_EQ(errorOf("[parallelism]\n" + key + " = 1").message, "no error") << key;
    }
    EXPECT_EQ(errorOf("", {"zero3"}).code, ErrorCode::Usage);
}

TEST(Resolve, ReplicasAreHsdpsOrDdps) {
    const std::string two = "[parallelism]\ndata_parallel_replicate_degree = 2\n";
    const auto hsdp = resolved(two + "data_parallel_shard_degree = 4\n");
    ASSERT_TRUE(hsdp) << describe(hsdp.error());
    EXPECT_EQ(hsdp->cases[0].plan.mesh, (Mesh{1, 2, 4}));
    EXPECT_EQ(hsdp->cluster.ranks(), 8);
    EXPECT_EQ(hsdp->globalBatch, 8);
    EXPECT_EQ(resolved(two)->cases[0].plan.mesh, (Mesh{1, 2, 4})) << "of one node's 8 GPUs";
    const auto ddp = resolved(two, {"ddp"});
    ASSERT_TRUE(ddp) << describe(ddp.error());
    EXPECT_EQ(ddp->cases[0].plan.policy, UnitPolicy::Ddp);
    EXPECT_EQ(ddp->cases[0].plan.mesh, (Mesh{1, 2, 1}));
    const auto both = resolved(two +
                                   "data_parallel_shard_degree = 4\nddp_bucket_cap_mb = 50\n"
                                   "[training]\nglobal_batch_size = 16\ngradient_sync = \"last\"\n",
                               {"ddp"});
    ASSERT_TRUE(both) << describe(both.error());
    EXPECT_EQ(both->cases[0].plan.mesh, (Mesh{1, 8, 1})) << "DDP has a replica on every GPU";
    EXPECT_EQ(both->cases[0].plan.microBatches, 2);
    EXPECT_EQ(both->cases[0].plan.ddp.bucketCap, 50);
    EXPECT_EQ(both->cases[0].plan.gradientSync, GradientSync::LastMicroBatch);
    const auto listed = resolved(two + "ddp_bucket_cap_mb_list = [1, 25]\n", {"ddp"});
    ASSERT_TRUE(listed) << describe(listed.error());
    EXPECT_EQ(listed->cases[0].plan.ddp.bucketCapList, (std::vector<double>{1, 25}));
    EXPECT_FALSE(listed->cases[0].plan.ddp.bucketCap);
    EXPECT_EQ(errorOf(two + "ddp_bucket_cap_mb_list = [1]\nddp_bucket_cap_mb = 2\n", {"ddp"}).where,
              "s.toml:3 [parallelism] ddp_bucket_cap_mb_list");
    EXPECT_NE(errorOf(two + "ddp_bucket_cap_mb_list = [0]\n", {"ddp"}).message.find("a list of integers"),
              std::string::npos);
    EXPECT_EQ(resolved("[training]\ngradient_sync = \"last\"\n")->cases[0].plan.gradientSync,
              GradientSync::LastMicroBatch)
        << "what FSDP cannot do yet reaches the plan, which is refused, and is not passed over";
}

TEST(Resolve, FsdpShardsInsideTheStagesThatAreAskedFor) {
    const std::string degrees = "[parallelism]\npipeline_parallel_degree = 2\ndata_parallel_shard_degree = ";
    const auto result = resolved(degrees + "4\n[training]\nlocal_batch_size = 3\n");
    ASSERT_TRUE(result) << describe(result.error());
    const Plan& plan = result->cases.at(0).plan;
    EXPECT_EQ(plan.schedule, StageSchedule::Naive);
    EXPECT_EQ(plan.policy, UnitPolicy::Fsdp);
    EXPECT_EQ(plan.mesh, (Mesh{2, 1, 4}));
    EXPECT_EQ(result->cluster.ranks(), 8);
    EXPECT_EQ(result->globalBatch, 12) << "ranks of one pipeline share their samples";
    EXPECT_EQ(plan.microBatches, 1);
    EXPECT_EQ(resolved(degrees + "-1\n")->cases[0].plan.mesh, (Mesh{2, 1, 4})) << "of one node's 8 GPUs";
    // torchtitan's "default" is not to reshard where there are stages.
    EXPECT_EQ(plan.fsdp.reshardAfterForward.kind, Reshard::Kind::False);
    EXPECT_EQ(
        resolved(degrees + "4\nfsdp_reshard_after_forward = \"always\"\n")->cases[0].plan.fsdp.reshardAfterForward.kind,
        Reshard::Kind::True);
    const Error odd = errorOf("[cluster]\nnodes = 1\ngpus_per_node = 3\n" + degrees + "-1");
    EXPECT_EQ(odd.where, "s.toml:5 [parallelism] pipeline_parallel_degree");
    const Error more = errorOf("[cluster]\nnodes = 1\ngpus_per_node = 8\n" + degrees + "8");
    EXPECT_EQ(more.where, "s.toml:5 [parallelism] pipeline_parallel_degree");
    EXPECT_NE(more.hint.find("data_parallel_shard_degree = 4"), std::string::npos);
}

TEST(Resolve, StagesOfAStrategyThatHasNoneAreNeverPassedOverInSilence) {
    const std::string degree = "[cluster]\nnodes = 1\ngpus_per_node = 4\n[parallelism]\npipeline_parallel_degree = 4\n";
    const Error alone = errorOf(degree, {"single"});
    EXPECT_EQ(alone.where, "s.toml:5 [parallelism] pipeline_parallel_degree");
    const auto mentions = [](const Resolved& result, const std::string& words) {
        return std::any_of(result.notes.begin(), result.notes.end(),
                           [&](const std::string& note) { return note.find(words) != std::string::npos; });
    };
    const auto beside = resolved(degree, {"naive", "fsdp", "single"});
    ASSERT_TRUE(beside) << describe(beside.error());
    EXPECT_EQ(beside->cases[0].plan.mesh, (Mesh{4, 1, 1}));
    EXPECT_EQ(beside->cases[1].plan.mesh, (Mesh{1, 1, 4}));
    EXPECT_TRUE(mentions(*beside, "pipeline_parallel_degree = 4 is not fsdp's"));
    EXPECT_TRUE(mentions(*beside, "pipeline_parallel_degree = 4 is not single's"));
    EXPECT_FALSE(mentions(*beside, "not naive's"));
    const auto inside = resolved(degree, {"fsdp", "single"});
    ASSERT_TRUE(inside) << describe(inside.error());
    EXPECT_EQ(inside->cases[0].plan.mesh, (Mesh{4, 1, 1}));
    EXPECT_FALSE(mentions(*inside, "not fsdp's"));
    EXPECT_TRUE(mentions(*inside, "not single's"));
    EXPECT_FALSE(mentions(*resolved("", {"naive", "fsdp"}), "pipeline"));
}

TEST(Resolve, KnobsReachThePlan) {
    const auto result = resolved(R"(
[parallelism]
fsdp_blocks_per_unit = 3
fsdp_wrap_root = false
fsdp_reshard_after_forward = 4
fsdp_root_reshard_after_forward = true
fsdp_unit_reshard_after_forward = { x = false }
fsdp_keep_last_unit = true
fsdp_forward_prefetch = 1
fsdp_backward_prefetch = 2
fsdp_root_prefetch = 3
pipeline_parallel_split = "time"
[training]
optimizer = "sgd"
optimizer_implementation = "fused"
first_step = true
[precision]
dtype = "float32"
mixed_precision_param = "float16"
mixed_precision_reduce = "none"
)");
    ASSERT_TRUE(result) << describe(result.error());
    const Plan& plan = result->cases[0].plan;
    EXPECT_EQ(plan.fsdp.wrap.blocksPerUnit, 3);
    EXPECT_FALSE(plan.fsdp.wrap.root);
    EXPECT_EQ(plan.fsdp.reshardAfterForward, (Reshard{Reshard::Kind::Group, 4}));
    EXPECT_EQ(plan.fsdp.rootReshardAfterForward, (Reshard{Reshard::Kind::True, 0}));
    ASSERT_EQ(plan.fsdp.reshardOf.size(), 1u);
    EXPECT_TRUE(plan.fsdp.keepLastUnit);
    EXPECT_EQ(plan.fsdp.forwardPrefetch, 1);
    EXPECT_EQ(plan.fsdp.backwardPrefetch, 2);
    EXPECT_EQ(plan.fsdp.rootPrefetch, 3);
    EXPECT_EQ(plan.split, StageSplit::ByTime);
    EXPECT_EQ(plan.optimizer, OptimizerKind::Sgd);
    EXPECT_TRUE(plan.fusedOptimizer);
    EXPECT_TRUE(plan.firstStep);
    EXPECT_EQ(plan.precision.param, DType::F16);
    EXPECT_FALSE(plan.precision.reduce.has_value());
    EXPECT_EQ(result->cases[0].workload.dtype, DType::F16);
    EXPECT_EQ(resolved("")->cases[0].plan.fsdp.rootReshardAfterForward.kind, Reshard::Kind::Unset);
}

TEST(Resolve, OverridesFitTheirKindOfModel) {
    const auto vit = resolved("[model]\nimage_size = 28\npatch_size = 7\nlayers = 10\n");
    ASSERT_TRUE(vit) << describe(vit.error());
    EXPECT_EQ(std::get<VitSpec>(vit->model).patchSize, 7);
    EXPECT_EQ(errorOf("[model]\nvocab = 5").where, "s.toml:2 [model] vocab");
    const ModelSpec llama = namedDecoder("llama-3.1-8b").value();
    const auto small = resolved("[model]\nhidden = 2048\nheads = 16\n", {}, llama);
    ASSERT_TRUE(small) << describe(small.error());
    const auto& decoder = std::get<DecoderSpec>(small->model);
    EXPECT_EQ(decoder.headDim, 128);
    EXPECT_EQ(decoder.kvHeads, 8);  // grouped heads stay what they were
    EXPECT_EQ(small->cases[0].workload.sequence, 2048);
    EXPECT_EQ(errorOf("[model]\nimage_size = 28", {}, llama).where, "s.toml:2 [model] image_size");
    EXPECT_EQ(errorOf("[model]\nhidden = 4100\nheads = 33\n", {}, llama).where, "s.toml:3 [model] heads");
    EXPECT_EQ(errorOf("[training]\nseq_len = 4").where, "s.toml:2 [training] seq_len");
    EXPECT_EQ(errorOf("[training]\nseq_len = 2048", {}, namedDecoder("gpt2").value()).where,
              "s.toml:2 [training] seq_len");
    EXPECT_EQ(resolved("", {}, namedDecoder("gpt2").value())->cases[0].workload.sequence, 1024);
}

TEST(Resolve, TheUsersHardwareIsReadWithPlaces) {
    EXPECT_EQ(errorOf("[cluster]\ngpu = \"h100-sxn\"").code, ErrorCode::Input);
    EXPECT_NE(errorOf("[cluster]\ngpu = \"h100-sxn\"").where.find("s.toml"), std::string::npos);
    EXPECT_NE(errorOf("[cluster]\ngpu = \"h100-sxn\"").hint.find("h100-sxm"), std::string::npos);
    EXPECT_EQ(errorOf("[cluster]\ngpu = \"h100-sxm\"\ngpus_per_node = 9").code, ErrorCode::Input);
}

TEST(Resolve, TorchtitansUnitsPutNormAndHeadTogether) {
    DecoderSpec spec = *namedDecoder("llama-3.1-8b");
    spec.layers = 3;
    Workload workload;
    workload.sequence = 16;
    const Model llama = *buildModel(spec, workload);
    const auto block = [](int i) { return "model.layers." + std::to_string(i); };
    using Units = std::vector<std::vector<std::string>>;
    EXPECT_EQ(torchtitanUnits(llama, 1, true).units,
              (Units{{"model.embed_tokens"}, {block(0)}, {block(1)}, {block(2)}, {"model.norm", "lm_head"}}));
    EXPECT_EQ(torchtitanUnits(llama, 2, true).units,
              (Units{{"model.embed_tokens"}, {block(0), block(1)}, {block(2)}, {"model.norm", "lm_head"}}));
    const Model vit = *buildModel(*namedVit("vit_tiny"), {});
    EXPECT_EQ(torchtitanUnits(vit, 1, true).units.front(), (std::vector<std::string>{"conv_proj"}));
    EXPECT_EQ(torchtitanUnits(vit, 1, true).units.back(), (std::vector<std::string>{"encoder.ln", "heads.head"}));
}

TEST(Resolve, TorchtitansUnitsOfEveryNamedModelFormUnits) {
    for (const std::string_view name : decoderNames()) {
        DecoderSpec spec = *namedDecoder(name);
        spec.layers = 2;
        Workload workload;
        workload.sequence = 16;
        const Model model = *buildModel(spec, workload);
        Plan plan;
        plan.mesh.dpShard = 2;
        plan.fsdp.wrap = torchtitanUnits(model, 1, true);
        const auto units = formUnits(model, plan);
        ASSERT_TRUE(units) << name << ": " << describe(units.error());
        EXPECT_EQ(units->size(), spec.tiedEmbeddings ? 3u : 5u) << name;
    }
}

// A residual without a name is no module (docs/model-tree.md): nothing can wrap it, and the root takes what is in it.
TEST(Resolve, BlocksWithoutANameAreTheRootsInEveryKindOfUnits) {
    const auto document = parseToml(R"(name = "m"
vocab = 100
sequence = 8
[[modules]]
kind = "embedding"
name = "emb"
shape = [100, 16]
[[modules]]
kind = "residual"
modules = [{ kind = "linear", name = "x", shape = [16, 16] }]
[[modules]]
kind = "sequence"
name = "b"
modules = [{ kind = "linear", name = "fc", shape = [16, 16] }]
[[modules]]
kind = "gelu"
[[modules]]
kind = "linear"
name = "head"
shape = [100, 16]
)",
                                    "m.toml");
    ASSERT_TRUE(document) << describe(document.error());
    const Model model = *buildModel(*readModuleTree(*document, "m.toml"), {});
    Plan plan;
    plan.mesh.dpShard = 2;
    const auto names = [](const Model& of, const Unit& unit) {
        std::vector<std::string> all;
        for (const ParameterId p : unit.parameters) all.push_back(of.parameters[p.index()].name);
        return all;
    };
    auto units = formUnits(model, plan);
    ASSERT_TRUE(units) << describe(units.error());
    ASSERT_EQ(units->size(), 2u);
    EXPECT_EQ(units->front().name, "b");
    EXPECT_EQ(names(model, units->back()),
              (std::vector<std::string>{"emb.weight", "x.weight", "x.bias", "head.weight", "head.bias"}));
    EXPECT_TRUE(buildStepGraph(model, plan));

    plan.fsdp.wrap = torchtitanUnits(model, 1, true);
    EXPECT_EQ(plan.fsdp.wrap.units, (std::vector<std::vector<std::string>>{{"emb"}, {"b"}, {"head"}}));
    units = formUnits(model, plan);
    ASSERT_TRUE(units) << describe(units.error());
    EXPECT_EQ(names(model, units->back()), (std::vector<std::string>{"x.weight", "x.bias"}));
    EXPECT_TRUE(buildStepGraph(model, plan));
}

TEST(Resolve, AnAbsurdNumberOfMicroBatchesIsRefused) {
    EXPECT_EQ(errorOf("[training]\nglobal_batch_size = 1048576", {"single"}).code, ErrorCode::Input);
}

TEST(Resolve, KernelRulesReachTheWorkload) {
    const auto workloadOf = [](const std::string& toml) {
        const auto result = resolved(toml, {"ddp"}, *namedDecoder("gpt2"));
        EXPECT_TRUE(result) << describe(result.error());
        return result ? result->cases.front().workload : Workload{};
    };
    EXPECT_EQ(workloadOf("").dropout, Workload::Dropout::Config);
    EXPECT_EQ(workloadOf("[model]\ndropout = \"on\"").dropout, Workload::Dropout::On);
    EXPECT_EQ(workloadOf("[model]\ndropout = \"off\"").dropout, Workload::Dropout::Off);
    const Workload cpu = workloadOf("[model]\nkernel_rules = \"cpu\"");
    EXPECT_TRUE(cpu.cpuRules);
    EXPECT_EQ(cpu.attention, Workload::AttentionKind::Cpu);
    EXPECT_TRUE(workloadOf("[precision]\nautocast = true").autocast);
}

TEST(Resolve, KernelRulesThatCannotBeAreRefusedAtTheirKeys) {
    EXPECT_EQ(whereOf("[model]\nkernel_rules = \"cpu\"\nattention = \"cudnn\""), "s.toml:3 [model] attention");
    EXPECT_EQ(whereOf("[model]\ndropout = \"on\"", ShapesSpec{}), "s.toml:2 [model] dropout");
    EXPECT_EQ(whereOf("[precision]\nautocast = true", ShapesSpec{}), "s.toml:2 [precision] autocast");
    EXPECT_EQ(whereOf("[precision]\nautocast = true\nmixed_precision_param = \"none\""),
              "s.toml:2 [precision] autocast");
    EXPECT_EQ(whereOf("[precision]\nautocast = true\nmixed_precision_param = \"float64\""),
              "s.toml:2 [precision] autocast");
    // FSDP2's mixed precision casts by itself.
    Workload workload;
    workload.dtype = DType::BF16;
    workload.autocast = true;
    Plan plan;
    plan.precision.param = DType::BF16;
    const auto graph = buildStepGraph(*buildModel(*namedVit("vit_tiny"), workload), plan);
    ASSERT_FALSE(graph);
    EXPECT_EQ(graph.error().where, "[precision] autocast");
    EXPECT_NE(graph.error().message.find("under FSDP2,"), std::string::npos);
    plan.mesh.dpShard = 2;
    plan.fsdp.flat = true;
    const auto flat = buildStepGraph(*buildModel(*namedVit("vit_tiny"), workload), plan);
    ASSERT_FALSE(flat);
    EXPECT_NE(flat.error().message.find("under FSDP1,"), std::string::npos) << flat.error().message;
}

}  // namespace
}  // namespace shardscope::core
