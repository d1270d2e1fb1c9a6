#include "core/model/hf/decoder_values.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/model/hf/layer_writer.h"

namespace shardscope::core {
namespace {

constexpr std::int64_t kMostHeadNorms = 1'024;

/// One of the activation words; another one is refused.
std::string activationOf(ConfigKeys& keys, const DecoderRow& row) {
    std::string_view key = row.activationKey;
    const Document* value = keys.find(key);
    // gemma's hidden_activation may be null; then, as before it existed, hidden_act is read.
    if (key == "hidden_activation" && (value == nullptr || value->kind == Document::Kind::Null))
        return std::string(row.activation);
    return keys.word(
        key, row.activation,
        {"silu", "swish", "gelu", "gelu_new", "gelu_fast", "gelu_pytorch_tanh", "quick_gelu", "relu", "relu2", "tanh"});
}

void readExperts(ConfigKeys& keys, DecoderValues& d) {
    const DecoderRow& row = *d.row;
    d.experts = keys.size(row.expertsKey, row.experts);
    d.expertsPerToken = keys.size("num_experts_per_tok", row.expertsPerToken);
    if (d.expertsPerToken > d.experts)
        keys.refuse("num_experts_per_tok",
                    fmt::format("found {}, expected at most the {} experts", d.expertsPerToken, d.experts));
    d.sparse.assign(static_cast<std::size_t>(d.layers), true);
    d.expertWidth = d.intermediate;
    d.denseWidth = d.intermediate;
    if (row.moe == DecoderRow::Moe::Llama4) {
        d.denseWidth = keys.size("intermediate_size_mlp", 16384);
        d.sharedWidth = d.expertWidth;
        const std::int64_t step = keys.size("interleave_moe_layer_step", 1);
        for (std::size_t i = 0; i < d.sparse.size(); ++i) d.sparse[i] = (static_cast<std::int64_t>(i) + 1) % step == 0;
        if (const Document* list = keys.find("moe_layers"); list != nullptr && list->kind == Document::Kind::List) {
            const std::vector<std::int64_t> moe = keys.sizes("moe_layers", {}, 0);
            for (std::size_t i = 0; i < d.sparse.size(); ++i)
                d.sparse[i] = std::find(moe.begin(), moe.end(), static_cast<std::int64_t>(i)) != moe.end();
        }
    }
    if (row.moe == DecoderRow::Moe::Qwen) {
        d.expertWidth = keys.size("moe_intermediate_size", row.expertWidth);
        if (row.sharedWidth > 0) d.sharedWidth = keys.size("shared_expert_intermediate_size", row.sharedWidth);
        const std::int64_t step = keys.size("decoder_sparse_step", 1);
        std::vector<std::int64_t> dense;
        const Document* list = keys.find("mlp_only_layers");
        if (list != nullptr && list->kind != Document::Kind::Null) dense = keys.sizes("mlp_only_layers", {}, 0);
        for (std::size_t i = 0; i < d.sparse.size(); ++i) {
            const auto layer = static_cast<std::int64_t>(i);
            d.sparse[i] = (layer + 1) % step == 0 && std::find(dense.begin(), dense.end(), layer) == dense.end();
        }
    }
    keys.times("the number of experts times twice their width", d.experts,
               keys.times("an expert's width", 2, d.expertWidth));
}

}  // namespace

DecoderValues readDecoderValues(ConfigKeys& keys, const DecoderRow& row) {
    DecoderValues d;
    d.row = &row;
    d.activation = activationOf(keys, row);
    d.vocab = keys.size("vocab_size", row.vocab);
    d.hidden = keys.size("hidden_size", row.hidden);
    d.intermediate = keys.size("intermediate_size", row.intermediate);
    d.layers = keys.layers("num_hidden_layers", row.layers);
    d.heads = keys.size("num_attention_heads", row.heads);
    d.positions = keys.size("max_position_embeddings", row.positions);
    d.kvHeads = keys.size("num_key_value_heads",
                          row.needsKvHeads   ? 0
                          : row.kvHeads == 0 ? d.heads
                                             : row.kvHeads,
                          row.nullKvHeads ? d.heads : 0);
    const Document* headDim = row.readsHeadDim ? keys.find("head_dim") : nullptr;
    const bool derived =
        headDim == nullptr ? row.headDim == 0 : headDim->kind == Document::Kind::Null && row.nullHeadDim;
    if (derived) {
        if (d.hidden % d.heads != 0)
            keys.refuse("num_attention_heads",
                        fmt::format("found {}, which does not divide hidden_size {}", d.heads, d.hidden),
                        "head_dim is hidden_size / num_attention_heads where the file does not state it");
        else
            d.headDim = d.hidden / d.heads;
    } else {
        d.headDim = keys.size("head_dim", row.headDim);
    }
    if (d.heads % d.kvHeads != 0)
        keys.refuse("num_key_value_heads",
                    fmt::format("found {}, which does not divide num_attention_heads {}", d.kvHeads, d.heads));
    keys.times("num_attention_heads times head_dim", d.heads, d.headDim);
    const auto biasOf = [&](std::string_view key, bool standard) {
        return key.empty() ? standard : keys.flag(key, standard);
    };
    d.tied = keys.flag("tie_word_embeddings", row.tied);
    d.qkvBias = biasOf(row.biasKey, row.biasDefault);
    d.outputBias = row.outputBias && d.qkvBias;
    d.mlpBias = biasOf(row.mlpBiasKey, row.mlpBiasDefault);
    d.epsilon = keys.epsilon(row.epsilonKey, row.epsilon);
    d.parallel = row.parallelKey.empty() ? row.parallel : keys.flag(row.parallelKey, row.parallel);
    d.qkNorm = row.qkNorm != DecoderRow::QkNorm::None &&
               (row.qkNormKey.empty() ||
                (row.qkNormNull ? keys.truth(row.qkNormKey, false) : keys.flag(row.qkNormKey, false)));
    if (d.qkNorm && row.qkNorm == DecoderRow::QkNorm::PerHead && d.heads > kMostHeadNorms)
        keys.refuse("num_attention_heads",
                    fmt::format("found {}, expected at most {} where each has a norm", d.heads, kMostHeadNorms));
    const double share = keys.number("partial_rotary_factor", row.rotaryShare, 0, 1.0001);
    d.rotary = static_cast<std::int64_t>(static_cast<double>(d.headDim) * share);
    if (d.rotary % 2 != 0)
        keys.refuse(
            headDim != nullptr ? "head_dim" : "num_attention_heads",
            fmt::format("found a rotary embedding over {} dimensions of a head, expected an even number", d.rotary));
    if (row.windowed) {
        const Document* window = keys.find("sliding_window");
        if (window != nullptr ? window->kind != Document::Kind::Null : row.slidingWindow > 0)
            d.window = keys.size("sliding_window", row.slidingWindow);
    }
    if (const Document* types = keys.find("layer_types"); types != nullptr && types->kind == Document::Kind::List) {
        const auto count = static_cast<std::int64_t>(keys.words("layer_types").size());
        if (count != d.layers)
            keys.refuse("layer_types", fmt::format("found {} entries, expected num_hidden_layers {}", count, d.layers));
    }
    const Document* pad = keys.find("pad_token_id");
    const std::int64_t padToken = pad == nullptr                         ? row.padToken
                                  : pad->kind == Document::Kind::Integer ? pad->integer
                                                                         : -1;
    if (padToken >= d.vocab)
        keys.refuse("pad_token_id", fmt::format("found {}, expected below vocab_size {}", padToken, d.vocab),
                    "the row of the padding token must be in the table");
    if (row.moe != DecoderRow::Moe::None) readExperts(keys, d);
    return d;
}

DecoderValues valuesOf(const DecoderSpec& spec) {
    DecoderValues d;
    d.row = findDecoderRow(spec.modelType);
    d.vocab = spec.vocab;
    d.hidden = spec.hidden;
    d.intermediate = spec.intermediate;
    d.layers = spec.layers;
    d.heads = spec.heads;
    d.kvHeads = spec.kvHeads;
    d.headDim = spec.headDim;
    d.rotary = spec.headDim;
    d.positions = spec.positions;
    d.window = spec.slidingWindow;
    d.tied = spec.tiedEmbeddings;
    d.qkvBias = spec.attentionBias || spec.qkvBias;
    d.outputBias = spec.attentionBias;
    d.mlpBias = spec.mlpBias;
    d.qkNorm = spec.qkNorm;
    d.epsilon = spec.normEpsilon;
    d.dropout = spec.dropout.attention;
    return d;
}

std::string classOf(const DecoderValues& d, std::string_view part) {
    if (part.starts_with("=")) return std::string(part.substr(1));
    return std::string(d.row->classes) + std::string(part);
}

}  // namespace shardscope::core
