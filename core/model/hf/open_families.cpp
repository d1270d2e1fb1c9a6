// Falcon, MPT and OPT.

#include <fmt/format.h>

#include <cmath>

#include "core/model/decoder_ops.h"
#include "core/model/hf/blocks.h"
#include "core/model/hf/families.h"

namespace shardscope::core {
namespace {

void addFinalNorm(Architecture& a, const std::string& norm) {
    a.layer(norm, LayerKind::Norm, norm, "LayerNorm", [](LayerWriter& w, TensorId x) { return w.apply("", x); });
}

}  // namespace

void describeFalcon(Architecture& a, ConfigKeys& keys, HfRequest& request) {
    const std::int64_t vocab = keys.size("vocab_size", 65024);
    const std::int64_t hidden = keys.size("hidden_size", 4544);
    const std::int64_t layers = keys.layers("num_hidden_layers", 32);
    const std::int64_t heads = keys.size("num_attention_heads", 71);
    const std::int64_t positions = keys.size("max_position_embeddings", 2048);
    const std::int64_t inner = keys.size("ffn_hidden_size", 4 * hidden, 4 * hidden);
    const bool newLayout = keys.truth("new_decoder_architecture", false);
    const bool oneKey = keys.truth("multi_query", true);
    const bool parallel = newLayout || keys.truth("parallel_attn", true);
    const bool bias = keys.truth("bias", false);
    const bool alibi = keys.truth("alibi", false);
    const std::int64_t kvKey = keys.size("num_kv_heads", heads, heads);
    const bool tied = keys.flag("tie_word_embeddings", true);
    const double epsilon = keys.epsilon("layer_norm_epsilon", 1e-5);
    const std::string activation = keys.activation("activation", "gelu");
    const std::int64_t norms = keys.size("num_ln_in_parallel_attn", newLayout ? 2 : 1, newLayout ? 2 : 1);
    const std::int64_t kvHeads = newLayout ? kvKey : oneKey ? 1 : heads;
    const std::int64_t width = keys.quotient("num_attention_heads", "hidden_size", hidden, heads);
    if (heads % kvHeads != 0)
        keys.refuse("num_kv_heads",
                    fmt::format("found {}, which does not divide num_attention_heads {}", kvHeads, heads));
    onlyClasses(keys, request.cls, {"ForCausalLM"});
    settleSequence(a, keys, request, "max_position_embeddings", positions, false);
    if (keys.error()) return;
    sayUnrecorded(a, request);
    if (alibi) a.caveats.push_back("position biases keep attention from the fused kernels: it is counted unfused");

    const std::string body = "transformer";
    a.module(body, "FalconModel");
    a.embedding(body + ".word_embeddings", vocab, hidden);
    a.module(body + ".h", "ModuleList");
    const bool two = newLayout && norms == 2;
    for (std::int64_t i = 0; i < layers; ++i) {
        const std::string at = fmt::format("{}.h.{}", body, i);
        a.module(at, "FalconDecoderLayer");
        a.module(at + ".self_attention", "FalconAttention");
        a.linear(at + ".self_attention.query_key_value", hidden, hidden + 2 * kvHeads * width, bias, "FalconLinear");
        a.linear(at + ".self_attention.dense", hidden, hidden, bias, "FalconLinear");
        a.module(at + ".mlp", "FalconMLP");
        a.linear(at + ".mlp.dense_h_to_4h", hidden, inner, bias, "FalconLinear");
        a.linear(at + ".mlp.dense_4h_to_h", inner, hidden, bias, "FalconLinear");
        if (two) {
            a.layerNorm(at + ".ln_attn", {hidden}, epsilon);
            a.layerNorm(at + ".ln_mlp", {hidden}, epsilon);
        } else {
            a.layerNorm(at + ".input_layernorm", {hidden}, epsilon);
            if (!parallel) a.layerNorm(at + ".post_attention_layernorm", {hidden}, epsilon);
        }
    }
    a.layerNorm(body + ".ln_f", {hidden}, epsilon);
    a.module(body + ".rotary_emb", "FalconRotaryEmbedding");

    AttentionParts attention;
    attention.module = "self_attention";
    attention.packed = "self_attention.query_key_value";
    attention.output = "self_attention.dense";
    attention.heads = heads;
    attention.kvHeads = kvHeads;
    attention.width = width;
    attention.rotary = alibi ? 0 : width / 2 * 2;
    attention.unfused = alibi;
    MlpParts mlp;
    mlp.module = "mlp";
    mlp.up = "mlp.dense_h_to_4h";
    mlp.down = "mlp.dense_4h_to_h";
    mlp.activation = activation;
    std::vector<Sublayer> sublayers(2);
    sublayers[0].pre = two ? "ln_attn" : "input_layernorm";
    sublayers[0].branch = [attention](LayerWriter& w, TensorId x) { return attend(w, attention, x); };
    sublayers[1].pre = two ? "ln_mlp" : parallel ? "input_layernorm" : "post_attention_layernorm";
    sublayers[1].branch = [mlp](LayerWriter& w, TensorId x) { return feedForward(w, mlp, x); };

    const std::int64_t rotary = attention.rotary;
    a.layer(body + ".word_embeddings", LayerKind::Embedding, body, "FalconModel", [rotary](LayerWriter& w, TensorId) {
        const TensorId x = w.apply("word_embeddings", tokenIds(w));
        auto scope = w.in("rotary_emb");
        if (rotary > 0) makeRotaryTables(w.b, w.workload.sequence, rotary);
        return x;
    });
    addBlocks(a, body + ".h", layers, "decoder layer", "FalconDecoderLayer",
              [sublayers, parallel](LayerWriter& w, TensorId x) { return runBlock(w, sublayers, parallel, x); });
    addFinalNorm(a, body + ".ln_f");
    addLanguageHead(a, "lm_head", hidden, vocab, tied ? body + ".word_embeddings.weight" : "");
}

void describeMpt(Architecture& a, ConfigKeys& keys, HfRequest& request) {
    const std::int64_t vocab = keys.size("vocab_size", 50368);
    const std::int64_t hidden = keys.size("d_model", 2048);
    const std::int64_t layers = keys.layers("n_layers", 24);
    const std::int64_t heads = keys.size("n_heads", 16);
    const std::int64_t positions = keys.size("max_seq_len", 2048);
    keys.size("expansion_ratio", 4);  // checked, but transformers' MLP is four times as wide whatever it says
    const bool noBias = keys.flag("no_bias", true);
    const bool tied = keys.flag("tie_word_embeddings", true);
    const double epsilon = keys.epsilon("layer_norm_epsilon", 1e-5);
    const std::int64_t width = keys.quotient("n_heads", "d_model", hidden, heads);
    if (!noBias)
        keys.refuse("no_bias", "found false, expected true", "transformers builds MPT without biases",
                    ErrorCode::Unsupported);
    onlyClasses(keys, request.cls, {"ForCausalLM"});
    settleSequence(a, keys, request, "max_seq_len", positions, false);
    if (keys.error()) return;
    sayUnrecorded(a, request);
    a.caveats.push_back("position biases keep attention from the fused kernels: it is counted unfused");

    const std::string body = "transformer";
    a.module(body, "MptModel");
    a.embedding(body + ".wte", vocab, hidden);
    a.module(body + ".blocks", "ModuleList");
    for (std::int64_t i = 0; i < layers; ++i) {
        const std::string at = fmt::format("{}.blocks.{}", body, i);
        a.module(at, "MptBlock");
        a.layerNorm(at + ".norm_1", {hidden}, epsilon, false);
        a.module(at + ".attn", "MptAttention");
        a.linear(at + ".attn.Wqkv", hidden, 3 * hidden, false);
        a.linear(at + ".attn.out_proj", hidden, hidden, false);
        a.layerNorm(at + ".norm_2", {hidden}, epsilon, false);
        a.module(at + ".ffn", "MptMLP");
        a.linear(at + ".ffn.up_proj", hidden, 4 * hidden, false);
        a.linear(at + ".ffn.down_proj", 4 * hidden, hidden, false);
    }
    a.layerNorm(body + ".norm_f", {hidden}, epsilon, false);

    AttentionParts attention;
    attention.module = "attn";
    attention.packed = "attn.Wqkv";
    attention.output = "attn.out_proj";
    attention.heads = attention.kvHeads = heads;
    attention.width = width;
    attention.unfused = true;
    MlpParts mlp;
    mlp.module = "ffn";
    mlp.up = "ffn.up_proj";
    mlp.down = "ffn.down_proj";
    mlp.activation = "gelu";
    std::vector<Sublayer> sublayers(2);
    sublayers[0].pre = "norm_1";
    sublayers[0].branch = [attention](LayerWriter& w, TensorId x) { return attend(w, attention, x); };
    sublayers[1].pre = "norm_2";
    sublayers[1].branch = [mlp](LayerWriter& w, TensorId x) { return feedForward(w, mlp, x); };
    a.layer(body + ".wte", LayerKind::Embedding, body, "MptModel",
            [](LayerWriter& w, TensorId) { return w.apply("wte", tokenIds(w)); });
    addBlocks(a, body + ".blocks", layers, "decoder layer", "MptBlock",
              [sublayers](LayerWriter& w, TensorId x) { return runBlock(w, sublayers, false, x); });
    addFinalNorm(a, body + ".norm_f");
    addLanguageHead(a, "lm_head", hidden, vocab, tied ? body + ".wte.weight" : "");
}

void describeOpt(Architecture& a, ConfigKeys& keys, HfRequest& request) {
    const std::int64_t vocab = keys.size("vocab_size", 50272);
    const std::int64_t hidden = keys.size("hidden_size", 768);
    const std::int64_t layers = keys.layers("num_hidden_layers", 12);
    const std::int64_t heads = keys.size("num_attention_heads", 12);
    const std::int64_t inner = keys.size("ffn_dim", 3072);
    const std::int64_t positions = keys.size("max_position_embeddings", 2048);
    const std::int64_t narrow = keys.size("word_embed_proj_dim", hidden, hidden);
    const bool before = keys.flag("do_layer_norm_before", true);
    const bool removed = keys.flag("_remove_final_layer_norm", false);
    const bool bias = keys.flag("enable_bias", true);
    const bool affine = keys.flag("layer_norm_elementwise_affine", true);
    const bool tied = keys.flag("tie_word_embeddings", true);
    const std::string activation = keys.activation("activation_function", "relu");
    const std::int64_t width = keys.quotient("num_attention_heads", "hidden_size", hidden, heads);
    onlyClasses(keys, request.cls, {"ForCausalLM"});
    settleSequence(a, keys, request, "max_position_embeddings", positions, true);
    if (keys.error()) return;
    sayUnrecorded(a, request);

    const auto norm = [&](const std::string& name) {
        if (affine)
            a.layerNorm(name, {hidden}, 1e-5);
        else
            a.module(name, "LayerNorm").work = ModuleWork::LayerNorm;
    };
    const std::string body = "model.decoder";
    a.module("model", "OPTModel");
    a.module(body, "OPTDecoder");
    a.embedding(body + ".embed_tokens", vocab, narrow);
    a.embedding(body + ".embed_positions", positions + 2, hidden, "OPTLearnedPositionalEmbedding");
    if (narrow != hidden) a.linear(body + ".project_out", hidden, narrow, false);
    if (narrow != hidden) a.linear(body + ".project_in", narrow, hidden, false);
    const bool last = before && !removed;
    if (last) norm(body + ".final_layer_norm");
    a.module(body + ".layers", "ModuleList");
    for (std::int64_t i = 0; i < layers; ++i) {
        const std::string at = fmt::format("{}.layers.{}", body, i);
        a.module(at, "OPTDecoderLayer");
        a.module(at + ".self_attn", "OPTAttention");
        for (const char* name : {"k_proj", "v_proj", "q_proj", "out_proj"})
            a.linear(fmt::format("{}.self_attn.{}", at, name), hidden, hidden, bias);
        norm(at + ".self_attn_layer_norm");
        a.linear(at + ".fc1", hidden, inner, bias);
        a.linear(at + ".fc2", inner, hidden, bias);
        norm(at + ".final_layer_norm");
    }

    const AttentionParts attention = apartProjections("self_attn", heads, width, true);
    MlpParts mlp;
    mlp.up = "fc1";
    mlp.down = "fc2";
    mlp.activation = activation;
    std::vector<Sublayer> sublayers(2);
    (before ? sublayers[0].pre : sublayers[0].after) = "self_attn_layer_norm";
    sublayers[0].branch = [attention](LayerWriter& w, TensorId x) { return attend(w, attention, x); };
    (before ? sublayers[1].pre : sublayers[1].after) = "final_layer_norm";
    sublayers[1].branch = [mlp](LayerWriter& w, TensorId x) { return feedForward(w, mlp, x); };
    a.layer(body + ".embed_tokens", LayerKind::Embedding, body, "OPTDecoder", [](LayerWriter& w, TensorId) {
        TensorId words = w.apply("embed_tokens", tokenIds(w));
        const TensorId places = w.b.tensor("arange", {w.workload.batch, w.workload.sequence}, DType::I64);
        w.b.emit(KernelKind::Elementwise, "arange", {}, {places});
        const TensorId rows = w.apply("embed_positions", places);
        if (w.has("project_in")) words = w.apply("project_in", words);
        return w.b.add(words, rows);
    });
    addBlocks(a, body + ".layers", layers, "decoder layer", "OPTDecoderLayer",
              [sublayers](LayerWriter& w, TensorId x) { return runBlock(w, sublayers, false, x); });
    if (last) addFinalNorm(a, body + ".final_layer_norm");
    if (narrow != hidden)
        a.layer(body + ".project_out", LayerKind::Norm, body + ".project_out", "Linear",
                [](LayerWriter& w, TensorId x) { return w.apply("", x); });
    addLanguageHead(a, "lm_head", narrow, vocab, tied ? body + ".embed_tokens.weight" : "");
}

}  // namespace shardscope::core
