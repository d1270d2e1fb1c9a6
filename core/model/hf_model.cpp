#include "core/model/hf_model.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <utility>

#include "core/model/hf/families.h"
#include "core/model/hf_config.h"
#include "core/model/size_check.h"

namespace shardscope::core {
namespace {

/// What stands in the way of model types that are known but not modelled.
constexpr std::pair<std::string_view, std::string_view> kNotModelled[] = {
    {"mamba", "state-space blocks"},        {"mamba2", "state-space blocks"},
    {"falcon_mamba", "state-space blocks"}, {"jamba", "state-space blocks"},
    {"bamba", "state-space blocks"},        {"zamba", "state-space blocks"},
    {"zamba2", "state-space blocks"},       {"nemotron_h", "state-space blocks"},
    {"rwkv", "recurrent states"},           {"recurrent_gemma", "recurrent states"},
    {"qwen3_next", "recurrent states"},     {"resnet", "convolutional stages"},
    {"convnext", "convolutional stages"},
};

tl::unexpected<Error> at(const Document& config, std::string_view key, const std::string& file, ErrorCode code,
                         std::string message, std::string hint) {
    const Document* value = config.find(key);
    const int line = value != nullptr ? value->line : 0;
    return fail(code, fmt::format("{}: {}", key, message), line > 0 ? fmt::format("{}:{}", file, line) : file,
                std::move(hint));
}

/// The family and class that a config names.
Result<std::pair<const HfFamily*, HfRequest>> requestOf(const Document& config, const std::string& file,
                                                        const Workload& workload) {
    if (config.kind != Document::Kind::Table)
        return fail(ErrorCode::Input, fmt::format("found {}, expected a table", describeKind(config.kind)), file);
    const Document* type = config.find("model_type");
    const std::string known = fmt::format("{}", fmt::join(knownHfModelTypes(), ", "));
    if (type == nullptr || type->kind != Document::Kind::Text)
        return at(config, "model_type", file, ErrorCode::Input,
                  fmt::format("{}, expected one of {}",
                              type == nullptr ? "missing" : fmt::format("found {}", describeKind(type->kind)), known),
                  "add it, or give the model's .safetensors file or index instead: its shapes are then exact");
    const char* otherWay =
        "give the model's .safetensors files (or the folder that holds them) instead: its shapes are then exact, its "
        "matrix products counted, attention left out";
    for (const auto& [name, feature] : kNotModelled)
        if (type->text == name)
            return at(config, "model_type", file, ErrorCode::Unsupported,
                      fmt::format("found '{}', whose {} are not modelled", name, feature), otherWay);
    const HfFamily* family = findHfFamily(type->text);
    if (family == nullptr)
        return at(config, "model_type", file, ErrorCode::Unsupported,
                  fmt::format("found '{}', expected one of {}", type->text.substr(0, 60), known), otherWay);
    HfRequest request;
    request.modelType = type->text;
    request.cls = family->defaultClass;
    request.workload = workload;
    const Document* classes = config.find("architectures");
    if (classes != nullptr && classes->kind == Document::Kind::List && !classes->items.empty() &&
        classes->items.front().kind == Document::Kind::Text)
        request.cls = classes->items.front().text.substr(0, 100);
    return std::pair{family, std::move(request)};
}

/// True for the classes that a DecoderSpec stands for.
bool isPlainDecoder(const HfRequest& request) {
    const auto& types = knownModelTypes();
    if (std::find(types.begin(), types.end(), request.modelType) == types.end()) return false;
    return endsIn(request.cls, "ForCausalLM") || endsIn(request.cls, "LMHeadModel");
}

}  // namespace

std::vector<std::string_view> knownHfModelTypes() {
    std::vector<std::string_view> types;
    for (const HfFamily& family : hfFamilies()) types.push_back(family.modelType);
    std::sort(types.begin(), types.end());
    return types;
}

Result<Model> buildHfModel(const HfSpec& spec, const Workload& workload) {
    SHARDSCOPE_TRY(checkWorkload(workload));
    SHARDSCOPE_ASSIGN(auto found, requestOf(spec.config, spec.file, workload));
    auto& [family, request] = found;
    if (request.workload.sequence == 0 && family->sequence > 0) request.workload.sequence = family->sequence;
    ConfigKeys keys(spec.config, spec.file, family->aliases);
    Architecture architecture;
    architecture.rootType = request.cls;
    family->describe(architecture, keys, request);
    if (keys.error()) return tl::unexpected(*keys.error());
    return std::move(architecture).build(spec.name, request.modelType, request.workload);
}

Result<ModelSpec> readHfModel(const Document& config, const std::string& file, const std::string& name) {
    SHARDSCOPE_ASSIGN(const auto found, requestOf(config, file, {}));
    if (isPlainDecoder(found.second)) {
        auto decoder = readHfConfig(config, file, name);
        if (decoder) return ModelSpec(std::move(*decoder));
        // GPT-2 with cross attention, another activation: the general way takes them.
        if (decoder.error().code != ErrorCode::Unsupported) return tl::unexpected(std::move(decoder).error());
    }
    HfSpec spec{name, file, config};
    Workload shortest;
    shortest.sequence = 1;
    SHARDSCOPE_TRY(buildHfModel(spec, shortest));
    return ModelSpec(std::move(spec));
}

Result<ModelSpec> parseHfModel(std::string_view bytes, const std::string& file, const std::string& name) {
    SHARDSCOPE_ASSIGN(const Document config, parseJson(bytes, file));
    return readHfModel(config, file, name);
}

HfInputs inputsOf(const HfSpec& spec) {
    HfInputs inputs;
    const auto found = requestOf(spec.config, spec.file, {});
    if (!found) return inputs;
    const HfFamily& family = *found->first;
    inputs.takesSequence = family.feeds == HfFamily::Feeds::Text;
    inputs.mostTokens = family.sequence;
    for (const std::string_view key : {"max_position_embeddings", "n_positions", "max_target_positions", "max_seq_len"})
        if (const Document* most = spec.config.find(key);
            most != nullptr && most->kind == Document::Kind::Integer && most->integer > 0)
            inputs.mostTokens = most->integer;
    return inputs;
}

bool setSize(HfSpec& spec, std::string_view what, std::int64_t value) {
    static constexpr std::pair<std::string_view, std::string_view> kKeys[] = {
        {"layers", "num_hidden_layers"},
        {"layers", "n_layer"},
        {"layers", "num_layers"},
        {"layers", "n_layers"},
        {"hidden", "hidden_size"},
        {"hidden", "n_embd"},
        {"hidden", "d_model"},
        {"hidden", "dim"},
        {"heads", "num_attention_heads"},
        {"heads", "n_head"},
        {"heads", "num_heads"},
        {"heads", "n_heads"},
        {"kv_heads", "num_key_value_heads"},
        {"kv_heads", "num_kv_heads"},
        {"head_dim", "head_dim"},
        {"mlp", "intermediate_size"},
        {"mlp", "ffn_dim"},
        {"mlp", "d_ff"},
        {"mlp", "hidden_dim"},
        {"vocab", "vocab_size"},
        {"image_size", "image_size"},
        {"patch_size", "patch_size"},
        {"channels", "num_channels"},
        {"classes", "num_labels"},
    };
    // A key that the file states is the one to change.
    for (const auto& [size, key] : kKeys)
        if (size == what && spec.config.find(key) != nullptr && spec.config.find(key)->kind != Document::Kind::List) {
            spec.config.set(std::string(key), Document::of(value));
            return true;
        }
    return false;
}

}  // namespace shardscope::core
