// Encoder-decoders: T5, BART and Whisper. Their layers run encoder first; the decoder's blocks read the encoder's
// states as a tensor that all share, whose gradient they sum.

#include <fmt/format.h>

#include "core/model/hf/blocks.h"
#include "core/model/hf/families.h"

namespace shardscope::core {
namespace {

constexpr const char* kStates = "encoder_states";

TensorId statesOf(LayerWriter& w, std::int64_t tokens, std::int64_t hidden) {
    return w.b.sharedWithGradient(kStates, {w.workload.batch, tokens, hidden}, w.b.dtype());
}

// T5

struct T5 {
    std::string classes;
    std::int64_t vocab = 1, hidden = 1, width = 1, inner = 1, layers = 1, decoderLayers = 1, heads = 1, buckets = 32;
    bool gated = false;
    double epsilon = 1e-6;
    std::string activation;
};

void addT5Attention(Architecture& a, const T5& t, const std::string& layer, const std::string& name, bool bias) {
    a.module(layer, t.classes + (name == "SelfAttention" ? "LayerSelfAttention" : "LayerCrossAttention"));
    const std::string at = joinNames(layer, name);
    a.module(at, t.classes + "Attention");
    const std::int64_t inner = t.heads * t.width;
    for (const char* p : {"q", "k", "v"}) a.linear(joinNames(at, p), t.hidden, inner, false);
    a.linear(at + ".o", inner, t.hidden, false);
    if (bias) a.embedding(at + ".relative_attention_bias", t.buckets, t.heads);
    a.rmsNorm(layer + ".layer_norm", t.hidden, t.epsilon, t.classes + "LayerNorm");
}

void addT5Stack(Architecture& a, const T5& t, const std::string& stack, std::int64_t layers, bool decoder) {
    a.module(stack, t.classes + "Stack");
    a.embedding(stack + ".embed_tokens", t.vocab, t.hidden).parameters.front().tiedTo = "shared.weight";
    a.module(stack + ".block", "ModuleList");
    for (std::int64_t i = 0; i < layers; ++i) {
        const std::string at = fmt::format("{}.block.{}", stack, i), layer = at + ".layer";
        a.module(at, t.classes + "Block");
        a.module(layer, "ModuleList");
        addT5Attention(a, t, layer + ".0", "SelfAttention", i == 0);
        if (decoder) addT5Attention(a, t, layer + ".1", "EncDecAttention", false);
        const std::string last = layer + (decoder ? ".2" : ".1");
        a.module(last, t.classes + "LayerFF");
        const std::string mlp = last + ".DenseReluDense";
        a.module(mlp, t.classes + (t.gated ? "DenseGatedActDense" : "DenseActDense"));
        if (t.gated) {
            a.linear(mlp + ".wi_0", t.hidden, t.inner, false);
            a.linear(mlp + ".wi_1", t.hidden, t.inner, false);
        } else {
            a.linear(mlp + ".wi", t.hidden, t.inner, false);
        }
        a.linear(mlp + ".wo", t.inner, t.hidden, false);
        a.rmsNorm(last + ".layer_norm", t.hidden, t.epsilon, t.classes + "LayerNorm");
    }
    a.rmsNorm(stack + ".final_layer_norm", t.hidden, t.epsilon, t.classes + "LayerNorm");
}

/// The first block of a stack makes the bias of relative positions, the others read it.
Forward t5Block(const T5& t, bool decoder, bool first) {
    const auto attentionOf = [&t](const std::string& at) {
        AttentionParts parts;
        parts.module = at;
        parts.query = at + ".q";
        parts.key = at + ".k";
        parts.value = at + ".v";
        parts.output = at + ".o";
        parts.heads = parts.kvHeads = t.heads;
        parts.width = t.width;
        return parts;
    };
    const std::string name = decoder ? "decoder_position_bias" : "encoder_position_bias";
    AttentionParts self = attentionOf("layer.0.SelfAttention");
    self.scores = [heads = t.heads, name, first](LayerWriter& w, TensorId q, TensorId) {
        const std::int64_t tokens = w.b.shapeOf(q)[2];
        const Shape shape{1, heads, tokens, tokens};
        if (!first) return std::vector{w.b.sharedWithGradient(name, shape, w.b.dtype())};
        auto scope = w.in("layer.0.SelfAttention.relative_attention_bias");
        const TensorId table = w.parameter("layer.0.SelfAttention.relative_attention_bias", "weight");
        return std::vector{w.b.share(w.pass("embedding", {table}, shape), name)};
    };
    std::vector<Sublayer> sublayers(1);
    sublayers[0].pre = "layer.0.layer_norm";
    sublayers[0].branch = [self](LayerWriter& w, TensorId x) { return attend(w, self, x); };
    if (decoder) {
        AttentionParts cross = attentionOf("layer.1.EncDecAttention");
        cross.scores = [](LayerWriter&, TensorId, TensorId) { return std::vector<TensorId>{}; };
        Sublayer over;
        over.pre = "layer.1.layer_norm";
        over.branch = [cross, hidden = t.hidden](LayerWriter& w, TensorId x) {
            return attend(w, cross, x, statesOf(w, w.workload.sequence, hidden));
        };
        sublayers.push_back(over);
    }
    const std::string last = decoder ? "layer.2" : "layer.1";
    MlpParts mlp;
    mlp.module = last + ".DenseReluDense";
    if (t.gated) mlp.gate = mlp.module + ".wi_0";
    mlp.up = mlp.module + (t.gated ? ".wi_1" : ".wi");
    mlp.down = mlp.module + ".wo";
    mlp.activation = t.activation;
    Sublayer feed;
    feed.pre = last + ".layer_norm";
    feed.branch = [mlp](LayerWriter& w, TensorId x) { return feedForward(w, mlp, x); };
    sublayers.push_back(feed);
    return [sublayers](LayerWriter& w, TensorId x) { return runBlock(w, sublayers, false, x); };
}

void addT5Blocks(Architecture& a, const T5& t, const std::string& stack, std::int64_t layers, bool decoder) {
    addBlocks(a, stack + ".block", 1, t.classes + "Block", t.classes + "Block", t5Block(t, decoder, true));
    addBlocks(a, stack + ".block", layers, t.classes + "Block", t.classes + "Block", t5Block(t, decoder, false), 1);
}

// BART and Whisper

struct Seq2Seq {
    std::string classes;
    std::int64_t vocab = 1, hidden = 1, encoderLayers = 1, decoderLayers = 1, encoderInner = 1, decoderInner = 1;
    std::int64_t encoderHeads = 1, decoderHeads = 1, positions = 1, source = 0;
    bool tied = true, preNorm = false, keyBias = true;
    std::string activation;
};

void addAttention(Architecture& a, const Seq2Seq& s, const std::string& at) {
    a.module(at, s.classes + "Attention");
    for (const char* name : {"k_proj", "v_proj", "q_proj", "out_proj"})
        a.linear(fmt::format("{}.{}", at, name), s.hidden, s.hidden, s.keyBias || name[0] != 'k');
}

void addBlockModules(Architecture& a, const Seq2Seq& s, const std::string& at, bool decoder) {
    a.module(at, s.classes + (decoder ? "DecoderLayer" : "EncoderLayer"));
    addAttention(a, s, at + ".self_attn");
    a.layerNorm(at + ".self_attn_layer_norm", {s.hidden}, 1e-5);
    if (decoder) {
        addAttention(a, s, at + ".encoder_attn");
        a.layerNorm(at + ".encoder_attn_layer_norm", {s.hidden}, 1e-5);
    }
    const std::int64_t inner = decoder ? s.decoderInner : s.encoderInner;
    a.linear(at + ".fc1", s.hidden, inner);
    a.linear(at + ".fc2", inner, s.hidden);
    a.layerNorm(at + ".final_layer_norm", {s.hidden}, 1e-5);
}

Forward blockOf(const Seq2Seq& s, bool decoder) {
    const std::int64_t heads = decoder ? s.decoderHeads : s.encoderHeads;
    const auto attentionOf = [&](const std::string& at) {
        return apartProjections(at, heads, s.hidden / heads, decoder);
    };
    std::vector<Sublayer> sublayers;
    const auto add = [&](const std::string& norm, std::function<TensorId(LayerWriter&, TensorId)> branch) {
        Sublayer one;
        (s.preNorm ? one.pre : one.after) = norm;
        one.branch = std::move(branch);
        sublayers.push_back(std::move(one));
    };
    add("self_attn_layer_norm",
        [parts = attentionOf("self_attn")](LayerWriter& w, TensorId x) { return attend(w, parts, x); });
    if (decoder)
        add("encoder_attn_layer_norm", [parts = attentionOf("encoder_attn"), s](LayerWriter& w, TensorId x) {
            return attend(w, parts, x, statesOf(w, s.source > 0 ? s.source : w.workload.sequence, s.hidden));
        });
    MlpParts mlp;
    mlp.up = "fc1";
    mlp.down = "fc2";
    mlp.activation = s.activation;
    add("final_layer_norm", [mlp](LayerWriter& w, TensorId x) { return feedForward(w, mlp, x); });
    return [sublayers](LayerWriter& w, TensorId x) { return runBlock(w, sublayers, false, x); };
}

TensorId withPositions(LayerWriter& w, const std::string& table, TensorId x) {
    const TensorId places = w.b.tensor("arange", {1, w.b.shapeOf(x)[1]}, DType::I64);
    w.b.emit(KernelKind::Elementwise, "arange", {}, {places});
    const TensorId rows = w.apply(table, places);
    return w.workload.batch == 1 ? w.b.add(x, rows) : w.b.addBroadcast(x, rows);
}

void sayLengths(Architecture& a) {
    a.caveats.push_back("encoder and decoder are fed sequences of the same length");
    a.caveats.push_back(
        "the encoder's states reach the decoder's blocks inside a stage only: sending them to later stages is not "
        "counted");
}

}  // namespace

void describeT5(Architecture& a, ConfigKeys& keys, HfRequest& request) {
    const bool mt5 = request.modelType == "mt5";
    T5 t;
    t.classes = mt5 ? "MT5" : "T5";
    t.vocab = keys.size("vocab_size", mt5 ? 250112 : 32128);
    t.hidden = keys.size("d_model", 512);
    t.width = keys.size("d_kv", 64);
    t.inner = keys.size("d_ff", mt5 ? 1024 : 2048);
    t.layers = keys.layers("num_layers", mt5 ? 8 : 6);
    t.decoderLayers = keys.size("num_decoder_layers", t.layers, t.layers, kMostLayers);
    t.heads = keys.size("num_heads", mt5 ? 6 : 8);
    t.buckets = keys.size("relative_attention_num_buckets", 32);
    t.epsilon = keys.epsilon("layer_norm_epsilon", 1e-6);
    keys.times("num_heads times d_kv", t.heads, t.width);
    keys.flag("tie_word_embeddings", true);  // tied at construction whatever the file says
    const std::string feed =
        keys.word("feed_forward_proj", mt5 ? "gated-gelu" : "relu", {"relu", "gelu", "gated-gelu", "gated-silu"});
    t.gated = feed.starts_with("gated-");
    t.activation = feed == "gated-gelu" ? "gelu_new" : t.gated ? feed.substr(6) : feed;
    onlyClasses(keys, request.cls, {"ForConditionalGeneration", "EncoderModel"});
    settleSequence(a, keys, request, "n_positions", 0, false);
    if (keys.error()) return;
    sayUnrecorded(a, request);
    a.caveats.push_back("position biases keep attention from the fused kernels: it is counted unfused");

    const bool whole = endsIn(request.cls, "ForConditionalGeneration");
    a.embedding("shared", t.vocab, t.hidden);
    addT5Stack(a, t, "encoder", t.layers, false);
    a.layer("encoder.embed_tokens", LayerKind::Embedding, "encoder", t.classes + "Stack",
            [](LayerWriter& w, TensorId) { return w.apply("embed_tokens", tokenIds(w)); });
    addT5Blocks(a, t, "encoder", t.layers, false);
    const std::string norm = t.classes + "LayerNorm";
    const auto applySelf = [](LayerWriter& w, TensorId x) { return w.apply("", x); };
    if (!whole) {
        a.layer("encoder.final_layer_norm", LayerKind::Norm, "encoder.final_layer_norm", norm, applySelf);
        return addMeanLoss(a, request);
    }
    sayLengths(a);
    addT5Stack(a, t, "decoder", t.decoderLayers, true);
    a.layer("decoder.embed_tokens", LayerKind::Embedding, "", request.cls, [](LayerWriter& w, TensorId x) {
        w.b.share(w.apply("encoder.final_layer_norm", x), kStates);
        return w.apply("decoder.embed_tokens", tokenIds(w));
    });
    addT5Blocks(a, t, "decoder", t.decoderLayers, true);
    a.layer("decoder.final_layer_norm", LayerKind::Norm, "decoder.final_layer_norm", norm, applySelf);
    a.linear("lm_head", t.hidden, t.vocab, false).parameters.front().tiedTo = "shared.weight";
    a.layer("lm_head", LayerKind::Head, "lm_head", "Linear", applySelf);
    addRowLoss(a);
}

void describeBart(Architecture& a, ConfigKeys& keys, HfRequest& request) {
    Seq2Seq s;
    s.classes = "Bart";
    s.vocab = keys.size("vocab_size", 50265);
    s.hidden = keys.size("d_model", 1024);
    s.encoderLayers = keys.layers("encoder_layers", 12);
    s.decoderLayers = keys.layers("decoder_layers", 12);
    s.encoderInner = keys.size("encoder_ffn_dim", 4096);
    s.decoderInner = keys.size("decoder_ffn_dim", 4096);
    s.encoderHeads = keys.size("encoder_attention_heads", 16);
    s.decoderHeads = keys.size("decoder_attention_heads", 16);
    s.positions = keys.size("max_position_embeddings", 1024);
    s.tied = keys.flag("tie_word_embeddings", true);
    s.activation = keys.activation("activation_function", "gelu");
    keys.quotient("encoder_attention_heads", "d_model", s.hidden, s.encoderHeads);
    keys.quotient("decoder_attention_heads", "d_model", s.hidden, s.decoderHeads);
    onlyClasses(keys, request.cls, {"ForConditionalGeneration"});
    settleSequence(a, keys, request, "max_position_embeddings", s.positions, true);
    if (keys.error()) return;
    sayUnrecorded(a, request);
    sayLengths(a);

    a.module("model", "BartModel");
    a.embedding("model.shared", s.vocab, s.hidden);
    for (const bool decoder : {false, true}) {
        const std::string stack = decoder ? "model.decoder" : "model.encoder";
        a.module(stack, decoder ? "BartDecoder" : "BartEncoder");
        ModuleEntry& words = a.embedding(stack + ".embed_tokens", s.vocab, s.hidden, "BartScaledWordEmbedding");
        if (s.tied) words.parameters.front().tiedTo = "model.shared.weight";
        a.embedding(stack + ".embed_positions", s.positions + 2, s.hidden, "BartLearnedPositionalEmbedding");
        a.module(stack + ".layers", "ModuleList");
        const std::int64_t layers = decoder ? s.decoderLayers : s.encoderLayers;
        for (std::int64_t i = 0; i < layers; ++i) addBlockModules(a, s, fmt::format("{}.layers.{}", stack, i), decoder);
        a.layerNorm(stack + ".layernorm_embedding", {s.hidden}, 1e-5);
    }
    const auto embed = [](LayerWriter& w, const std::string& stack) {
        const TensorId words = w.apply(joinNames(stack, "embed_tokens"), tokenIds(w));
        return w.apply(joinNames(stack, "layernorm_embedding"),
                       withPositions(w, joinNames(stack, "embed_positions"), words));
    };
    a.layer("model.encoder.embed_tokens", LayerKind::Embedding, "model.encoder", "BartEncoder",
            [embed](LayerWriter& w, TensorId) { return embed(w, ""); });
    addBlocks(a, "model.encoder.layers", s.encoderLayers, "BartEncoderLayer", "BartEncoderLayer", blockOf(s, false));
    a.layer("model.decoder.embed_tokens", LayerKind::Embedding, "model", "BartModel",
            [embed](LayerWriter& w, TensorId x) {
                w.b.share(w.b.clone(x), kStates);
                return embed(w, "decoder");
            });
    addBlocks(a, "model.decoder.layers", s.decoderLayers, "BartDecoderLayer", "BartDecoderLayer", blockOf(s, true));
    ModuleEntry& head = a.linear("lm_head", s.hidden, s.vocab, false);
    if (s.tied) head.parameters.front().tiedTo = "model.shared.weight";
    a.layer("lm_head", LayerKind::Head, "lm_head", "Linear", [](LayerWriter& w, TensorId x) { return w.apply("", x); });
    addRowLoss(a);
}

void describeWhisper(Architecture& a, ConfigKeys& keys, HfRequest& request) {
    Seq2Seq s;
    s.classes = "Whisper";
    s.vocab = keys.size("vocab_size", 51865);
    s.hidden = keys.size("d_model", 384);
    s.encoderLayers = keys.layers("encoder_layers", 4);
    s.decoderLayers = keys.layers("decoder_layers", 4);
    s.encoderInner = keys.size("encoder_ffn_dim", 1536);
    s.decoderInner = keys.size("decoder_ffn_dim", 1536);
    s.encoderHeads = keys.size("encoder_attention_heads", 6);
    s.decoderHeads = keys.size("decoder_attention_heads", 6);
    s.source = keys.size("max_source_positions", 1500);
    s.positions = keys.size("max_target_positions", 448);
    const std::int64_t bins = keys.size("num_mel_bins", 80);
    s.tied = keys.flag("tie_word_embeddings", true);
    s.activation = keys.activation("activation_function", "gelu");
    s.preNorm = true;
    s.keyBias = false;
    keys.quotient("encoder_attention_heads", "d_model", s.hidden, s.encoderHeads);
    keys.quotient("decoder_attention_heads", "d_model", s.hidden, s.decoderHeads);
    keys.count("decoder_start_token_id", 50257);
    const Document* pad = keys.find("pad_token_id");
    const std::int64_t padToken = pad == nullptr ? 50256 : pad->kind == Document::Kind::Integer ? pad->integer : -1;
    if (padToken >= s.vocab)
        keys.refuse("pad_token_id", fmt::format("found {}, expected below vocab_size {}", padToken, s.vocab),
                    "the row of the padding token must be in the table");
    onlyClasses(keys, request.cls, {"ForConditionalGeneration"});
    settleSequence(a, keys, request, "max_target_positions", s.positions, true);
    if (keys.error()) return;
    sayUnrecorded(a, request);
    a.caveats.push_back(
        fmt::format("the encoder is fed {} frames of sound, whatever the decoder's sequence", s.source));

    const std::int64_t h = s.hidden;
    a.module("model", "WhisperModel");
    for (const bool decoder : {false, true}) {
        const std::string stack = decoder ? "model.decoder" : "model.encoder";
        a.module(stack, decoder ? "WhisperDecoder" : "WhisperEncoder");
        if (decoder) {
            a.embedding(stack + ".embed_tokens", s.vocab, h);
        } else {
            a.convolution(stack + ".conv1", {h, bins, 3}, true, "Conv1d");
            a.convolution(stack + ".conv2", {h, h, 3}, true, "Conv1d");
        }
        ModuleEntry& table = a.embedding(stack + ".embed_positions", decoder ? s.positions : s.source, h,
                                         decoder ? "WhisperPositionalEmbedding" : "Embedding");
        table.parameters.front().frozen = !decoder;
        a.module(stack + ".layers", "ModuleList");
        const std::int64_t layers = decoder ? s.decoderLayers : s.encoderLayers;
        for (std::int64_t i = 0; i < layers; ++i) addBlockModules(a, s, fmt::format("{}.layers.{}", stack, i), decoder);
        a.layerNorm(stack + ".layer_norm", {h}, 1e-5);
    }
    a.layer("model.encoder.conv1", LayerKind::Embedding, "model.encoder", "WhisperEncoder",
            [s, bins](LayerWriter& w, TensorId) {
                const TensorId sound = w.b.batch(0, {w.workload.batch, bins, 2 * s.source}, w.b.dtype());
                TensorId x = w.activation("gelu", w.convolve("conv1", sound, 2 * s.source));
                x = w.activation("gelu", w.convolve("conv2", x, s.source));
                return withPositions(w, "embed_positions", x);
            });
    addBlocks(a, "model.encoder.layers", s.encoderLayers, "WhisperEncoderLayer", "WhisperEncoderLayer",
              blockOf(s, false));
    a.layer("model.decoder.embed_tokens", LayerKind::Embedding, "model", "WhisperModel",
            [](LayerWriter& w, TensorId x) {
                w.b.share(w.apply("encoder.layer_norm", x), kStates);
                const TensorId ids = w.b.batch(0, {w.workload.batch, w.workload.sequence}, DType::I64);
                return withPositions(w, "decoder.embed_positions", w.apply("decoder.embed_tokens", ids));
            });
    addBlocks(a, "model.decoder.layers", s.decoderLayers, "WhisperDecoderLayer", "WhisperDecoderLayer",
              blockOf(s, true));
    const auto applySelf = [](LayerWriter& w, TensorId x) { return w.apply("", x); };
    a.layer("model.decoder.layer_norm", LayerKind::Norm, "model.decoder.layer_norm", "LayerNorm", applySelf);
    ModuleEntry& head = a.linear("proj_out", h, s.vocab, false);
    if (s.tied) head.parameters.front().tiedTo = "model.decoder.embed_tokens.weight";
    a.layer("proj_out", LayerKind::Head, "proj_out", "Linear", applySelf);
    addRowLoss(a);
}

}  // namespace shardscope::core
