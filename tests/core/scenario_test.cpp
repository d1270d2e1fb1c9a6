#include "core/scenario/scenario.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <set>

#include "core/scenario/keys.h"

namespace shardscope::core {
namespace {

Result<Scenario> parse(const std::string& text) {
    auto document = parseToml(text, "s.toml");
    if (!document) return tl::unexpected(document.error());
    return parseScenario(*document, "s.toml");
}

std::string errorOf(const std::string& text) {
    const auto scenario = parse(text);
    return scenario ? "no error" : describe(scenario.error());
}

TEST(Scenario, AnEmptyFileHasTheDefaults) {
    const auto scenario = parse("");
    ASSERT_TRUE(scenario) << describe(scenario.error());
    EXPECT_EQ(*scenario, Scenario{});
    EXPECT_EQ(writeScenario(*scenario), "");
}

TEST(Scenario, ReadsEverySection) {
    const auto scenario = parse(R"(
title = "lecture"
[model]
name = "vit_b_16"
channels = 1
[cluster]
gpu = "a100-sxm-80gb"
gpus_per_node = 4
[training]
local_batch_size = 32
optimizer = "AdamW"
[parallelism]
data_parallel_shard_degree = 4
fsdp_reshard_after_forward = "never"
fsdp_unit_reshard_after_forward = { "blocks.3" = true, "norm+head" = 2 }
fsdp_wrap = ["emb", ["norm", "head"]]
[precision]
mixed_precision_param = "bf16"
mixed_precision_reduce = "none"
)");
    ASSERT_TRUE(scenario) << describe(scenario.error());
    EXPECT_EQ(scenario->title, "lecture");
    EXPECT_EQ(scenario->model.channels, 1);
    EXPECT_EQ(scenario->cluster.gpu.text, "a100-sxm-80gb");
    EXPECT_EQ(scenario->training.optimizer, "adamw");
    EXPECT_EQ(scenario->parallelism.reshard.value.kind, Reshard::Kind::False);
    ASSERT_EQ(scenario->parallelism.unitReshard.size(), 2u);
    EXPECT_EQ(scenario->parallelism.unitReshard[1].second.value.group, 2);
    const UnitLists wrap{{"emb"}, {"norm", "head"}};
    EXPECT_EQ(scenario->parallelism.wrap, wrap);
    EXPECT_EQ(scenario->precision.param, DType::BF16);
    EXPECT_FALSE(scenario->precision.reduce.has_value());
    EXPECT_EQ(scenario->placeOf("training.local_batch_size"), "s.toml:10 [training] local_batch_size");
    EXPECT_EQ(scenario->placeOf("training.seq_len"), "[training] seq_len");
}

TEST(Scenario, AcceptsEveryReshardValueOfTorchtitanAndFsdp2) {
    const std::pair<std::string, Reshard> values[] = {
        {"\"default\"", {Reshard::Kind::True, 0}}, {"\"always\"", {Reshard::Kind::True, 0}},
        {"\"never\"", {Reshard::Kind::False, 0}},  {"\"unset\"", {Reshard::Kind::Unset, 0}},
        {"true", {Reshard::Kind::True, 0}},        {"false", {Reshard::Kind::False, 0}},
        {"4", {Reshard::Kind::Group, 4}},
    };
    for (const auto& [text, expected] : values) {
        const auto scenario = parse("[parallelism]\nfsdp_reshard_after_forward = " + text);
        ASSERT_TRUE(scenario) << text;
        EXPECT_EQ(scenario->parallelism.reshard.value, expected) << text;
    }
    for (const std::string bad : {"0", "-2", "\"sometimes\"", "1.5", "[true]"})
        EXPECT_FALSE(parse("[parallelism]\nfsdp_reshard_after_forward = " + bad)) << bad;
}

TEST(Scenario, AnUnknownKeyIsAnErrorWithPlaceAndNearestKey) {
    EXPECT_EQ(errorOf("[parallelism]\ndata_parallel_shard_degre = 4"),
              "s.toml:2 [parallelism] data_parallel_shard_degre: no such key\n"
              "  did you mean parallelism.data_parallel_shard_degree?");
    EXPECT_EQ(errorOf("[model]\nseq_len = 4"), "s.toml:2 [model] seq_len: no such key\n  it belongs in [training]");
    EXPECT_EQ(errorOf("[paralelism]\nx = 4").substr(0, 36), "s.toml:2 [paralelism] x: no such key");
    EXPECT_EQ(errorOf("[traning]"), "s.toml:1 [traning]: no such section\n  did you mean [training]?");
    EXPECT_NE(errorOf("[checkpoint]\ninterval = 5"), "no error");
    EXPECT_NE(errorOf("model = 3"), "no error");
    EXPECT_NE(errorOf("seq_len = 3"), "no error");
}

TEST(Scenario, RefusesValuesThatAreNoSizes) {
    for (const std::string bad : {"0", "-1", "nan", "1.5", "\"8\"", "true", "99999999999", "[1]"})
        EXPECT_FALSE(parse("[training]\nlocal_batch_size = " + bad)) << bad;
    for (const std::string bad : {"0", "-2", "inf"})
        EXPECT_FALSE(parse("[parallelism]\ndata_parallel_shard_degree = " + bad)) << bad;
    EXPECT_EQ(errorOf("[training]\noptimizer = \"adanw\""),
              "s.toml:2 [training] optimizer: found \"adanw\", expected one of: adamw, adamw_8bit, adam, sgd, "
              "sgd_momentum, none\n"
              "  did you mean \"adamw\"?");
    EXPECT_FALSE(parse("[precision]\ndtype = \"int64\""));
}

TEST(Scenario, TorchtitansPlaceOfAKeyWorksButNotBoth) {
    const auto scenario = parse("[training]\nmixed_precision_param = \"float32\"\n[optimizer]\nname = \"Adam\"");
    ASSERT_TRUE(scenario) << describe(scenario.error());
    EXPECT_EQ(scenario->precision.param, DType::F32);
    EXPECT_EQ(scenario->training.optimizer, "adam");
    EXPECT_NE(errorOf("[training]\ndtype = \"float32\"\n[precision]\ndtype = \"bfloat16\"").find("given twice"),
              std::string::npos);
}

TEST(Scenario, EveryKeyCanBeSetFromTheCommandLine) {
    Scenario scenario;
    ASSERT_TRUE(applyOverride(scenario, "parallelism.data_parallel_shard_degree=8"));
    ASSERT_TRUE(applyOverride(scenario, "parallelism.fsdp_reshard_after_forward = never"));
    ASSERT_TRUE(applyOverride(scenario, "model.name=llama-3.1-8b"));
    ASSERT_TRUE(applyOverride(scenario, "title=123"));
    ASSERT_TRUE(applyOverride(scenario, "parallelism.fsdp_wrap=[\"a\", [\"b\", \"c\"]]"));
    ASSERT_TRUE(applyOverride(scenario, "parallelism.fsdp_unit_reshard_after_forward={\"blocks.1\" = false}"));
    ASSERT_TRUE(applyOverride(scenario, "training.mixed_precision_param=fp16"));
    EXPECT_EQ(scenario.parallelism.shardDegree, 8);
    EXPECT_EQ(scenario.parallelism.reshard.word, "never");
    EXPECT_EQ(scenario.model.name, "llama-3.1-8b");
    EXPECT_EQ(scenario.title, "123");
    EXPECT_EQ(scenario.parallelism.wrap.size(), 2u);
    EXPECT_EQ(scenario.parallelism.unitReshard.at(0).first, "blocks.1");
    EXPECT_EQ(scenario.precision.param, DType::F16);
    EXPECT_EQ(scenario.placeOf("parallelism.data_parallel_shard_degree"),
              "--set [parallelism] data_parallel_shard_degree");

    // Setting any key to the value it has is accepted: the parser reads what the writer writes.
    for (const Key& key : scenarioKeys()) {
        const Document value = valueOf(scenario, key);
        if (value.kind == Document::Kind::Null) continue;
        const auto set = applyOverride(scenario, std::string(key.path) + "=" + writeTomlValue(value));
        EXPECT_TRUE(set) << key.path << ": " << (set ? "" : describe(set.error()));
        EXPECT_EQ(valueOf(scenario, key), value) << key.path;
    }
}

TEST(Scenario, PartsOfTheHardwareCanBeSet) {
    Scenario scenario;
    ASSERT_TRUE(applyOverride(scenario, "cluster.gpu=t4"));
    ASSERT_TRUE(applyOverride(scenario, "cluster.gpu.memory_gb=24"));
    ASSERT_EQ(scenario.cluster.gpu.kind, Document::Kind::Table);
    EXPECT_EQ(scenario.cluster.gpu.find("preset")->text, "t4");
    EXPECT_EQ(scenario.cluster.gpu.find("memory_gb")->integer, 24);
    EXPECT_FALSE(applyOverride(scenario, "training.seq_len.x=1"));
}

TEST(Scenario, RefusesOverridesThatSayNothing) {
    Scenario scenario;
    for (const std::string bad :
         {"", "=", "=3", "training.seq_len", "training.seq_len=", "training.seq_len=a=b", "seq_len=4",
          "training.seqlen=4", "training.seq_len=1\nx = 2", "title=\xff", "cluster.gpu.\xdd=1"})
        EXPECT_FALSE(applyOverride(scenario, bad)) << bad;
    std::string deep = "cluster.gpu";
    for (int i = 0; i < 50'000; ++i) deep += ".a";
    EXPECT_FALSE(applyOverride(scenario, deep + "=1"));
    const auto unknown = applyOverride(scenario, "training.seqlen=4");
    EXPECT_EQ(unknown.error().hint, "did you mean training.seq_len?");
    EXPECT_EQ(scenario, Scenario{});
}

TEST(Scenario, WritesWhatItReadsBackEqual) {
    const std::string text =
        "title = \"a \\\"quoted\\\" one\"\n[cluster]\ngpu = { preset = \"t4\", memory_gb = 24.5 }\n[training]\nseq_len "
        "= 4096\n"
        "[parallelism]\nfsdp_wrap = [\"x\", [\"y\", \"z\"]]\nfsdp_unit_reshard_after_forward = { \"a.b\" = \"unset\", "
        "c = 4 }\n"
        "fsdp_root_reshard_after_forward = true\n[precision]\nmixed_precision_param = \"none\"\n";
    const auto once = parse(text);
    ASSERT_TRUE(once) << describe(once.error());
    const auto twice = parse(writeScenario(*once));
    ASSERT_TRUE(twice) << writeScenario(*once) << describe(twice.error());
    EXPECT_EQ(*once, *twice) << writeScenario(*once);
}

TEST(Scenario, WritesWhatWasGivenThoughItIsTheDefault) {
    auto scenario = parse("[training]\nlocal_batch_size = 1\n[parallelism]\nfsdp_keep_last_unit = false\n");
    ASSERT_TRUE(scenario);
    ASSERT_TRUE(applyOverride(*scenario, "training.seq_len=0"));
    const std::string text = writeScenario(*scenario);
    EXPECT_EQ(text, "[training]\nlocal_batch_size = 1\nseq_len = 0\n\n[parallelism]\nfsdp_keep_last_unit = false\n");
    const auto again = parse(text);
    ASSERT_TRUE(again);
    for (const Key& key : scenarioKeys()) EXPECT_EQ(again->given(key.path), scenario->given(key.path)) << key.path;
    EXPECT_EQ(writeScenario(*again), text);
}

TEST(Scenario, ARealNumberIsShownAsOneWhereAnIntegerIsExpected) {
    const auto scenario = parse("[parallelism]\nfsdp_version = 1.0\n");
    ASSERT_FALSE(scenario);
    EXPECT_EQ(scenario.error().message, "found 1.0, expected an integer from 1 to 2");
}

TEST(ScenarioKeys, AreDistinctAndDescribed) {
    std::set<std::string_view> seen;
    for (const Key& key : scenarioKeys()) {
        EXPECT_TRUE(seen.insert(key.path).second) << key.path;
        if (!key.alias.empty()) {
            EXPECT_TRUE(seen.insert(key.alias).second) << key.alias;
        }
        EXPECT_FALSE(key.what.empty()) << key.path;
        EXPECT_EQ(key.what.back(), '.') << key.path;
        EXPECT_FALSE(describeType(key).empty());
        if (std::holds_alternative<std::int64_t& (*)(Scenario&)>(key.binding)) {
            const std::int64_t value = valueOf(Scenario{}, key).integer;
            EXPECT_GE(value, key.least) << key.path;
            EXPECT_LE(value, key.most) << key.path;
        }
        if (!key.words.empty()) {
            EXPECT_NE(std::find(key.words.begin(), key.words.end(), valueOf(Scenario{}, key).text), key.words.end());
        }
    }
}

TEST(ScenarioKeys, TheReferencePageIsWhatTheKeysSay) {
    std::ifstream file(SHARDSCOPE_SOURCE_DIR "/docs/scenario.md", std::ios::binary);
    const std::string page((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
    EXPECT_EQ(page, scenarioReference()) << "renew it with: shardscope docs scenario > docs/scenario.md";
}

}  // namespace
}  // namespace shardscope::core
