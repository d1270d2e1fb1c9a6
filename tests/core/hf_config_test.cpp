#include "core/model/hf_config.h"

#include <gtest/gtest.h>

#include "core/model/named_decoders.h"

namespace shardscope::core {
namespace {

DecoderSpec read(const std::string& text) {
    auto spec = parseHfConfig(text, "config.json", "case");
    EXPECT_TRUE(spec.has_value()) << text << "\n" << describe(spec.error());
    return spec.value_or(DecoderSpec{});
}

Error refused(const std::string& text) {
    auto spec = parseHfConfig(text, "config.json", "case");
    EXPECT_FALSE(spec.has_value()) << text;
    return spec ? Error{} : spec.error();
}

// Defaults as transformers 5.24 applies them to a config that states nothing but its model type (framework
// semantics 9.3).
TEST(HfConfig, modelTypeAloneTakesTheDefaultsOfItsFamily) {
    const DecoderSpec llama = read(R"({"model_type": "llama"})");
    EXPECT_EQ(llama.vocab, 32000);
    EXPECT_EQ(llama.intermediate, 11008);
    EXPECT_EQ(llama.kvHeads, 32);
    EXPECT_EQ(llama.headDim, 128);
    EXPECT_EQ(llama.positions, 2048);
    EXPECT_FALSE(llama.tiedEmbeddings || llama.attentionBias || llama.mlpBias || llama.qkvBias || llama.qkNorm);
    const DecoderSpec mistral = read(R"({"model_type": "mistral"})");
    EXPECT_EQ(mistral.intermediate, 14336);
    EXPECT_EQ(mistral.kvHeads, 8);
    EXPECT_EQ(mistral.positions, 131072);
    EXPECT_EQ(mistral.slidingWindow, 4096);
    const DecoderSpec qwen2 = read(R"({"model_type": "qwen2"})");
    EXPECT_EQ(qwen2.vocab, 151936);
    EXPECT_EQ(qwen2.intermediate, 22016);
    EXPECT_EQ(qwen2.kvHeads, 32);
    EXPECT_TRUE(qwen2.qkvBias);
    EXPECT_EQ(qwen2.slidingWindow, 0);
    const DecoderSpec qwen3 = read(R"({"model_type": "qwen3"})");
    EXPECT_EQ(qwen3.headDim, 128);
    EXPECT_TRUE(qwen3.qkNorm);
    const DecoderSpec gpt2 = read(R"({"model_type": "gpt2"})");
    EXPECT_EQ(gpt2.vocab, 50257);
    EXPECT_EQ(gpt2.positions, 1024);
    EXPECT_EQ(gpt2.intermediate, 3072);
    EXPECT_TRUE(gpt2.tiedEmbeddings);
}

TEST(HfConfig, missingAndNullKeyValueHeadsDifferByFamily) {
    const auto config = [](const std::string& type, const std::string& more) {
        return R"({"model_type": ")" + type + R"(", "hidden_size": 64, "num_attention_heads": 32)" + more + "}";
    };
    EXPECT_EQ(read(config("llama", "")).kvHeads, 32);
    EXPECT_EQ(read(config("llama", R"(, "num_key_value_heads": null)")).kvHeads, 32);
    EXPECT_EQ(read(config("mistral", "")).kvHeads, 8);
    EXPECT_FALSE(refused(config("mistral", R"(, "num_key_value_heads": null)")).message.empty());
    const std::string few = R"({"model_type": "qwen2", "hidden_size": 64, "num_attention_heads": 4)";
    EXPECT_EQ(read(few + R"(, "num_key_value_heads": null})").kvHeads, 4);
    EXPECT_NE(refused(few + "}").message.find("num_key_value_heads"), std::string::npos) << "32 do not divide 4";
}

TEST(HfConfig, headDimensionIsDerivedOrStated) {
    const std::string small = R"("hidden_size": 32, "num_attention_heads": 4, "num_key_value_heads": 2)";
    EXPECT_EQ(read(R"({"model_type": "llama", )" + small + "}").headDim, 8);
    EXPECT_EQ(read(R"({"model_type": "llama", "head_dim": null, )" + small + "}").headDim, 8);
    EXPECT_EQ(read(R"({"model_type": "llama", "head_dim": 16, )" + small + "}").headDim, 16);
    EXPECT_EQ(read(R"({"model_type": "qwen2", "head_dim": 16, )" + small + "}").headDim, 16);
    EXPECT_EQ(read(R"({"model_type": "qwen3", )" + small + "}").headDim, 128) << "not hidden / heads";
    EXPECT_FALSE(refused(R"({"model_type": "qwen3", "head_dim": null, )" + small + "}").message.empty());
}

TEST(HfConfig, biasesAreReadOnlyWhereTheFamilyHasThem) {
    const std::string biases = R"(, "attention_bias": true, "mlp_bias": true})";
    const DecoderSpec llama = read(R"({"model_type": "llama")" + biases);
    EXPECT_TRUE(llama.attentionBias && llama.mlpBias);
    const DecoderSpec mistral = read(R"({"model_type": "mistral")" + biases);
    EXPECT_FALSE(mistral.attentionBias || mistral.mlpBias);
    const DecoderSpec qwen3 = read(R"({"model_type": "qwen3")" + biases);
    EXPECT_TRUE(qwen3.attentionBias);
    EXPECT_FALSE(qwen3.mlpBias);
}

TEST(HfConfig, gpt2TakesItsOwnAndTheCommonNames) {
    const DecoderSpec gpt2 = read(R"({"model_type": "gpt2", "hidden_size": 64, "num_hidden_layers": 3,
                                      "num_attention_heads": 4, "max_position_embeddings": 24, "n_inner": null})");
    EXPECT_EQ(gpt2.hidden, 64);
    EXPECT_EQ(gpt2.layers, 3);
    EXPECT_EQ(gpt2.headDim, 16);
    EXPECT_EQ(gpt2.positions, 24);
    EXPECT_EQ(gpt2.intermediate, 256);
    EXPECT_EQ(read(R"({"model_type": "gpt2", "n_inner": 48})").intermediate, 48);
}

TEST(HfConfig, unknownModelTypeNamesTheKnownOnesAndTheOtherWay) {
    const Error error = refused("{\n\"model_type\": \"mamba\"}");
    EXPECT_EQ(error.code, ErrorCode::Unsupported);
    EXPECT_EQ(error.where, "config.json:2");
    for (const std::string_view type : knownModelTypes())
        EXPECT_NE(error.message.find(type), std::string::npos) << type;
    EXPECT_NE(error.hint.find("safetensors"), std::string::npos);
    EXPECT_NE(refused("{}").message.find("model_type"), std::string::npos);
    EXPECT_FALSE(refused("[]").message.empty());
    EXPECT_EQ(refused(R"({"model_type": "llama", "architectures": ["LlamaForSequenceClassification"]})").code,
              ErrorCode::Unsupported);
    EXPECT_EQ(refused(R"({"model_type": "gpt2", "add_cross_attention": true})").code, ErrorCode::Unsupported);
    EXPECT_EQ(refused(R"({"model_type": "llama", "hidden_act": "gelu"})").code, ErrorCode::Unsupported);
}

TEST(HfConfig, wrongValuesNameTheirKey) {
    for (const std::string key :
         {"vocab_size", "hidden_size", "intermediate_size", "num_hidden_layers", "num_attention_heads",
          "num_key_value_heads", "head_dim", "max_position_embeddings"}) {
        for (const std::string value : {"0", "-1", "1.5", "4096.0", "\"4096\"", "true", "[1]", "1e300",
                                        "9223372036854775807", "18446744073709551616"}) {
            const Error error = refused("{\"model_type\": \"llama\", \"" + key + "\": " + value + "}");
            EXPECT_NE(error.message.find(key), std::string::npos) << key << " = " << value << ": " << error.message;
        }
    }
    EXPECT_NE(refused(R"({"model_type": "llama", "hidden_size": null})").message.find("null"), std::string::npos);
    EXPECT_NE(refused(R"({"model_type": "llama", "num_attention_heads": 3})").message.find("divide"),
              std::string::npos);
    EXPECT_NE(refused(R"({"model_type": "llama", "num_key_value_heads": 3})").message.find("divide"),
              std::string::npos);
    EXPECT_FALSE(refused(R"({"model_type": "llama", "tie_word_embeddings": null})").message.empty());
    EXPECT_FALSE(refused(R"({"model_type": "llama", "tie_word_embeddings": 1})").message.empty());
    EXPECT_FALSE(refused(R"({"model_type": "llama", "rms_norm_eps": -1})").message.empty());
    EXPECT_FALSE(refused(R"({"model_type": "llama", "rms_norm_eps": "small"})").message.empty());
    EXPECT_FALSE(refused(R"({"model_type": "llama", "num_hidden_layers": 2000000})").message.empty());
    EXPECT_FALSE(refused(R"({"model_type": "llama", "head_dim": 7})").message.empty());
    EXPECT_FALSE(refused(R"({"model_type": "qwen2", "max_window_layers": null})").message.empty());
    EXPECT_FALSE(refused(R"({"model_type": "gpt2", "n_head": 5})").message.empty());
    EXPECT_EQ(refused("{\"model_type\": \"llama\",\n\n\"hidden_size\": -4}").where, "config.json:3");
    EXPECT_EQ(refused("{").where, "config.json:1:2");
}

TEST(NamedDecoder, everyNameIsASoundDecoder) {
    ASSERT_GE(decoderNames().size(), 30u);
    for (const std::string_view name : decoderNames()) {
        const auto spec = namedDecoder(name);
        ASSERT_TRUE(spec.has_value()) << name;
        EXPECT_EQ(spec->name, name);
        EXPECT_TRUE(checkDecoder(*spec, "table").has_value()) << name;
    }
    EXPECT_FALSE(namedDecoder("llama").has_value());
}

// transformers' own defaults: 0.1 for GPT-2, none for llama.
TEST(HfConfig, dropoutIsReadFromItsProbabilities) {
    using Dropout = DecoderSpec::Dropout;
    EXPECT_EQ(read(R"({"model_type": "gpt2"})").dropout, (Dropout{true, true, true}));
    EXPECT_EQ(read(R"({"model_type": "gpt2", "attn_pdrop": 0, "embd_pdrop": 0.0})").dropout,
              (Dropout{false, false, true}));
    EXPECT_EQ(read(R"({"model_type": "llama"})").dropout, Dropout{});
    EXPECT_EQ(read(R"({"model_type": "llama", "attention_dropout": 0.2})").dropout, (Dropout{false, true, false}));
    EXPECT_EQ(read(R"({"model_type": "llama", "attention_dropout": null})").dropout, Dropout{});
    EXPECT_NE(refused(R"({"model_type": "gpt2", "resid_pdrop": 1.5})").message.find("resid_pdrop"), std::string::npos);
    EXPECT_EQ((Dropout{true, false, true}).under(Workload::Dropout::Off), Dropout{});
    EXPECT_EQ((Dropout{true, false, true}).under(Workload::Dropout::On), (Dropout{true, true, true}));
}

}  // namespace
}  // namespace shardscope::core
