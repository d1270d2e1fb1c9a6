#include "core/model/hf_config.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <array>
#include <cmath>
#include <tuple>

#include "core/model/size_check.h"

namespace shardscope::core {
namespace {

/// What transformers takes for keys that a config does not state (framework semantics 9.3).
struct Defaults {
    std::string_view modelType;
    std::int64_t vocab, hidden, intermediate, layers, heads;
    std::int64_t kvHeads;  ///< 0: as many as heads
    bool nullKvHeads;      ///< null is allowed and means as many as heads
    std::int64_t headDim;  ///< 0: hidden / heads
    bool nullHeadDim;      ///< null is allowed and means hidden / heads
    std::int64_t positions;
    bool readsAttentionBias, readsMlpBias;
    bool qkvBias, qkNorm;
    std::int64_t slidingWindow;
};

constexpr std::array<Defaults, 4> kLlamaFamily{{
    {"llama", 32000, 4096, 11008, 32, 32, 0, true, 0, true, 2048, true, true, false, false, 0},
    {"mistral", 32000, 4096, 14336, 32, 32, 8, false, 0, true, 131072, false, false, false, false, 4096},
    {"qwen2", 151936, 4096, 22016, 32, 32, 32, true, 0, true, 32768, false, false, true, false, 0},
    {"qwen3", 151936, 4096, 22016, 32, 32, 32, true, 128, false, 32768, true, false, false, true, 0},
}};

/// Typed access to a config's keys.
class Keys {
public:
    Keys(const Document& config, const std::string& file) : m_config(config), m_file(file) {}

    [[nodiscard]] tl::unexpected<Error> wrong(std::string_view key, std::string message, std::string hint = {}) const {
        const Document* value = m_config.find(key);
        const int line = value != nullptr ? value->line : 0;
        return fail(ErrorCode::Input, fmt::format("{}: {}", key, message),
                    line > 0 ? fmt::format("{}:{}", m_file, line) : m_file, std::move(hint));
    }

    [[nodiscard]] tl::unexpected<Error> unsupported(std::string_view key, std::string message, std::string hint) const {
        auto error = wrong(key, std::move(message), std::move(hint));
        error.value().code = ErrorCode::Unsupported;
        return error;
    }

    /// A size in 1..2^31; `absent` where the key is missing, `null` where it holds null (0: null is refused).
    [[nodiscard]] Result<std::int64_t> size(std::string_view key, std::int64_t absent, std::int64_t null = 0) const {
        const Document* value = m_config.find(key);
        if (value == nullptr) return absent;
        if (value->kind == Document::Kind::Null && null != 0) return null;
        if (value->kind == Document::Kind::Real)
            return wrong(key, fmt::format("found {}, expected an integer", value->real));
        if (value->kind != Document::Kind::Integer)
            return wrong(key, fmt::format("found {}, expected an integer", describeKind(value->kind)));
        if (value->integer < 1 || value->integer > kLargestSize)
            return wrong(key, fmt::format("found {}, expected 1 to 2^31", value->integer));
        return value->integer;
    }

    [[nodiscard]] Result<bool> flag(std::string_view key, bool absent) const {
        const Document* value = m_config.find(key);
        if (value == nullptr) return absent;
        if (value->kind != Document::Kind::Boolean)
            return wrong(key, fmt::format("found {}, expected true or false", describeKind(value->kind)));
        return value->boolean;
    }

    [[nodiscard]] Result<double> epsilon(std::string_view key, double absent) const {
        const Document* value = m_config.find(key);
        if (value == nullptr) return absent;
        if (!value->isNumber())
            return wrong(key, fmt::format("found {}, expected a number", describeKind(value->kind)));
        const double number = value->number();
        if (!std::isfinite(number) || number < 0 || number >= 1)
            return wrong(key, fmt::format("found {}, expected at least 0 and below 1", number));
        return number;
    }

    /// Whether a probability is above 0.
    [[nodiscard]] Result<bool> dropout(std::string_view key, double absent) const {
        if (const Document* value = m_config.find(key); value != nullptr && value->kind == Document::Kind::Null)
            return false;
        SHARDSCOPE_ASSIGN(const double probability, epsilon(key, absent));
        return probability > 0;
    }

    /// Kernel lists are known for one activation a family; another one changes them.
    [[nodiscard]] Result<void> onlyActivation(std::string_view key, std::string_view known) const {
        const Document* value = m_config.find(key);
        if (value == nullptr || (value->kind == Document::Kind::Text && value->text == known)) return {};
        const std::string found = value->kind == Document::Kind::Text ? "'" + value->text.substr(0, 40) + "'"
                                                                      : std::string(describeKind(value->kind));
        return unsupported(key, fmt::format("found {}, expected '{}'", found, known),
                           "this activation's kernels are not modelled");
    }

    [[nodiscard]] const Document* find(std::string_view key) const { return m_config.find(key); }

private:
    const Document& m_config;
    const std::string& m_file;
};

Result<DecoderSpec> readLlamaFamily(const Keys& keys, const Defaults& defaults, DecoderSpec spec) {
    SHARDSCOPE_TRY(keys.onlyActivation("hidden_act", "silu"));
    SHARDSCOPE_ASSIGN(spec.vocab, keys.size("vocab_size", defaults.vocab));
    SHARDSCOPE_ASSIGN(spec.hidden, keys.size("hidden_size", defaults.hidden));
    SHARDSCOPE_ASSIGN(spec.intermediate, keys.size("intermediate_size", defaults.intermediate));
    SHARDSCOPE_ASSIGN(spec.layers, keys.size("num_hidden_layers", defaults.layers));
    SHARDSCOPE_ASSIGN(spec.heads, keys.size("num_attention_heads", defaults.heads));
    SHARDSCOPE_ASSIGN(spec.positions, keys.size("max_position_embeddings", defaults.positions));
    SHARDSCOPE_ASSIGN(spec.kvHeads,
                      keys.size("num_key_value_heads", defaults.kvHeads == 0 ? spec.heads : defaults.kvHeads,
                                defaults.nullKvHeads ? spec.heads : 0));
    const Document* headDim = keys.find("head_dim");
    const bool derived =
        headDim == nullptr ? defaults.headDim == 0 : headDim->kind == Document::Kind::Null && defaults.nullHeadDim;
    if (derived) {
        if (spec.hidden % spec.heads != 0)
            return keys.wrong("num_attention_heads",
                              fmt::format("found {}, which does not divide hidden_size {}", spec.heads, spec.hidden),
                              "head_dim is hidden_size / num_attention_heads where the file does not state it");
        spec.headDim = spec.hidden / spec.heads;
    } else {
        SHARDSCOPE_ASSIGN(spec.headDim, keys.size("head_dim", defaults.headDim));
    }
    SHARDSCOPE_ASSIGN(spec.tiedEmbeddings, keys.flag("tie_word_embeddings", false));
    if (defaults.readsAttentionBias) {
        SHARDSCOPE_ASSIGN(spec.attentionBias, keys.flag("attention_bias", false));
    }
    if (defaults.readsMlpBias) {
        SHARDSCOPE_ASSIGN(spec.mlpBias, keys.flag("mlp_bias", false));
    }
    spec.qkvBias = defaults.qkvBias;
    spec.qkNorm = defaults.qkNorm;
    SHARDSCOPE_ASSIGN(spec.normEpsilon, keys.epsilon("rms_norm_eps", 1e-6));
    SHARDSCOPE_ASSIGN(spec.dropout.attention, keys.dropout("attention_dropout", 0));

    bool windowed = defaults.slidingWindow > 0;
    if (spec.qkvBias || spec.qkNorm) {  // qwen2 and qwen3
        SHARDSCOPE_ASSIGN(windowed, keys.flag("use_sliding_window", false));
        const Document* fullLayers = keys.find("max_window_layers");
        if (fullLayers != nullptr && fullLayers->kind != Document::Kind::Integer)
            return keys.wrong("max_window_layers",
                              fmt::format("found {}, expected an integer", describeKind(fullLayers->kind)));
    }
    const Document* window = keys.find("sliding_window");
    if (windowed && (window == nullptr || window->kind != Document::Kind::Null)) {
        SHARDSCOPE_ASSIGN(spec.slidingWindow, keys.size("sliding_window", 4096));
    }
    return spec;
}

Result<DecoderSpec> readGpt2(const Keys& keys, DecoderSpec spec) {
    SHARDSCOPE_TRY(keys.onlyActivation("activation_function", "gelu_new"));
    SHARDSCOPE_ASSIGN(const bool crossAttention, keys.flag("add_cross_attention", false));
    if (crossAttention)
        return keys.unsupported("add_cross_attention", "found true, expected a decoder without an encoder",
                                "give the model's .safetensors files instead: its shapes are then exact");
    // transformers accepts the common names beside GPT-2's own.
    const auto either = [&keys](std::string_view own, std::string_view common) {
        return keys.find(own) == nullptr && keys.find(common) != nullptr ? common : own;
    };
    SHARDSCOPE_ASSIGN(spec.vocab, keys.size("vocab_size", 50257));
    SHARDSCOPE_ASSIGN(spec.hidden, keys.size(either("n_embd", "hidden_size"), 768));
    SHARDSCOPE_ASSIGN(spec.layers, keys.size(either("n_layer", "num_hidden_layers"), 12));
    SHARDSCOPE_ASSIGN(spec.heads, keys.size(either("n_head", "num_attention_heads"), 12));
    SHARDSCOPE_ASSIGN(spec.positions, keys.size(either("n_positions", "max_position_embeddings"), 1024));
    SHARDSCOPE_ASSIGN(spec.intermediate, keys.size("n_inner", 4 * spec.hidden, 4 * spec.hidden));
    SHARDSCOPE_ASSIGN(spec.tiedEmbeddings, keys.flag("tie_word_embeddings", true));
    SHARDSCOPE_ASSIGN(spec.normEpsilon, keys.epsilon("layer_norm_epsilon", 1e-5));
    // transformers' own, if the file does not state them.
    SHARDSCOPE_ASSIGN(spec.dropout.embedding, keys.dropout("embd_pdrop", 0.1));
    SHARDSCOPE_ASSIGN(spec.dropout.attention, keys.dropout("attn_pdrop", 0.1));
    SHARDSCOPE_ASSIGN(spec.dropout.residual, keys.dropout("resid_pdrop", 0.1));
    spec.kvHeads = spec.heads;
    if (spec.hidden % spec.heads != 0)
        return keys.wrong("n_head", fmt::format("found {}, which does not divide n_embd {}", spec.heads, spec.hidden));
    spec.headDim = spec.hidden / spec.heads;
    return spec;
}

/// A config can name a class with another head; only the language-model heads are built here.
Result<void> checkArchitecture(const Keys& keys, const std::string& file) {
    const Document* architectures = keys.find("architectures");
    if (architectures == nullptr || architectures->kind != Document::Kind::List || architectures->items.empty())
        return {};
    const Document& first = architectures->items.front();
    if (first.kind != Document::Kind::Text || first.text.ends_with("ForCausalLM") ||
        first.text.ends_with("LMHeadModel"))
        return {};
    return fail(ErrorCode::Unsupported,
                fmt::format("architectures: found '{}', expected a class with a language-model head (...ForCausalLM)",
                            first.text.substr(0, 60)),
                file, "give the model's .safetensors files instead: its shapes are then exact");
}

}  // namespace

const std::vector<std::string_view>& knownModelTypes() {
    static const std::vector<std::string_view> kTypes{"llama", "mistral", "qwen2", "qwen3", "gpt2"};
    return kTypes;
}

Result<DecoderSpec> readHfConfig(const Document& config, const std::string& file, const std::string& name) {
    if (config.kind != Document::Kind::Table)
        return fail(ErrorCode::Input, fmt::format("found {}, expected a table", describeKind(config.kind)), file);
    const Keys keys(config, file);
    const Document* type = config.find("model_type");
    const std::string known = fmt::format("{}", fmt::join(knownModelTypes(), ", "));
    if (type == nullptr || type->kind != Document::Kind::Text)
        return keys.wrong(
            "model_type",
            fmt::format("{}, expected one of {}",
                        type == nullptr ? "missing" : fmt::format("found {}", describeKind(type->kind)), known),
            "add it, or give the model's .safetensors file or index instead: its shapes are then exact");
    DecoderSpec spec;
    spec.name = name;
    spec.modelType = type->text;
    if (type->text == "gpt2") {
        SHARDSCOPE_TRY(checkArchitecture(keys, file));
        SHARDSCOPE_ASSIGN(spec, readGpt2(keys, spec));
    } else {
        const Defaults* defaults = nullptr;
        for (const Defaults& row : kLlamaFamily)
            if (row.modelType == type->text) defaults = &row;
        if (defaults == nullptr)
            return keys.unsupported("model_type",
                                    fmt::format("found '{}', expected one of {}", type->text.substr(0, 60), known),
                                    "give the model's .safetensors files (or the folder that holds them) instead: its "
                                    "shapes are then exact, "
                                    "its matrix products counted, attention left out");
        SHARDSCOPE_TRY(checkArchitecture(keys, file));
        SHARDSCOPE_ASSIGN(spec, readLlamaFamily(keys, *defaults, spec));
    }
    SHARDSCOPE_TRY(checkDecoder(spec, file));
    return spec;
}

Result<DecoderSpec> parseHfConfig(std::string_view bytes, const std::string& file, const std::string& name) {
    SHARDSCOPE_ASSIGN(const Document config, parseJson(bytes, file));
    return readHfConfig(config, file, name);
}

Result<void> checkDecoder(const DecoderSpec& spec, const std::string& where) {
    const auto wrong = [&where](std::string message) {
        return fail(ErrorCode::Input, std::move(message), where,
                    "correct this size in the config.json or the scenario");
    };
    bool known = false;
    for (const std::string_view type : knownModelTypes()) known = known || type == spec.modelType;
    if (!known)
        return wrong(fmt::format("model_type: found '{}', expected one of {}", spec.modelType.substr(0, 60),
                                 fmt::join(knownModelTypes(), ", ")));
    const bool gpt2 = spec.modelType == "gpt2";
    const std::array<std::tuple<const char*, std::int64_t, std::int64_t>, 8> sizes{{
        {"vocab_size", spec.vocab, kLargestSize},
        {gpt2 ? "n_embd" : "hidden_size", spec.hidden, kLargestSize},
        {gpt2 ? "n_inner" : "intermediate_size", spec.intermediate, kLargestSize},
        {gpt2 ? "n_layer" : "num_hidden_layers", spec.layers, kMostLayers},
        {gpt2 ? "n_head" : "num_attention_heads", spec.heads, kLargestSize},
        {"num_key_value_heads", spec.kvHeads, kLargestSize},
        {"head_dim", spec.headDim, kLargestSize},
        {gpt2 ? "n_positions" : "max_position_embeddings", spec.positions, kLargestSize},
    }};
    for (const auto& [key, value, largest] : sizes)
        if (value < 1 || value > largest)
            return wrong(fmt::format("{}: found {}, expected 1 to {}", key, value, largest));
    if (spec.heads % spec.kvHeads != 0)
        return wrong(fmt::format("num_key_value_heads: found {}, which does not divide num_attention_heads {}",
                                 spec.kvHeads, spec.heads));
    if (spec.heads > kLargestSize / spec.headDim)
        return wrong(fmt::format("num_attention_heads {} times head_dim {} is beyond 2^31", spec.heads, spec.headDim));
    if (!gpt2 && spec.headDim % 2 != 0)
        return wrong(fmt::format("head_dim: found {}, expected an even number (rotary embedding)", spec.headDim));
    if (gpt2 && spec.heads * spec.headDim != spec.hidden)
        return wrong(
            fmt::format("n_head {} times head_dim {} is not n_embd {}", spec.heads, spec.headDim, spec.hidden));
    if (!std::isfinite(spec.normEpsilon) || spec.normEpsilon < 0)
        return wrong(fmt::format("the norms' epsilon: found {}, expected a small positive number", spec.normEpsilon));
    if (spec.slidingWindow < 0)
        return wrong(fmt::format("sliding_window: found {}, expected a positive number", spec.slidingWindow));
    return {};
}

}  // namespace shardscope::core
