#include "core/model/decoder.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>

#include "core/model/hf_config.h"
#include "core/model/named_decoders.h"

namespace shardscope::core {
namespace {

Workload small() {
    Workload workload;
    workload.batch = 1;
    workload.sequence = 16;
    return workload;
}

Model built(const DecoderSpec& spec, const Workload& workload) {
    auto model = buildDecoder(spec, workload);
    EXPECT_TRUE(model.has_value()) << describe(model.error());
    return model ? std::move(*model) : Model{};
}

DecoderSpec spec(const std::string& config) {
    auto spec = parseHfConfig(config, "config.json", "case");
    EXPECT_TRUE(spec.has_value()) << describe(spec.error());
    return spec.value_or(DecoderSpec{});
}

std::vector<std::pair<std::string, Shape>> parametersOf(const Model& model) {
    std::vector<std::pair<std::string, Shape>> list;
    for (const Parameter& p : model.parameters) list.emplace_back(p.name, p.shape);
    return list;
}

// Totals of framework semantics 9.3 (published counts; equal to models built with transformers 5.24).
TEST(Decoder, totalsOfPublicModelsAreExact) {
    const std::map<std::string_view, std::int64_t> totals{
        {"llama-2-7b", 6'738'415'616},
        {"llama-2-13b", 13'015'864'320},
        {"llama-2-70b", 68'976'648'192},
        {"llama-3-8b", 8'030'261'248},
        {"llama-3-70b", 70'553'706'496},
        {"llama-3.1-8b", 8'030'261'248},
        {"llama-3.1-70b", 70'553'706'496},
        {"llama-3.1-405b", 405'853'388'800},
        {"llama-3.2-1b", 1'235'814'400},
        {"llama-3.2-3b", 3'212'749'824},
        {"tinyllama-1.1b", 1'100'048'384},
        {"smollm2-1.7b", 1'711'376'384},
        {"yi-6b", 6'061'035'520},
        {"codellama-34b", 33'743'970'304},
        {"mistral-7b", 7'241'732'096},
        {"mistral-7b-v0.3", 7'248'023'552},
        {"mistral-small-24b", 23'572'403'200},
        {"qwen2-0.5b", 494'032'768},
        {"qwen2-1.5b", 1'543'714'304},
        {"qwen2-7b", 7'615'616'512},
        {"qwen2-72b", 72'706'203'648},
        {"qwen2.5-7b", 7'615'616'512},
        {"qwen2.5-14b", 14'770'033'664},
        {"qwen2.5-32b", 32'763'876'352},
        {"qwen2.5-72b", 72'706'203'648},
        {"qwen3-0.6b", 596'049'920},
        {"qwen3-1.7b", 1'720'574'976},
        {"qwen3-4b", 4'022'468'096},
        {"qwen3-8b", 8'190'735'360},
        {"qwen3-14b", 14'768'307'200},
        {"qwen3-32b", 32'762'123'264},
        {"gpt2", 124'439'808},
        {"gpt2-medium", 354'823'168},
        {"gpt2-large", 774'030'080},
        {"gpt2-xl", 1'557'611'200},
    };
    for (const auto& [name, total] : totals) {
        const auto named = namedDecoder(name);
        ASSERT_TRUE(named.has_value()) << name;
        EXPECT_EQ(parameterCount(built(*named, small())), total) << name;
    }
}

// Recorded from LlamaForCausalLM (transformers 5.24), small configuration "llama.gqa".
TEST(Decoder, llamaHasTransformersNamesShapesAndOrder) {
    const Model model =
        built(spec(R"({"model_type": "llama", "vocab_size": 97, "hidden_size": 32, "intermediate_size": 88,
        "num_hidden_layers": 3, "num_attention_heads": 4, "num_key_value_heads": 2})"),
              small());
    EXPECT_EQ(parameterCount(model), 40'992);
    const auto parameters = parametersOf(model);
    const std::vector<std::pair<std::string, Shape>> first{
        {"model.embed_tokens.weight", {97, 32}},
        {"model.layers.0.self_attn.q_proj.weight", {32, 32}},
        {"model.layers.0.self_attn.k_proj.weight", {16, 32}},
        {"model.layers.0.self_attn.v_proj.weight", {16, 32}},
        {"model.layers.0.self_attn.o_proj.weight", {32, 32}},
        {"model.layers.0.mlp.gate_proj.weight", {88, 32}},
        {"model.layers.0.mlp.up_proj.weight", {88, 32}},
        {"model.layers.0.mlp.down_proj.weight", {32, 88}},
        {"model.layers.0.input_layernorm.weight", {32}},
        {"model.layers.0.post_attention_layernorm.weight", {32}},
    };
    ASSERT_EQ(parameters.size(), 30u);
    EXPECT_TRUE(std::equal(first.begin(), first.end(), parameters.begin()));
    EXPECT_EQ(parameters[28].first, "model.norm.weight");
    EXPECT_EQ(parameters[29], (std::pair<std::string, Shape>{"lm_head.weight", {97, 32}}));
    for (const char* module : {"model", "model.layers.2.self_attn.o_proj", "model.layers.2.mlp.act_fn", "lm_head"})
        EXPECT_TRUE(findModule(model, module).valid()) << module;
}

// Recorded from Qwen3ForCausalLM with biases and tied embeddings, small configuration "qwen3.tied_bias".
TEST(Decoder, qwen3HasNormsOfQueriesAndKeysAndBiases) {
    const Model model =
        built(spec(R"({"model_type": "qwen3", "vocab_size": 97, "hidden_size": 32, "intermediate_size": 88,
        "num_hidden_layers": 2, "num_attention_heads": 4, "num_key_value_heads": 2, "head_dim": 12,
        "attention_bias": true, "tie_word_embeddings": true})"),
              small());
    EXPECT_EQ(parameterCount(model), 29'680);
    const auto parameters = parametersOf(model);
    EXPECT_EQ(parameters[8], (std::pair<std::string, Shape>{"model.layers.0.self_attn.o_proj.bias", {32}}));
    EXPECT_EQ(parameters[9], (std::pair<std::string, Shape>{"model.layers.0.self_attn.q_norm.weight", {12}}));
    EXPECT_EQ(parameters.back().first, "model.norm.weight");
}

// Recorded from GPT2LMHeadModel, small configuration "gpt2.inner_untied".
TEST(Decoder, gpt2StoresItsWeightsTransposed) {
    const Model model = built(spec(R"({"model_type": "gpt2", "vocab_size": 97, "n_positions": 24, "n_embd": 32,
        "n_layer": 2, "n_head": 4, "n_inner": 48, "tie_word_embeddings": false})"),
                              small());
    EXPECT_EQ(parameterCount(model), 22'048);
    const auto parameters = parametersOf(model);
    EXPECT_EQ(parameters[1], (std::pair<std::string, Shape>{"transformer.wpe.weight", {24, 32}}));
    EXPECT_EQ(parameters[4], (std::pair<std::string, Shape>{"transformer.h.0.attn.c_attn.weight", {32, 96}}));
    EXPECT_EQ(parameters[10], (std::pair<std::string, Shape>{"transformer.h.0.mlp.c_fc.weight", {32, 48}}));
    EXPECT_EQ(parameters.back(), (std::pair<std::string, Shape>{"lm_head.weight", {97, 32}}));
}

TEST(Decoder, tiedEmbeddingsAreOneParameterOfTwoModules) {
    const Model model = built(*namedDecoder("gpt2"), small());
    const Module& table = model.modules[findModule(model, "transformer.wte").index()];
    const Module& head = model.modules[findModule(model, "lm_head").index()];
    ASSERT_EQ(head.parameters.size(), 1u);
    EXPECT_EQ(head.parameters, table.parameters);
    const Parameter& shared = model.parameters[head.parameters[0].index()];
    EXPECT_TRUE(shared.tied);
    EXPECT_EQ(shared.name, "transformer.wte.weight");
    EXPECT_EQ(model.layers.front().parameters[0], model.layers[model.layers.size() - 2].parameters[0]);
}

TEST(Decoder, layersRunFromTheEmbeddingToTheLoss) {
    for (const char* name : {"llama-3.1-405b", "gpt2-xl"}) {
        const Model model = built(*namedDecoder(name), small());
        const auto blocks = static_cast<std::size_t>(namedDecoder(name)->layers);
        ASSERT_EQ(model.layers.size(), blocks + 4) << name;
        EXPECT_EQ(model.layers[0].kind, LayerKind::Embedding);
        EXPECT_EQ(model.layers[blocks + 1].kind, LayerKind::Norm);
        EXPECT_EQ(model.layers[blocks + 2].kind, LayerKind::Head);
        EXPECT_EQ(model.layers[blocks + 3].kind, LayerKind::Loss);
        EXPECT_EQ(model.programs.size(), 5u) << "blocks share one program";
        for (std::size_t i = 1; i <= blocks; ++i) {
            EXPECT_EQ(model.layers[i].kind, LayerKind::Block);
            EXPECT_EQ(model.layers[i].program, model.layers[1].program);
        }
        EXPECT_EQ(model.tokensPerSample, 16);
        std::set<ParameterId> used;
        for (const Layer& layer : model.layers) used.insert(layer.parameters.begin(), layer.parameters.end());
        EXPECT_EQ(used.size(), model.parameters.size()) << "every parameter stands in a layer";
    }
}

TEST(Decoder, everyParameterGetsAGradient) {
    for (const std::string_view name : {"llama-3.2-1b", "qwen2-0.5b", "qwen3-0.6b", "gpt2"}) {
        const Model model = built(*namedDecoder(name), small());
        for (const Layer& layer : model.layers) {
            std::set<std::uint32_t> withGradient;
            for (const Tensor& tensor : model.programOf(layer).tensors)
                if (tensor.role == TensorRole::ParameterGradient) withGradient.insert(tensor.slot);
            EXPECT_EQ(withGradient.size(), layer.parameters.size()) << name << " " << layer.name;
        }
    }
}

TEST(Decoder, aSequenceBeyondGpt2sPositionsIsRefused) {
    Workload workload = small();
    workload.sequence = 1025;
    const auto model = buildDecoder(*namedDecoder("gpt2"), workload);
    ASSERT_FALSE(model.has_value());
    EXPECT_NE(model.error().message.find("n_positions"), std::string::npos);
    workload.sequence = 0;
    EXPECT_EQ(built(*namedDecoder("gpt2"), workload).tokensPerSample, 1024);
}

TEST(Decoder, absurdSizesAreRefusedNotMultiplied) {
    DecoderSpec decoder = *namedDecoder("llama-3-8b");
    Workload workload = small();
    workload.batch = std::int64_t{1} << 40;
    workload.sequence = std::int64_t{1} << 40;
    EXPECT_FALSE(buildDecoder(decoder, workload).has_value());
    workload = small();
    workload.batch = 0;
    EXPECT_FALSE(buildDecoder(decoder, workload).has_value());
    decoder.hidden = std::int64_t{1} << 31;
    decoder.vocab = std::int64_t{1} << 31;
    decoder.intermediate = std::int64_t{1} << 31;
    EXPECT_FALSE(buildDecoder(decoder, small()).has_value());
    decoder.layers = -1;
    EXPECT_FALSE(buildDecoder(decoder, small()).has_value());
}

TEST(Decoder, whatIsNotModelledIsSaid) {
    Workload workload = small();
    workload.sequence = 8192;
    EXPECT_EQ(built(*namedDecoder("mistral-7b"), workload).caveats.size(), 1u) << "the window of 4096";
    EXPECT_TRUE(built(*namedDecoder("mistral-7b-v0.3"), workload).caveats.empty());
    EXPECT_EQ(built(*namedDecoder("llama-2-7b"), workload).caveats.size(), 1u) << "made for 4096";
}

}  // namespace
}  // namespace shardscope::core
