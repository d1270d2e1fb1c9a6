// Decoders before llama's layout: GPT-2 and its cousins, each with names of its own.

#include <fmt/format.h>

#include <cmath>

#include "core/model/decoder_ops.h"
#include "core/model/hf/blocks.h"
#include "core/model/hf/families.h"

namespace shardscope::core {
namespace {

struct Sizes {
    std::int64_t vocab = 1, hidden = 1, inner = 1, layers = 1, heads = 1, positions = 1;
    bool tied = true, fusedLoss = false;
    double epsilon = 1e-5;
    std::string activation;
    [[nodiscard]] std::int64_t width() const { return hidden / heads; }
};

/// What the layers of a decoder have in common with each other: an embedding layer, equal blocks, a norm, a head.
struct Frame {
    std::string body, blocks, norm, blockType, modelType;
    std::string table;  ///< full name of the embedding's weight
};

void addLayers(Architecture& a, const Frame& f, const Sizes& s, Forward embed, const Forward& block) {
    a.layer(f.table.substr(0, f.table.rfind('.')), LayerKind::Embedding, f.body, f.modelType, std::move(embed));
    addBlocks(a, f.blocks, s.layers, "decoder layer", f.blockType, block);
    if (!f.norm.empty())
        a.layer(f.norm, LayerKind::Norm, f.norm, a.find(f.norm)->type,
                [](LayerWriter& w, TensorId x) { return w.apply("", x); });
    addLanguageHead(a, "lm_head", s.hidden, s.vocab, s.tied ? f.table : "", false, s.fusedLoss);
}

/// Positions 0, 1, ... looked up in a table, and added to the words.
TensorId addPositions(LayerWriter& w, const std::string& table, TensorId words) {
    ProgramBuilder& b = w.b;
    const std::int64_t sequence = w.workload.sequence;
    const TensorId range = b.tensor("arange", {1, sequence}, DType::I64);
    b.emit(KernelKind::Elementwise, "arange", {}, {range});
    const TensorId places = b.tensor("add", {1, sequence}, DType::I64);
    b.emit(KernelKind::Elementwise, "add", {range}, {places});
    const TensorId positions = w.apply(table, places);
    return w.workload.batch == 1 ? b.add(words, positions) : b.addBroadcast(words, positions);
}

AttentionParts attentionOf(const Sizes& s, const std::string& module) {
    AttentionParts parts;
    parts.module = module;
    parts.heads = parts.kvHeads = s.heads;
    parts.width = s.width();
    return parts;
}

MlpParts plainMlp(const std::string& module, const std::string& up, const std::string& down,
                  const std::string& activation) {
    MlpParts parts;
    parts.module = module;
    parts.up = joinNames(module, up);
    parts.down = joinNames(module, down);
    parts.activation = activation;
    return parts;
}

Forward preNormBlock(const AttentionParts& attention, const MlpParts& mlp, const std::string& first,
                     const std::string& second, bool parallel) {
    std::vector<Sublayer> sublayers(2);
    sublayers[0].pre = first;
    sublayers[0].branch = [attention](LayerWriter& w, TensorId x) { return attend(w, attention, x); };
    sublayers[0].branchFirst = true;
    sublayers[1].pre = second;
    sublayers[1].branch = [mlp](LayerWriter& w, TensorId x) { return feedForward(w, mlp, x); };
    return [sublayers, parallel](LayerWriter& w, TensorId x) { return runBlock(w, sublayers, parallel, x); };
}

void sayUnfused(Architecture& a) {
    a.caveats.push_back("position biases keep attention from the fused kernels: it is counted unfused");
}

}  // namespace

void addGpt2(Architecture& a, const DecoderSpec& s, const std::string& activation, bool cross) {
    const std::int64_t h = s.hidden;
    a.module("transformer", "GPT2Model");
    a.embedding("transformer.wte", s.vocab, h);
    a.embedding("transformer.wpe", s.positions, h);
    a.module("transformer.drop", "Dropout");
    a.module("transformer.h", "ModuleList");
    for (std::int64_t i = 0; i < s.layers; ++i) {
        const std::string at = fmt::format("transformer.h.{}", i);
        a.module(at, "GPT2Block");
        a.layerNorm(at + ".ln_1", {h}, s.normEpsilon);
        a.module(at + ".attn", "GPT2Attention");
        a.conv1d(at + ".attn.c_attn", h, 3 * h);
        a.conv1d(at + ".attn.c_proj", h, h);
        a.module(at + ".attn.attn_dropout", "Dropout");
        a.module(at + ".attn.resid_dropout", "Dropout");
        a.layerNorm(at + ".ln_2", {h}, s.normEpsilon);
        if (cross) {
            a.module(at + ".crossattention", "GPT2Attention");
            a.conv1d(at + ".crossattention.c_attn", h, 2 * h);
            a.conv1d(at + ".crossattention.q_attn", h, h);
            a.conv1d(at + ".crossattention.c_proj", h, h);
            a.module(at + ".crossattention.attn_dropout", "Dropout");
            a.module(at + ".crossattention.resid_dropout", "Dropout");
            a.layerNorm(at + ".ln_cross_attn", {h}, s.normEpsilon);
        }
        a.module(at + ".mlp", "GPT2MLP");
        a.conv1d(at + ".mlp.c_fc", h, s.intermediate);
        a.conv1d(at + ".mlp.c_proj", s.intermediate, h);
        if (activation == "gelu_new") a.module(at + ".mlp.act", "NewGELUActivation");
        if (activation == "gelu_pytorch_tanh") a.module(at + ".mlp.act", "GELUTanh");
        a.module(at + ".mlp.dropout", "Dropout");
    }
    a.layerNorm("transformer.ln_f", {h}, s.normEpsilon);

    Sizes sizes;
    sizes.vocab = s.vocab;
    sizes.hidden = h;
    sizes.layers = s.layers;
    sizes.heads = s.heads;
    sizes.tied = s.tiedEmbeddings;
    sizes.fusedLoss = s.fusedLoss;
    AttentionParts attention = attentionOf(sizes, "attn");
    attention.packed = "attn.c_attn";
    attention.output = "attn.c_proj";
    attention.dropout = s.dropout.attention;
    if (s.dropout.residual) attention.outputDropout = "attn.resid_dropout";
    MlpParts mlp = plainMlp("mlp", "c_fc", "c_proj", activation);
    mlp.activationModule = "mlp.act";
    if (s.dropout.residual) mlp.outputDropout = "mlp.dropout";
    std::vector<Sublayer> sublayers(1);
    sublayers[0].pre = "ln_1";
    sublayers[0].branch = [attention](LayerWriter& w, TensorId x) { return attend(w, attention, x); };
    sublayers[0].branchFirst = true;
    if (cross) {
        AttentionParts over = attentionOf(sizes, "crossattention");
        over.packed = "crossattention.c_attn";
        over.query = "crossattention.q_attn";
        over.keyless = true;
        over.output = "crossattention.c_proj";
        over.dropout = s.dropout.attention;
        if (s.dropout.residual) over.outputDropout = "crossattention.resid_dropout";
        Sublayer second;
        second.pre = "ln_cross_attn";
        second.branch = [over](LayerWriter& w, TensorId x) {
            return attend(w, over, x, w.b.shared("encoder_states", w.b.shapeOf(x), w.b.dtype()));
        };
        sublayers.push_back(second);
    }
    Sublayer last;
    last.pre = "ln_2";
    last.branch = [mlp](LayerWriter& w, TensorId x) { return feedForward(w, mlp, x); };
    sublayers.push_back(last);
    addLayers(
        a, {"transformer", "transformer.h", "transformer.ln_f", "GPT2Block", "GPT2Model", "transformer.wte.weight"},
        sizes,
        [drops = s.dropout.embedding](LayerWriter& w, TensorId) {
            const TensorId x = addPositions(w, "wpe", w.apply("wte", tokenIds(w)));
            return drops ? w.drop("drop", x) : x;
        },
        [sublayers](LayerWriter& w, TensorId x) { return runBlock(w, sublayers, false, x); });
}

void describeGpt2(Architecture& a, ConfigKeys& keys, HfRequest& request) {
    DecoderSpec s;
    const std::string activation = keys.activation("activation_function", "gelu_new");
    const bool cross = keys.flag("add_cross_attention", false);
    s.vocab = keys.size("vocab_size", 50257);
    s.hidden = keys.size("n_embd", 768);
    s.layers = keys.layers("n_layer", 12);
    s.heads = keys.size("n_head", 12);
    s.positions = keys.size("n_positions", 1024);
    s.intermediate = keys.size("n_inner", 4 * s.hidden, 4 * s.hidden);
    s.tiedEmbeddings = keys.flag("tie_word_embeddings", true);
    s.normEpsilon = keys.epsilon("layer_norm_epsilon", 1e-5);
    const auto drops = [&keys](std::string_view key) {
        const Document* value = keys.find(key);
        return (value == nullptr || value->kind != Document::Kind::Null) && keys.epsilon(key, 0.1) > 0;
    };
    s.dropout = {drops("embd_pdrop"), drops("attn_pdrop"), drops("resid_pdrop")};
    s.dropout = s.dropout.under(request.workload.dropout);
    keys.quotient("n_head", "n_embd", s.hidden, s.heads);
    onlyClasses(keys, request.cls, {"LMHeadModel"});
    settleSequence(a, keys, request, "n_positions", s.positions, true);
    if (keys.error()) return;
    sayUnrecorded(a, request);
    if (cross) a.caveats.push_back("the encoder is another model: its states, one for each token, come from outside");
    addGpt2(a, s, activation, cross);
}

void describeGptNeo(Architecture& a, ConfigKeys& keys, HfRequest& request) {
    Sizes s;
    s.activation = keys.activation("activation_function", "gelu_new");
    s.vocab = keys.size("vocab_size", 50257);
    s.hidden = keys.size("hidden_size", 2048);
    s.layers = keys.layers("num_layers", 24);
    s.heads = keys.size("num_heads", 16);
    s.positions = keys.size("max_position_embeddings", 2048);
    s.inner = keys.size("intermediate_size", 4 * s.hidden, 4 * s.hidden);
    s.tied = keys.flag("tie_word_embeddings", true);
    s.epsilon = keys.epsilon("layer_norm_epsilon", 1e-5);
    keys.quotient("num_heads", "hidden_size", s.hidden, s.heads);
    // [[["global", "local"], 12]]: the list is repeated that often; together they must make as many as there are
    // layers.
    std::int64_t kinds = 24;
    if (const Document* types = keys.find("attention_types"); types != nullptr) {
        bool sound = types->kind == Document::Kind::List;
        kinds = 0;
        for (const Document& row : types->items) {
            sound = sound && row.items.size() == 2 && row.items[0].kind == Document::Kind::List &&
                    row.items[1].kind == Document::Kind::Integer && row.items[1].integer >= 0 &&
                    row.items[1].integer <= kMostLayers && row.items[0].items.size() <= 4096;
            if (!sound) break;
            kinds += static_cast<std::int64_t>(row.items[0].items.size()) * row.items[1].integer;
        }
        if (!sound) keys.refuse("attention_types", "found another form, expected [[[\"global\", \"local\"], 12]]");
    }
    if (kinds != s.layers)
        keys.refuse("attention_types",
                    fmt::format("found kinds for {} layers, expected num_layers {}", kinds, s.layers));
    onlyClasses(keys, request.cls, {"ForCausalLM"});
    settleSequence(a, keys, request, "max_position_embeddings", s.positions, true);
    const std::int64_t window = keys.size("window_size", 256);
    if (keys.error()) return;
    sayUnrecorded(a, request);
    if (request.workload.sequence > window)
        a.caveats.push_back(fmt::format(
            "attention is counted over the whole sequence of {} tokens; the model's window of {} is not taken off",
            request.workload.sequence, window));

    const std::int64_t h = s.hidden;
    a.module("transformer", "GPTNeoModel");
    a.embedding("transformer.wte", s.vocab, h);
    a.embedding("transformer.wpe", s.positions, h);
    a.module("transformer.h", "ModuleList");
    for (std::int64_t i = 0; i < s.layers; ++i) {
        const std::string at = fmt::format("transformer.h.{}", i);
        a.module(at, "GPTNeoBlock");
        a.layerNorm(at + ".ln_1", {h}, s.epsilon);
        a.module(at + ".attn", "GPTNeoAttention");
        a.module(at + ".attn.attention", "GPTNeoSelfAttention");
        for (const char* name : {"k_proj", "v_proj", "q_proj", "out_proj"})
            a.linear(fmt::format("{}.attn.attention.{}", at, name), h, h, name[0] == 'o');
        a.layerNorm(at + ".ln_2", {h}, s.epsilon);
        a.module(at + ".mlp", "GPTNeoMLP");
        a.linear(at + ".mlp.c_fc", h, s.inner);
        a.linear(at + ".mlp.c_proj", s.inner, h);
    }
    a.layerNorm("transformer.ln_f", {h}, s.epsilon);
    const AttentionParts attention = apartProjections("attn.attention", s.heads, s.width(), true);
    addLayers(
        a, {"transformer", "transformer.h", "transformer.ln_f", "GPTNeoBlock", "GPTNeoModel", "transformer.wte.weight"},
        s, [](LayerWriter& w, TensorId) { return addPositions(w, "wpe", w.apply("wte", tokenIds(w))); },
        preNormBlock(attention, plainMlp("mlp", "c_fc", "c_proj", s.activation), "ln_1", "ln_2", false));
}

void describeGptNeoX(Architecture& a, ConfigKeys& keys, HfRequest& request) {
    Sizes s;
    s.activation = keys.activation("hidden_act", "gelu");
    s.vocab = keys.size("vocab_size", 50432);
    s.hidden = keys.size("hidden_size", 6144);
    s.layers = keys.layers("num_hidden_layers", 44);
    s.heads = keys.size("num_attention_heads", 64);
    s.positions = keys.size("max_position_embeddings", 2048);
    s.inner = keys.size("intermediate_size", 24576);
    s.tied = keys.flag("tie_word_embeddings", false);
    s.epsilon = keys.epsilon("layer_norm_eps", 1e-5);
    const bool bias = keys.flag("attention_bias", true);
    const bool parallel = keys.flag("use_parallel_residual", true);
    const double share = keys.number("rotary_pct", 0.25, 0, 1.0001);
    keys.quotient("num_attention_heads", "hidden_size", s.hidden, s.heads);
    onlyClasses(keys, request.cls, {"ForCausalLM"});
    settleSequence(a, keys, request, "max_position_embeddings", s.positions, false);
    if (keys.error()) return;
    sayUnrecorded(a, request);

    const std::int64_t h = s.hidden;
    const std::string body = "gpt_neox";
    a.module(body, "GPTNeoXModel");
    a.embedding(body + ".embed_in", s.vocab, h);
    a.module(body + ".layers", "ModuleList");
    for (std::int64_t i = 0; i < s.layers; ++i) {
        const std::string at = fmt::format("{}.layers.{}", body, i);
        a.module(at, "GPTNeoXLayer");
        a.layerNorm(at + ".input_layernorm", {h}, s.epsilon);
        a.layerNorm(at + ".post_attention_layernorm", {h}, s.epsilon);
        a.module(at + ".attention", "GPTNeoXAttention");
        a.linear(at + ".attention.query_key_value", h, 3 * h, bias);
        a.linear(at + ".attention.dense", h, h, bias);
        a.module(at + ".mlp", "GPTNeoXMLP");
        a.linear(at + ".mlp.dense_h_to_4h", h, s.inner);
        a.linear(at + ".mlp.dense_4h_to_h", s.inner, h);
    }
    a.layerNorm(body + ".final_layer_norm", {h}, s.epsilon);
    a.module(body + ".rotary_emb", "GPTNeoXRotaryEmbedding");
    AttentionParts attention = attentionOf(s, "attention");
    attention.packed = "attention.query_key_value";
    attention.output = "attention.dense";
    attention.rotary = static_cast<std::int64_t>(static_cast<double>(s.width()) * share) / 2 * 2;
    const std::int64_t rotary = attention.rotary;
    addLayers(
        a,
        {body, body + ".layers", body + ".final_layer_norm", "GPTNeoXLayer", "GPTNeoXModel", body + ".embed_in.weight"},
        s,
        [rotary](LayerWriter& w, TensorId) {
            const TensorId x = w.apply("embed_in", tokenIds(w));
            auto scope = w.in("rotary_emb");
            if (rotary > 0) makeRotaryTables(w.b, w.workload.sequence, rotary);
            return x;
        },
        preNormBlock(attention, plainMlp("mlp", "dense_h_to_4h", "dense_4h_to_h", s.activation), "input_layernorm",
                     "post_attention_layernorm", parallel));
}

void describeBloom(Architecture& a, ConfigKeys& keys, HfRequest& request) {
    Sizes s;
    s.vocab = keys.size("vocab_size", 250880);
    s.hidden =
        keys.given("hidden_size") || !keys.given("n_embed") ? keys.size("hidden_size", 64) : keys.size("n_embed", 64);
    s.layers = keys.layers("n_layer", 2);
    s.heads = keys.size("n_head", 8);
    s.tied = keys.flag("tie_word_embeddings", true);
    s.epsilon = keys.epsilon("layer_norm_epsilon", 1e-5);
    keys.quotient("n_head", "hidden_size", s.hidden, s.heads);
    onlyClasses(keys, request.cls, {"ForCausalLM"});
    settleSequence(a, keys, request, "seq_length", 0, false);
    if (keys.error()) return;
    sayUnrecorded(a, request);
    sayUnfused(a);

    const std::int64_t h = s.hidden;
    const std::string body = "transformer";
    a.module(body, "BloomModel");
    a.embedding(body + ".word_embeddings", s.vocab, h);
    a.layerNorm(body + ".word_embeddings_layernorm", {h}, s.epsilon);
    a.module(body + ".h", "ModuleList");
    for (std::int64_t i = 0; i < s.layers; ++i) {
        const std::string at = fmt::format("{}.h.{}", body, i);
        a.module(at, "BloomBlock");
        a.layerNorm(at + ".input_layernorm", {h}, s.epsilon);
        a.module(at + ".self_attention", "BloomAttention");
        a.linear(at + ".self_attention.query_key_value", h, 3 * h);
        a.linear(at + ".self_attention.dense", h, h);
        a.layerNorm(at + ".post_attention_layernorm", {h}, s.epsilon);
        a.module(at + ".mlp", "BloomMLP");
        a.linear(at + ".mlp.dense_h_to_4h", h, 4 * h);
        a.linear(at + ".mlp.dense_4h_to_h", 4 * h, h);
    }
    a.layerNorm(body + ".ln_f", {h}, s.epsilon);
    AttentionParts attention = attentionOf(s, "self_attention");
    attention.packed = "self_attention.query_key_value";
    attention.output = "self_attention.dense";
    attention.unfused = true;
    addLayers(
        a, {body, body + ".h", body + ".ln_f", "BloomBlock", "BloomModel", body + ".word_embeddings.weight"}, s,
        [](LayerWriter& w, TensorId) {
            return w.apply("word_embeddings_layernorm", w.apply("word_embeddings", tokenIds(w)));
        },
        preNormBlock(attention, plainMlp("mlp", "dense_h_to_4h", "dense_4h_to_h", "gelu_pytorch_tanh"),
                     "input_layernorm", "post_attention_layernorm", false));
}

}  // namespace shardscope::core
