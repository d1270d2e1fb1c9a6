// Models of transformers, as small configurations that the library built, and the rules of their missing and null keys:
// tests/data/hf_models.json says where it was read from.

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <map>
#include <set>
#include <sstream>

#include "core/model/hf_model.h"

namespace shardscope::core {
namespace {

const Document& recordings() {
    static const Document kFile = [] {
        std::ostringstream text;
        text << std::ifstream(SHARDSCOPE_TEST_DATA "/hf_models.json", std::ios::binary).rdbuf();
        return parseJson(text.str(), "hf_models.json").value_or(Document{});
    }();
    return kFile;
}

Workload workloadOf(std::int64_t batch, std::int64_t sequence) {
    Workload workload;
    workload.batch = batch;
    workload.sequence = sequence;
    workload.dtype = DType::BF16;
    return workload;
}

Result<Model> modelOf(const Document& config, const Workload& workload = workloadOf(1, 1)) {
    SHARDSCOPE_ASSIGN(const ModelSpec spec, readHfModel(config, "config.json", "case"));
    return buildModel(spec, workload);
}

Result<Model> modelOf(const std::string& config, const Workload& workload = workloadOf(1, 1)) {
    SHARDSCOPE_ASSIGN(const ModelSpec spec, parseHfModel(config, "config.json", "case"));
    return buildModel(spec, workload);
}

/// "model.layers.0" and what comes after it; nothing before the first number.
std::pair<std::string, std::string> splitAtNumber(const std::string& name) {
    for (std::size_t begin = 0; begin < name.size();) {
        const std::size_t end = std::min(name.find('.', begin), name.size());
        const std::string part = name.substr(begin, end - begin);
        if (!part.empty() && part.find_first_not_of("0123456789") == std::string::npos)
            return {name.substr(0, end), end < name.size() ? name.substr(end + 1) : ""};
        begin = end + 1;
    }
    return {"", name};
}

/// A line a parameter, a line a block; blocks that repeat the one before them say so.
std::vector<std::string> linesOf(const Model& model) {
    std::vector<std::string> lines;
    std::map<std::string, std::string> last;
    for (std::size_t i = 0; i < model.parameters.size();) {
        const auto text = [&](const std::string& name) { return name + " " + toString(model.parameters[i].shape); };
        const std::string block = splitAtNumber(model.parameters[i].name).first;
        if (block.empty()) {
            lines.push_back(text(model.parameters[i].name));
            ++i;
            continue;
        }
        std::string inside;
        for (; i < model.parameters.size() && splitAtNumber(model.parameters[i].name).first == block; ++i)
            inside += (inside.empty() ? "" : "; ") + text(splitAtNumber(model.parameters[i].name).second);
        std::string& before = last[block.substr(0, block.rfind('.'))];
        lines.push_back(block + (before == inside ? " as before" : ": " + inside));
        before = inside;
    }
    return lines;
}

TEST(HfModels, HaveTheRecordedNamesShapesOrderAndTotals) {
    ASSERT_GE(recordings().find("cases")->items.size(), 70u);
    for (const Document& recorded : recordings().find("cases")->items) {
        const std::string& id = recorded.find("id")->text;
        const auto model = modelOf(*recorded.find("config"));
        ASSERT_TRUE(model) << id << ": " << describe(model.error());
        const std::vector<std::string> here = linesOf(*model);
        const auto& expected = recorded.find("parameters")->items;
        for (std::size_t i = 0; i < std::max(here.size(), expected.size()); ++i)
            ASSERT_EQ(i < here.size() ? here[i] : "none", i < expected.size() ? expected[i].text : "none") << id;
        EXPECT_EQ(parameterCount(*model), recorded.find("total")->integer) << id;
        std::int64_t trainable = 0;
        std::size_t tied = 0;
        for (const Parameter& p : model->parameters) {
            trainable += p.frozen ? 0 : elementsOf(p.shape);
            tied += p.tied ? 1 : 0;
        }
        EXPECT_EQ(trainable, recorded.find("trainable")->integer) << id;
        EXPECT_EQ(tied, recorded.find("tied")->items.size()) << id;
        const Document* active = recorded.find("active");
        EXPECT_EQ(activeParameterCount(*model), active != nullptr ? active->integer : parameterCount(*model)) << id;
    }
}

TEST(HfModels, MissingAndNullKeysMeanWhatTheyMeanToTheLibrary) {
    int held = 0;
    for (const Document& recorded : recordings().find("cases")->items) {
        for (const char* change : {"without", "null"}) {
            const Document* rules = recorded.find(change);
            if (rules == nullptr) continue;
            for (const auto& [key, total] : rules->members) {
                Document config = Document::table();
                for (const auto& [name, value] : recorded.find("config")->members)
                    if (name != key)
                        config.set(name, value);
                    else if (std::string_view(change) == "null")
                        config.set(name, Document{});
                const auto model = modelOf(config);
                const std::string id = recorded.find("id")->text + " " + change + " " + key;
                if (total.kind == Document::Kind::Null) {
                    EXPECT_FALSE(model) << id;
                } else if (model) {
                    EXPECT_EQ(parameterCount(*model), total.integer) << id;
                    ++held;
                } else {
                    // The library builds heads that do not divide and odd rotations; no forward pass runs on them.
                    EXPECT_TRUE(model.error().message.find("divide") != std::string::npos ||
                                model.error().message.find("even") != std::string::npos)
                        << id << ": " << model.error().message;
                }
            }
        }
    }
    EXPECT_GE(held, 200);
}

TEST(HfModels, EveryParameterStandsInALayerAndGetsAGradient) {
    for (const Document& recorded : recordings().find("cases")->items) {
        for (const auto kind : {Workload::AttentionKind::Flash, Workload::AttentionKind::Math}) {
            Workload workload = workloadOf(2, 8);
            workload.attention = kind;
            const std::string& id = recorded.find("id")->text;
            const auto model = modelOf(*recorded.find("config"), workload);
            ASSERT_TRUE(model) << id << ": " << describe(model.error());
            std::set<ParameterId> used;
            for (const Layer& layer : model->layers) {
                const Program& program = model->programOf(layer);
                std::set<std::uint32_t> withGradient;
                bool input = false, output = false;
                for (const Tensor& tensor : program.tensors) {
                    if (tensor.role == TensorRole::ParameterGradient) withGradient.insert(tensor.slot);
                    input = input || tensor.role == TensorRole::InputGradient;
                    output = output || tensor.role == TensorRole::Output;
                }
                std::size_t trained = 0;
                for (const ParameterId p : layer.parameters) trained += model->parameters[p.index()].frozen ? 0 : 1;
                EXPECT_EQ(withGradient.size(), trained) << id << " " << layer.name;
                EXPECT_TRUE(output) << id << " " << layer.name;
                EXPECT_TRUE(input || &layer == &model->layers.front()) << id << " " << layer.name;
                used.insert(layer.parameters.begin(), layer.parameters.end());
            }
            // Modules that a training step does not run (a mask token, a pooler behind an unused head) stay out.
            std::int64_t unused = 0;
            for (std::size_t p = 0; p < model->parameters.size(); ++p)
                if (!used.contains(ParameterId(p))) unused += elementsOf(model->parameters[p].shape);
            EXPECT_LE(unused * 20, parameterCount(*model)) << id;
            EXPECT_EQ(model->layers.back().kind, LayerKind::Loss) << id;
        }
    }
}

TEST(HfModels, WrongValuesNameTheirKeyAndHugeOnesAreRefusedNotMultiplied) {
    const std::vector<std::string> wrong{"-1", "1.5", "\"32\"", "true", "[[1]]", "1e300", "9223372036854775807"};
    for (const Document& recorded : recordings().find("cases")->items) {
        const std::string id = recorded.find("id")->text;
        const Document& config = *recorded.find("config");
        for (const auto& [key, value] : config.members) {
            if (value.kind != Document::Kind::Integer || key.ends_with("_token_id")) continue;
            for (const std::string& text : wrong) {
                if (key == "position_buckets" && text == "-1") continue;  // none
                Document changed = config;
                changed.set(key, *parseJson("{\"v\": " + text + "}", "v")->find("v"));
                const auto model = modelOf(changed);
                // Keys that shape nothing are not read (deepseek's num_key_value_heads).
                if (model) {
                    EXPECT_EQ(parameterCount(*model), recorded.find("total")->integer) << id << " " << key << text;
                    continue;
                }
                EXPECT_NE(model.error().message.find(key), std::string::npos)
                    << id << " " << key << " " << text << ": " << model.error().message;
                EXPECT_TRUE(model.error().where.starts_with("config.json")) << id << " " << key;
            }
            for (const std::int64_t huge : {std::int64_t{1} << 31, std::int64_t{1} << 20}) {
                Document changed = config;
                changed.set(key, Document::of(huge));
                if (const auto model = modelOf(changed, workloadOf(1 << 20, 1)); model)
                    EXPECT_GT(parameterCount(*model), 0) << id << " " << key;
                else
                    EXPECT_FALSE(model.error().message.empty()) << id << " " << key;
            }
        }
    }
}

TEST(HfModels, WhatIsNotModelledIsRefusedByName) {
    const auto refused = [](const std::string& config) {
        const auto model = modelOf(config);
        return model ? Error{} : model.error();
    };
    const Error mamba = refused(R"({"model_type": "mamba"})");
    EXPECT_EQ(mamba.code, ErrorCode::Unsupported);
    EXPECT_NE(mamba.message.find("state-space blocks"), std::string::npos) << mamba.message;
    EXPECT_NE(mamba.hint.find("safetensors"), std::string::npos);
    EXPECT_NE(refused(R"({"model_type": "resnet"})").message.find("convolutional stages"), std::string::npos);
    for (const std::string_view type : knownHfModelTypes())
        EXPECT_NE(refused(R"({"model_type": "no-such"})").message.find(type), std::string::npos) << type;
    EXPECT_EQ(refused(R"({"model_type": "bert", "architectures": ["BertForNextSentencePrediction"]})").code,
              ErrorCode::Unsupported);
    EXPECT_EQ(refused(R"({"model_type": "bert", "hidden_act": "mish"})").code, ErrorCode::Unsupported);
    EXPECT_FALSE(refused(R"({"model_type": "bert", "num_attention_heads": 7})").message.empty());
    EXPECT_FALSE(refused("[]").message.empty());
    EXPECT_FALSE(refused("{}").message.empty());
}

// Public configurations; totals and active parameters as transformers 5.24 builds them.
TEST(HfModels, FullSizesHaveTheirTotalsAndActiveParameters) {
    struct Row {
        const char* config;
        std::int64_t total, active;
    };
    const Row rows[] = {
        {R"({"model_type": "mixtral", "vocab_size": 32000, "hidden_size": 4096, "intermediate_size": 14336,
            "num_hidden_layers": 32, "num_attention_heads": 32, "num_key_value_heads": 8, "num_local_experts": 8})",
         46'702'792'704, 12'879'925'248},
        {R"({"model_type": "deepseek_v3"})", 671'026'404'352, 37'552'282'624},
        {R"({"model_type": "gpt_oss", "num_hidden_layers": 24, "num_local_experts": 32})", 20'914'757'184,
         4'187'440'704},
        {R"({"model_type": "gemma", "hidden_size": 2048, "intermediate_size": 16384, "num_hidden_layers": 18,
            "num_attention_heads": 8, "num_key_value_heads": 1})",
         2'506'172'416, 2'506'172'416},
        {R"({"model_type": "falcon", "hidden_size": 8192, "num_hidden_layers": 60, "num_attention_heads": 128,
            "num_kv_heads": 8, "new_decoder_architecture": true})",
         41'303'293'952, 41'303'293'952},
        {R"({"model_type": "bert", "architectures": ["BertModel"]})", 109'482'240, 109'482'240},
        {R"({"model_type": "t5"})", 60'506'624, 60'506'624},
        {R"({"model_type": "bart"})", 406'291'456, 406'291'456},
        {R"({"model_type": "whisper"})", 37'760'640, 37'760'640},
        {R"({"model_type": "vit", "num_labels": 1000, "patch_size": 32})", 88'224'232, 88'224'232},
        {R"({"model_type": "swin", "num_labels": 1000})", 28'288'354, 28'288'354},
        {R"({"model_type": "clip"})", 151'277'313, 151'277'313},
        {R"({"model_type": "wav2vec2"})", 94'396'320, 94'396'320},
    };
    for (const Row& row : rows) {
        const auto model = modelOf(std::string(row.config));
        ASSERT_TRUE(model) << row.config << describe(model.error());
        EXPECT_EQ(parameterCount(*model), row.total) << row.config;
        EXPECT_EQ(activeParameterCount(*model), row.active) << row.config;
    }
}

// Two FLOPs a token for each active weight that is multiplied with, beside attention's products.
TEST(HfModels, ExpertsCostWhatTheirActiveParametersCost) {
    const auto model = modelOf(std::string(R"({"model_type": "mixtral", "vocab_size": 512, "hidden_size": 256,
        "intermediate_size": 512, "num_hidden_layers": 2, "num_attention_heads": 4, "num_key_value_heads": 4,
        "num_local_experts": 4, "num_experts_per_tok": 2})"),
                               workloadOf(2, 64));
    ASSERT_TRUE(model);
    const std::int64_t tokens = 128, embedding = 512 * 256, norms = 5 * 256;
    const std::int64_t attention = 2 * 2 * 2 * 4 * 64 * 64 * 64 * 2;  // two products, two layers, samples, heads
    EXPECT_EQ(forwardFlops(*model).value, 2 * tokens * (activeParameterCount(*model) - embedding - norms) + attention);
}

TEST(HfModels, UnitsFormInOrderOfExecution) {
    const auto layersOf = [](const std::string& config) {
        std::string names;
        const auto model = modelOf(config);
        if (model)
            for (const Layer& layer : model->layers) names += layer.name + " ";
        return names;
    };
    EXPECT_EQ(layersOf(R"({"model_type": "t5", "num_layers": 1})"),
              "encoder.embed_tokens encoder.block.0 decoder.embed_tokens decoder.block.0 decoder.final_layer_norm "
              "lm_head loss ");
    // Text is registered first, images run first.
    EXPECT_EQ(layersOf(R"({"model_type": "clip", "text_config": {"num_hidden_layers": 1},
                           "vision_config": {"num_hidden_layers": 1}})"),
              "vision_model.embeddings vision_model.encoder.layers.0 text_model.embeddings "
              "text_model.encoder.layers.0 text_projection loss ");
}

// The encoder's states are one tensor that every decoder block reads and adds a gradient to.
TEST(HfModels, DecoderBlocksShareTheEncodersStates) {
    const auto model =
        modelOf(std::string(R"({"model_type": "bart", "encoder_layers": 1, "decoder_layers": 2})"), workloadOf(2, 8));
    ASSERT_TRUE(model);
    int readers = 0, sums = 0;
    for (const Layer& layer : model->layers) {
        const Program& program = model->programOf(layer);
        for (const Tensor& tensor : program.tensors) {
            if (tensor.role != TensorRole::Shared || tensor.name != "encoder_states") continue;
            ++readers;
            EXPECT_EQ(tensor.shape, (Shape{2, 8, 1024}));
        }
        for (const Kernel& kernel : program.backward)
            if (kernel.kind == KernelKind::Add && kernel.outputs == std::vector{kernel.inputs.front()})
                sums += program.tensor(kernel.outputs.front()).name == "encoder_states.gradient" ? 1 : 0;
    }
    EXPECT_EQ(readers, 3) << "the layer that makes them, and two blocks";
    EXPECT_EQ(sums, 2);
}

}  // namespace
}  // namespace shardscope::core
