#include "core/model/shapes_model.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "core/model/decoder.h"
#include "core/model/named_decoders.h"
#include "core/model/safetensors.h"
#include "core/model/shapes_groups.h"

namespace shardscope::core {
namespace {

Workload workload() {
    Workload w;
    w.batch = 2;
    w.sequence = 64;
    w.dtype = DType::BF16;
    return w;
}

ShapesSpec shapesOf(const Model& model) {
    ShapesSpec spec;
    spec.name = model.name;
    for (const Parameter& p : model.parameters) spec.entries.push_back({p.name, p.shape, DType::BF16});
    return spec;
}

Model built(const ShapesSpec& spec) {
    auto model = buildFromShapes(spec, workload());
    EXPECT_TRUE(model.has_value()) << describe(model.error());
    return model ? std::move(*model) : Model{};
}

bool says(const Model& model, std::string_view words) {
    return std::any_of(model.caveats.begin(), model.caveats.end(),
                       [&](const std::string& c) { return c.find(words) != std::string::npos; });
}

std::int64_t gemmFlops(const Program& program, bool forward) {
    std::int64_t flops = 0;
    for (const Kernel& kernel : forward ? program.forward : program.backward)
        if (classOf(kernel.kind) == KernelClass::Gemm) flops += kernel.flops.value;
    return flops;
}

// The same model, once known as a decoder and once by its shapes: all but attention must be there.
TEST(ShapesModel, hasTheDecodersParametersLayersAndProducts) {
    for (const char* name : {"llama-3.2-1b", "qwen3-0.6b", "mistral-7b", "gpt2"}) {
        const Model known = *buildDecoder(*namedDecoder(name), workload());
        ShapesSpec spec = shapesOf(known);
        // Files are sorted by name, so that block 10 comes before block 2.
        std::sort(spec.entries.begin(), spec.entries.end(),
                  [](const auto& a, const auto& b) { return a.name < b.name; });
        const Model model = built(spec);
        EXPECT_EQ(parameterCount(model), parameterCount(known)) << name;
        ASSERT_GE(model.layers.size(), known.layers.size() - 1) << name;
        EXPECT_EQ(model.layers.front().kind, LayerKind::Embedding);
        EXPECT_EQ(model.layers.back().kind, LayerKind::Loss);
        for (std::size_t i = 1; i + 3 < known.layers.size(); ++i) {
            EXPECT_EQ(model.layers[i].name, known.layers[i].name);
            EXPECT_EQ(gemmFlops(model.programOf(model.layers[i]), true),
                      gemmFlops(known.programOf(known.layers[i]), true))
                << name;
            EXPECT_EQ(gemmFlops(model.programOf(model.layers[i]), false),
                      gemmFlops(known.programOf(known.layers[i]), false))
                << name;
        }
        EXPECT_EQ(model.layers[1].program, model.layers[2].program) << "blocks share their program";
        EXPECT_TRUE(says(model, "no attention"));
        EXPECT_EQ(says(model, "no output projection"), namedDecoder(name)->tiedEmbeddings) << name;
    }
}

TEST(ShapesModel, savesTheInputsOfItsProducts) {
    ShapesSpec spec;
    spec.entries = {{"embed.weight", {100, 8}, DType::F32},        {"layers.0.up.weight", {32, 8}, DType::F32},
                    {"layers.0.down.weight", {8, 32}, DType::F32}, {"layers.1.up.weight", {32, 8}, DType::F32},
                    {"layers.1.down.weight", {8, 32}, DType::F32}, {"head.weight", {100, 8}, DType::F32}};
    const Model model = built(spec);
    ASSERT_EQ(model.layers.size(), 5u);
    const Program& block = model.programOf(model.layers[1]);
    std::int64_t bytes = 0;
    for (const TensorId id : savedForBackward(block)) bytes += block.tensor(id).bytes().value;
    EXPECT_EQ(bytes, 2 * 64 * (8 + 32) * 2);
    EXPECT_EQ(gemmFlops(block, true), 2 * 2 * 64 * 8 * 32 * 2);
    EXPECT_EQ(gemmFlops(block, false), 2 * gemmFlops(block, true));
    EXPECT_EQ(gemmFlops(model.programOf(model.layers[0]), true), 0) << "a table is looked up";
}

TEST(ShapesModel, everyWeightGetsAGradient) {
    ShapesSpec spec = shapesOf(*buildDecoder(*namedDecoder("qwen2-0.5b"), workload()));
    spec.entries.push_back({"model.layers.0.experts.gate_up", {4, 8, 16}, DType::BF16});
    const Model model = built(spec);
    for (const Layer& layer : model.layers) {
        std::set<std::uint32_t> slots;
        for (const Tensor& tensor : model.programOf(layer).tensors)
            if (tensor.role == TensorRole::ParameterGradient) slots.insert(tensor.slot);
        EXPECT_EQ(slots.size(), layer.parameters.size()) << layer.name;
    }
    EXPECT_TRUE(says(model, "more than two dimensions"));
}

// A unit of several modules ends its backward with that of the module that runs first.
TEST(ShapesModel, theModuleThatRunsFirstIsTheLastInBackward) {
    const Model model = built(shapesOf(*buildDecoder(*namedDecoder("gpt2"), workload())));
    for (const Layer& layer : model.layers) {
        const Program& program = model.programOf(layer);
        if (layer.kind != LayerKind::Block || program.forward.empty()) continue;
        const std::uint16_t first = program.forward.front().module;
        std::size_t last = 0;
        std::vector<std::size_t> lastOf(program.modules.size(), 0);
        for (std::size_t k = 0; k < program.backward.size(); ++k) lastOf[program.backward[k].module] = k + 1;
        for (const Kernel& kernel : program.forward)
            if (kernel.module != 0) last = std::max(last, lastOf[kernel.module]);  // 0: the layer around them
        EXPECT_EQ(lastOf[first], last) << layer.name;
    }
}

TEST(ShapesModel, buffersAreNoParameters) {
    ShapesSpec spec = shapesOf(*buildDecoder(*namedDecoder("gpt2"), workload()));
    const std::int64_t total = parameterCount(built(spec));
    spec.entries.push_back({"transformer.h.0.attn.bias", {1, 1, 1024, 1024}, DType::F32});
    spec.entries.push_back({"transformer.h.0.attn.masked_bias", {}, DType::F32});
    spec.entries.push_back({"position_ids", {1, 512}, DType::I64});
    spec.entries.push_back({"model.layers.1.mlp.gate.e_score_correction_bias", {64}, DType::F32});
    spec.entries.push_back({"final_logits_bias", {1, 50257}, DType::F32});
    const Model model = built(spec);
    EXPECT_EQ(parameterCount(model), total);
    EXPECT_TRUE(says(model, "5 tensors are taken for buffers"));
}

TEST(ShapesModel, blocksAreFoundUnderTheNamesOfSeveralFamilies) {
    const auto groups = [](const std::vector<std::string>& names) {
        ShapesSpec spec;
        for (const std::string& name : names) spec.entries.push_back({name, {4, 4}, DType::F32});
        return groupByBlocks(spec);
    };
    const ShapesGroups vit =
        groups({"class_token", "conv_proj.weight", "encoder.layers.encoder_layer_10.mlp.0.weight",
                "encoder.layers.encoder_layer_2.mlp.0.weight", "encoder.layers.encoder_layer_2.mlp.3.weight",
                "encoder.ln.weight", "heads.head.weight"});
    ASSERT_EQ(vit.blocks.size(), 2u);
    EXPECT_EQ(vit.blocks[0].module, "encoder.layers.encoder_layer_2") << "by number, not by letter";
    EXPECT_EQ(vit.before.size(), 2u);
    EXPECT_EQ(vit.after.size(), 2u);
    const ShapesGroups bert = groups({"bert.embeddings.LayerNorm.weight", "bert.embeddings.word_embeddings.weight",
                                      "bert.encoder.layer.0.a", "bert.encoder.layer.1.a", "cls.decoder.weight"});
    EXPECT_EQ(bert.before.size(), 2u);
    EXPECT_EQ(bert.after.size(), 1u);
    EXPECT_TRUE(looksUp("bert.embeddings.word_embeddings.weight") && looksUp("shared.weight"));
    EXPECT_FALSE(looksUp("bert.embeddings.LayerNorm.weight") || looksUp("embed_out.weight") ||
                 looksUp("mlp.shared_expert.up_proj.weight"));
    const ShapesGroups experts =
        groups({"model.layers.0.experts.0.w1", "model.layers.0.experts.1.w1", "model.layers.1.experts.0.w1"});
    EXPECT_EQ(experts.blocks.size(), 2u) << "the outermost number counts";
    const ShapesGroups t5 =
        groups({"decoder.block.0.a", "decoder.block.1.a", "encoder.block.0.a", "encoder.block.1.a"});
    EXPECT_EQ(t5.stacks, 2u);
    EXPECT_EQ(t5.blocks.front().module, "encoder.block.0");
    const ShapesGroups whisper = groups({"model.encoder.conv1.weight", "model.encoder.conv2.weight",
                                         "model.encoder.layers.0.fc1.weight", "model.encoder.layers.1.fc1.weight"});
    EXPECT_EQ(whisper.blocks.size(), 2u) << "conv1 is a name, no place in a list";
    const ShapesGroups wav2vec2 = groups({"wav2vec2.encoder.layers.0.a", "wav2vec2.encoder.layers.1.a",
                                          "wav2vec2.feature_extractor.conv_layers.0.conv.weight",
                                          "wav2vec2.feature_extractor.conv_layers.1.conv.weight"});
    EXPECT_EQ(wav2vec2.blocks.size(), 2u);
    EXPECT_EQ(wav2vec2.before.size(), 2u);
    const ShapesGroups resnet = groups({"layer1.0.conv1.weight", "layer1.1.conv1.weight", "layer2.0.conv1.weight",
                                        "layer2.1.conv1.weight", "fc.weight"});
    EXPECT_EQ(resnet.blocks.size(), 4u);
    const ShapesGroups glued = groups({"encoder.layer0.fc.weight", "encoder.layer1.fc.weight", "head.weight"});
    EXPECT_EQ(glued.blocks.size(), 2u);
    const ShapesGroups extractor =
        groups({"feature_extractor.blocks.0.w", "feature_extractor.blocks.1.w", "head.weight"});
    EXPECT_EQ(extractor.blocks.size(), 2u);
    const ShapesGroups twins = groups({"layers.7.a.weight", "layers.07.a.weight", "layers.8.a.weight"});
    EXPECT_EQ(twins.blocks.size(), 3u);
}

/// A file of a mixture of experts: 60 blocks that share `tensors`.
std::string headerOf(std::size_t tensors) {
    std::string json = "{";
    for (std::size_t i = 0; i < tensors; ++i)
        json += std::string(i == 0 ? "" : ",") + "\"model.layers." + std::to_string(i % 60) + ".experts." +
                std::to_string(i / 60) + R"(.w.weight":{"dtype":"F32","shape":[2,2],"data_offsets":[)" +
                std::to_string(16 * i) + "," + std::to_string(16 * i + 16) + "]}";
    json += "}";
    std::string bytes;
    for (int i = 0; i < 8; ++i) bytes += static_cast<char>(json.size() >> (8 * i) & 0xff);
    return bytes + json;
}

Result<Model> readAndBuild(const std::string& bytes, std::size_t tensors) {
    SHARDSCOPE_ASSIGN(const SafetensorsHeader header,
                      parseSafetensorsHeader(bytes, static_cast<std::int64_t>(bytes.size() + 16 * tensors), "f"));
    SHARDSCOPE_ASSIGN(const ShapesSpec spec, shapesFromSafetensors("m", {header}, nullptr));
    return buildFromShapes(spec, workload());
}

TEST(ShapesModel, readsHeadersOfManyTensors) {
    const auto model = readAndBuild(headerOf(40'000), 40'000);
    ASSERT_TRUE(model) << describe(model.error());
    EXPECT_EQ(model->parameters.size(), 40'000u);
}

TEST(ShapesModel, tooManyTensorsOrBlocksAreRefusedByNumber) {
    const auto tensors = readAndBuild(headerOf(kMostTensors + 1), kMostTensors + 1);
    ASSERT_FALSE(tensors);
    EXPECT_EQ(tensors.error().message, "found 250001 tensors, expected at most 250000");
    ShapesSpec spec;
    for (int i = 0; i < 5'000; ++i) spec.entries.push_back({"h." + std::to_string(i) + ".w", {2, 2}, DType::F32});
    const auto blocks = buildFromShapes(spec, workload());
    ASSERT_FALSE(blocks);
    EXPECT_NE(blocks.error().message.find("5000, expected at most 4096"), std::string::npos) << blocks.error().message;
}

TEST(ShapesModel, badShapesAndNamesAreRefused) {
    const auto refused = [](const std::vector<ShapesSpec::Entry>& entries, Workload w = workload()) {
        ShapesSpec spec;
        spec.name = "case";
        spec.entries = entries;
        return !buildFromShapes(spec, w).has_value();
    };
    EXPECT_TRUE(refused({}));
    EXPECT_TRUE(refused({{"", {2, 2}, DType::F32}}));
    EXPECT_TRUE(refused({{".a", {2, 2}, DType::F32}}));
    EXPECT_TRUE(refused({{"a..b", {2, 2}, DType::F32}}));
    EXPECT_TRUE(refused({{"a", {2, 2}, DType::F32}, {"a", {2, 2}, DType::F32}}));
    EXPECT_TRUE(refused({{"a", {-2, 2}, DType::F32}}));
    EXPECT_TRUE(refused({{"a", {std::int64_t{1} << 40, std::int64_t{1} << 40}, DType::F32}}));
    EXPECT_TRUE(refused({{"a", {2}, DType::I64}})) << "no weights";
    Workload huge = workload();
    huge.batch = huge.sequence = std::int64_t{1} << 39;
    EXPECT_TRUE(refused({{"a", {2, 2}, DType::F32}}, huge));
    EXPECT_FALSE(refused({{"a", {}, DType::F32}, {"a.b", {3}, DType::F32}, {"a.b.c", {0}, DType::F32}}));
}

}  // namespace
}  // namespace shardscope::core
