#include "cli/face/load.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "cli/face/files.h"
#include "cli/face/output.h"

namespace shardscope::cli {
namespace {

namespace fs = std::filesystem;
using core::ErrorCode;

class Files : public ::testing::Test {
protected:
    void SetUp() override {
        m_folder = fs::temp_directory_path() / ("shardscope_load_" + std::to_string(::getpid()));
        fs::create_directories(m_folder);
    }
    void TearDown() override { fs::remove_all(m_folder); }

    std::string write(const std::string& name, const std::string& bytes) {
        const fs::path path = m_folder / name;
        fs::create_directories(path.parent_path());
        std::ofstream(path, std::ios::binary) << bytes;
        return path.string();
    }
    [[nodiscard]] std::string at(const std::string& name) const { return (m_folder / name).string(); }

    fs::path m_folder;
};

ErrorCode codeOf(const std::string& what) {
    const auto loaded = load(what);
    EXPECT_FALSE(loaded) << what;
    return loaded ? ErrorCode::Cancelled : loaded.error().code;
}

/// A safetensors file: the length of the header, the header, the data.
std::string safetensors(const std::string& header, std::size_t data, std::uint64_t length = 0) {
    std::string bytes;
    const std::uint64_t n = length > 0 ? length : header.size();
    for (int i = 0; i < 8; ++i) bytes += static_cast<char>(n >> (8 * i) & 0xff);
    return bytes + header + std::string(data, '\0');
}

const char* const kLlama =
    R"({"model_type": "llama", "architectures": ["LlamaForCausalLM"], "vocab_size": 128, "hidden_size": 64,
        "intermediate_size": 128, "num_hidden_layers": 2, "num_attention_heads": 4})";

TEST_F(Files, ModelsStandInPlaceOfAScenario) {
    EXPECT_TRUE(load("vit_tiny"));
    write("tiny/config.json", kLlama);
    for (const std::string& what : {at("tiny"), at("tiny/config.json")}) {
        const auto loaded = load(what);
        ASSERT_TRUE(loaded) << core::describe(loaded.error());
        EXPECT_EQ(std::get<core::DecoderSpec>(loaded->inputs.model).layers, 2);
        EXPECT_EQ(std::get<core::DecoderSpec>(loaded->inputs.model).name, "tiny");
    }
    const std::string shapes =
        write("s/model.safetensors",
              safetensors(R"({"layers.0.w":{"dtype":"F32","shape":[2,3],"data_offsets":[0,24]}})", 24));
    for (const std::string& what : {shapes, at("s")}) {
        const auto loaded = load(what);
        ASSERT_TRUE(loaded) << core::describe(loaded.error());
        EXPECT_EQ(std::get<core::ShapesSpec>(loaded->inputs.model).entries.size(), 1u);
    }
    const auto tree = load(SHARDSCOPE_SOURCE_DIR "/examples/models/toy_mlp.toml");
    ASSERT_TRUE(tree) << core::describe(tree.error());
    EXPECT_TRUE(std::holds_alternative<core::ModuleTreeSpec>(tree->inputs.model));
}

TEST_F(Files, PathsInAScenarioAreRelativeToIt) {
    write("tiny/config.json", kLlama);
    write("cluster.toml", "gpu = \"t4\"\nnodes = 1\ngpus_per_node = 2\n");
    const std::string scenario = write("s.toml", "[model]\npath = \"tiny\"\n[cluster]\npath = \"cluster.toml\"\n");
    const auto loaded = load(scenario);
    ASSERT_TRUE(loaded) << core::describe(loaded.error());
    const auto resolved = core::resolve(loaded->scenario, loaded->inputs);
    ASSERT_TRUE(resolved) << core::describe(resolved.error());
    EXPECT_EQ(resolved->cluster.gpu.name, "t4");
    EXPECT_EQ(resolved->cluster.ranks(), 2);
    const std::vector<std::string> more{"cluster.gpus_per_node=4"};
    const auto again = load(scenario, more);
    ASSERT_TRUE(again);
    EXPECT_EQ(core::resolve(again->scenario, again->inputs)->cluster.ranks(), 4);
}

TEST_F(Files, WhatCannotBeReadIsAnIoError) {
    EXPECT_EQ(codeOf(at("missing.toml")), ErrorCode::Io);
    EXPECT_EQ(codeOf(at("no/such/folder")), ErrorCode::Io);
    EXPECT_EQ(codeOf(write("s.toml", "[model]\npath = \"missing\"\n")), ErrorCode::Io);
    EXPECT_FALSE(readFile(m_folder));
    const std::string ten = write("ten", "0123456789");
    EXPECT_EQ(readFile(ten, 10)->size(), 10u);
    EXPECT_EQ(readFile(ten, 9).error().code, ErrorCode::Io);
    EXPECT_EQ(readStart(ten, 3).value(), "012");
}

TEST_F(Files, PipesAndDevicesAreRefusedAtOnce) {
    const std::string pipe = at("pipe.toml");
    ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
    for (const std::string& what : {pipe, std::string("/dev/null")}) {
        const auto loaded = load(what);
        ASSERT_FALSE(loaded) << what;
        EXPECT_EQ(loaded.error().code, ErrorCode::Io);
        EXPECT_NE(loaded.error().message.find("a regular file is needed"), std::string::npos);
        EXPECT_FALSE(loaded.error().hint.empty());
    }
    const std::string shards = at("pipe.safetensors");
    ASSERT_EQ(::mkfifo(shards.c_str(), 0600), 0);
    EXPECT_EQ(codeOf(shards), ErrorCode::Io);
}

TEST_F(Files, AFileThatMayNotBeReadIsAnIoError) {
    const std::string path = write("secret.toml", "[model]\nname = \"vit_tiny\"\n");
    fs::permissions(path, fs::perms::none);
    // Root may read everything, and a test that did would test nothing.
    const bool root = ::geteuid() == 0;
    if (root) {
        fs::permissions(m_folder, fs::perms::all);
        ASSERT_EQ(::seteuid(65534), 0);
    }
    const auto loaded = load(path);
    if (root) {
        ASSERT_EQ(::seteuid(0), 0);
    }
    ASSERT_FALSE(loaded);
    EXPECT_EQ(loaded.error().code, ErrorCode::Io);
    EXPECT_NE(core::describe(loaded.error()).find("secret.toml: cannot open: Permission denied"), std::string::npos)
        << core::describe(loaded.error());
}

TEST_F(Files, WrongContentIsAnInputErrorWithTheFilesName) {
    const std::pair<std::string, std::string> files[] = {
        {"truncated.json", "{\"model_type\": \"lla"},
        {"empty.json", ""},
        {"list.json", "[]"},
        {"other.json", "{\"a\": 1}"},
        {"wrong.toml", "[model\n"},
        {"unknown.toml", "[modle]\nname = \"vit_tiny\"\n"},
        {"nothing.toml", ""},
        {"both.toml", "[model]\nname = \"vit_tiny\"\npath = \"x\"\n"},
        {"negative/config.json", "{\"model_type\": \"llama\", \"hidden_size\": -4}"},
        {"short.safetensors", "abc"},
        {"beyond.safetensors", safetensors("{}", 0, 1'000'000)},
        {"huge.safetensors", safetensors("{}", 0, 0xffffffffffffffffull)},
        {"overlap.safetensors", safetensors(R"({"a":{"dtype":"F32","shape":[2],"data_offsets":[0,8]},)"
                                            R"("b":{"dtype":"F32","shape":[2],"data_offsets":[4,12]}})",
                                            12)},
        {"overflow.safetensors",
         safetensors(R"({"a":{"dtype":"F32","shape":[9223372036854775807,4],"data_offsets":[0,8]}})", 8)},
    };
    for (const auto& [name, bytes] : files) {
        const std::string path = write(name, bytes);
        const auto loaded = load(path);
        ASSERT_FALSE(loaded) << name;
        EXPECT_EQ(loaded.error().code, ErrorCode::Input) << name << ": " << core::describe(loaded.error());
        EXPECT_FALSE(loaded.error().message.empty()) << name;
    }
}

TEST_F(Files, AnIndexWithoutItsShardsSaysSo) {
    write("i/model.safetensors.index.json", R"({"metadata": {}, "weight_map": {"a": "model-1.safetensors"}})");
    const auto loaded = load(at("i"));
    ASSERT_FALSE(loaded);
    EXPECT_NE(core::describe(loaded.error()).find("model-1.safetensors"), std::string::npos);
}

TEST_F(Files, AnUnknownFamilyFallsBackToItsShapesOrOffersThat) {
    write("odd/config.json", R"({"model_type": "oddball"})");
    const auto without = load(at("odd"));
    ASSERT_FALSE(without);
    EXPECT_NE(core::describe(without.error()).find("safetensors"), std::string::npos);
    write("odd/model.safetensors",
          safetensors(R"({"layers.0.w":{"dtype":"F32","shape":[2,3],"data_offsets":[0,24]}})", 24));
    const auto with = load(at("odd"));
    ASSERT_TRUE(with) << core::describe(with.error());
    EXPECT_TRUE(std::holds_alternative<core::ShapesSpec>(with->inputs.model));
}

TEST_F(Files, AnUnknownFamilyWithBrokenWeightsShowsBoth) {
    write("odd/config.json", R"({"model_type": "oddball"})");
    write("odd/model.safetensors", "abc");
    const auto broken = load(at("odd"));
    ASSERT_FALSE(broken);
    const std::string text = core::describe(broken.error());
    for (const char* words : {"oddball", "config.json", "model.safetensors", "at least 8"})
        EXPECT_NE(text.find(words), std::string::npos) << words << " in " << text;
    write("index/config.json", R"({"model_type": "oddball"})");
    write("index/model.safetensors.index.json", R"({"weight_map": {"a": "model-1.safetensors"}})");
    const auto missing = load(at("index"));
    ASSERT_FALSE(missing);
    for (const char* words : {"oddball", "model-1.safetensors"})
        EXPECT_NE(core::describe(missing.error()).find(words), std::string::npos) << core::describe(missing.error());
}

TEST_F(Files, OutputsHaveKnownEndingsAndFolders) {
    EXPECT_EQ(outputKindOf("a.json.gz").value(), OutputKind::TraceGzip);
    EXPECT_EQ(outputKindOf("a.json").value(), OutputKind::Trace);
    const std::vector<std::string> unknown{"a.gif"};
    EXPECT_EQ(checkOutputs(unknown).error().code, ErrorCode::Usage);
    const std::vector<std::string> nowhere{at("no/folder.svg")};
    EXPECT_EQ(checkOutputs(nowhere).error().code, ErrorCode::Io);
}

TEST_F(Files, OutputsAreWholeOrAbsent) {
    const auto loaded = load("vit_tiny");
    const auto resolved = core::resolve(loaded->scenario, loaded->inputs);
    const auto report = evaluate(*resolved, "vit_tiny");
    ASSERT_TRUE(report) << core::describe(report.error());
    for (const char* name : {"a.svg", "a.png", "a.pdf", "a.json", "a.json.gz", "a.csv"}) {
        ASSERT_TRUE(writeOutput(*report, at(name), "en")) << name;
        EXPECT_GT(fs::file_size(at(name)), 100u) << name;
        fs::remove(at(name));
        fs::create_directories(at(name));  // a folder in its place
        const auto refused = writeOutput(*report, at(name), "en");
        ASSERT_FALSE(refused) << name;
        EXPECT_EQ(refused.error().code, ErrorCode::Io) << name;
        fs::remove(at(name));
    }
    EXPECT_TRUE(fs::is_empty(m_folder)) << "something half written was left behind";
}

}  // namespace
}  // namespace shardscope::cli
