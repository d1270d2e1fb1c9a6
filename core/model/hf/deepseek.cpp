// DeepSeek-V3: attention over compressed keys and values, dense layers first, then mixtures of experts with shared
// ones.

#include <fmt/format.h>

#include "core/model/decoder_ops.h"
#include "core/model/hf/blocks.h"
#include "core/model/hf/families.h"

namespace shardscope::core {
namespace {

struct Values {
    std::int64_t vocab = 1, hidden = 1, dense = 1, layers = 1, heads = 1, positions = 1;
    std::int64_t queryRank = 0, keyRank = 1, nope = 1, rope = 2, value = 1;
    std::int64_t experts = 1, active = 1, expertWidth = 1, sharedWidth = 1, firstSparse = 0;
    bool tied = false, bias = false;
    double epsilon = 1e-6;
    std::string activation;
};

Values read(ConfigKeys& keys) {
    Values v;
    v.activation = keys.activation("hidden_act", "silu");
    v.vocab = keys.size("vocab_size", 129280);
    v.hidden = keys.size("hidden_size", 7168);
    v.dense = keys.size("intermediate_size", 18432);
    v.layers = keys.layers("num_hidden_layers", 61);
    v.heads = keys.size("num_attention_heads", 128);
    v.positions = keys.size("max_position_embeddings", 4096);
    const Document* rank = keys.find("q_lora_rank");
    v.queryRank = rank == nullptr ? 1536 : keys.optionalSize("q_lora_rank").value_or(0);
    v.keyRank = keys.size("kv_lora_rank", 512);
    v.nope = keys.size("qk_nope_head_dim", 128);
    v.rope = keys.size("qk_rope_head_dim", 64);
    v.value = keys.size("v_head_dim", 128);
    v.experts = keys.size("n_routed_experts", 256);
    v.active = keys.size("num_experts_per_tok", 8, 8);
    v.expertWidth = keys.size("moe_intermediate_size", 2048);
    v.firstSparse = keys.count("first_k_dense_replace", 3);
    v.tied = keys.flag("tie_word_embeddings", false);
    v.bias = keys.flag("attention_bias", false);
    v.epsilon = keys.epsilon("rms_norm_eps", 1e-6);
    v.sharedWidth =
        keys.times("n_shared_experts times moe_intermediate_size", keys.size("n_shared_experts", 1), v.expertWidth);
    keys.times("num_attention_heads times the width of a head", v.heads,
               keys.times("the width of a head", v.nope + v.rope + v.value, 1));
    keys.times("n_routed_experts times moe_intermediate_size", v.experts,
               keys.times("twice moe_intermediate_size", 2, v.expertWidth));
    if (v.rope % 2 != 0)
        keys.refuse("qk_rope_head_dim", fmt::format("found {}, expected an even number (rotary embedding)", v.rope));
    return v;
}

void addMlp(Architecture& a, const std::string& at, std::int64_t hidden, std::int64_t width) {
    a.module(at, "DeepseekV3MLP");
    a.linear(at + ".gate_proj", hidden, width, false);
    a.linear(at + ".up_proj", hidden, width, false);
    a.linear(at + ".down_proj", width, hidden, false);
}

void addLayer(Architecture& a, const Values& v, const std::string& at, bool sparse) {
    a.module(at, "DeepseekV3DecoderLayer");
    const std::string self = at + ".self_attn";
    a.module(self, "DeepseekV3Attention");
    const std::int64_t q = v.heads * (v.nope + v.rope);
    if (v.queryRank > 0) {
        a.linear(self + ".q_a_proj", v.hidden, v.queryRank, v.bias);
        a.rmsNorm(self + ".q_a_layernorm", v.queryRank, v.epsilon, "DeepseekV3RMSNorm");
        a.linear(self + ".q_b_proj", v.queryRank, q, false);
    } else {
        a.linear(self + ".q_proj", v.hidden, q, false);
    }
    a.linear(self + ".kv_a_proj_with_mqa", v.hidden, v.keyRank + v.rope, v.bias);
    a.rmsNorm(self + ".kv_a_layernorm", v.keyRank, v.epsilon, "DeepseekV3RMSNorm");
    a.linear(self + ".kv_b_proj", v.keyRank, v.heads * (v.nope + v.value), false);
    a.linear(self + ".o_proj", v.heads * v.value, v.hidden, v.bias);
    const std::string mlp = at + ".mlp";
    if (sparse) {
        a.module(mlp, "DeepseekV3MoE");
        a.module(mlp + ".experts", "DeepseekV3NaiveMoe");
        a.parameter(mlp + ".experts", "gate_up_proj", {v.experts, 2 * v.expertWidth, v.hidden});
        a.parameter(mlp + ".experts", "down_proj", {v.experts, v.hidden, v.expertWidth});
        a.linear(mlp + ".gate", v.hidden, v.experts, false, "DeepseekV3TopkRouter");
        addMlp(a, mlp + ".shared_experts", v.hidden, v.sharedWidth);
    } else {
        addMlp(a, mlp, v.hidden, v.dense);
    }
    a.rmsNorm(at + ".input_layernorm", v.hidden, v.epsilon, "DeepseekV3RMSNorm");
    a.rmsNorm(at + ".post_attention_layernorm", v.hidden, v.epsilon, "DeepseekV3RMSNorm");
}

TensorId attention(LayerWriter& w, const Values& v, TensorId x) {
    ProgramBuilder& b = w.b;
    const std::string self = "self_attn";
    auto scope = w.in(self);
    const std::int64_t batch = b.shapeOf(x)[0], tokens = b.shapeOf(x)[1];
    const TensorId q =
        v.queryRank > 0 ? w.apply(self + ".q_b_proj", w.apply(self + ".q_a_layernorm", w.apply(self + ".q_a_proj", x)))
                        : w.apply(self + ".q_proj", x);
    const TensorId compressed = w.apply(self + ".kv_a_proj_with_mqa", x);
    if (b.tooLarge()) return x;
    const std::vector<TensorId> keyParts = b.split(compressed, 2, {v.keyRank, v.rope});
    const TensorId expanded =
        w.apply(self + ".kv_b_proj", w.apply(self + ".kv_a_layernorm", b.contiguous(keyParts[0])));
    if (b.tooLarge()) return x;
    const TensorId queries = b.transpose(b.reshape(q, {batch, tokens, v.heads, v.nope + v.rope}), 1, 2);
    const std::vector<TensorId> queryParts = b.split(queries, 3, {v.nope, v.rope});
    const TensorId keysValues = b.transpose(b.reshape(expanded, {batch, tokens, v.heads, v.nope + v.value}), 1, 2);
    const std::vector<TensorId> parts = b.split(keysValues, 3, {v.nope, v.value});
    const RotaryTables tables = rotaryTables(b, tokens, v.rope);
    const TensorId queryTurned = rotary(b, queryParts[1], tables);
    const TensorId keyTurned =
        rotary(b, b.transpose(b.reshape(b.contiguous(keyParts[1]), {batch, tokens, 1, v.rope}), 1, 2), tables);
    const TensorId query = b.concat({queryParts[0], queryTurned}, 3);
    const TensorId key = b.concat({parts[0], b.expand(keyTurned, 1, v.heads)}, 3);
    return w.apply(self + ".o_proj", attendHeads(w, query, key, parts[1], true, false));
}

MlpParts mlpParts(const Values& v, const std::string& at) {
    MlpParts parts;
    parts.module = at;
    parts.gate = at + ".gate_proj";
    parts.up = at + ".up_proj";
    parts.down = at + ".down_proj";
    parts.activation = v.activation;
    return parts;
}

Forward layerOf(const Values& v, bool sparse) {
    std::vector<Sublayer> sublayers(2);
    sublayers[0].pre = "input_layernorm";
    sublayers[0].branch = [v](LayerWriter& w, TensorId x) { return attention(w, v, x); };
    sublayers[1].pre = "post_attention_layernorm";
    if (sparse) {
        ExpertParts experts;
        experts.module = "mlp";
        experts.router = "mlp.gate";
        experts.experts = "mlp.experts";
        experts.count = v.experts;
        experts.active = v.active;
        experts.activation = v.activation;
        experts.shared = mlpParts(v, "mlp.shared_experts");
        sublayers[1].branch = [experts](LayerWriter& w, TensorId x) { return mixExperts(w, experts, x); };
    } else {
        sublayers[1].branch = [parts = mlpParts(v, "mlp")](LayerWriter& w, TensorId x) {
            return feedForward(w, parts, x);
        };
    }
    return [sublayers](LayerWriter& w, TensorId x) { return runBlock(w, sublayers, false, x); };
}

}  // namespace

void describeDeepseek(Architecture& a, ConfigKeys& keys, HfRequest& request) {
    const Values v = read(keys);
    if (v.active > v.experts)
        keys.refuse("num_experts_per_tok",
                    fmt::format("found {}, expected at most the {} experts", v.active, v.experts));
    onlyClasses(keys, request.cls, {"ForCausalLM"});
    settleSequence(a, keys, request, "max_position_embeddings", v.positions, false);
    if (keys.error()) return;
    sayUnrecorded(a, request);
    a.caveats.push_back(
        "tokens are spread evenly over the experts; a real router is uneven, and padding or dropping is not modelled");

    a.module("model", "DeepseekV3Model");
    a.embedding("model.embed_tokens", v.vocab, v.hidden);
    a.module("model.layers", "ModuleList");
    const auto name = [](std::int64_t i) { return fmt::format("model.layers.{}", i); };
    for (std::int64_t i = 0; i < v.layers; ++i) addLayer(a, v, name(i), i >= v.firstSparse);
    a.rmsNorm("model.norm", v.hidden, v.epsilon, "DeepseekV3RMSNorm");
    a.module("model.rotary_emb", "DeepseekV3RotaryEmbedding");
    a.layer("model.embed_tokens", LayerKind::Embedding, "model", "DeepseekV3Model",
            [rope = v.rope](LayerWriter& w, TensorId) {
                const TensorId ids = w.b.batch(0, {w.workload.batch, w.workload.sequence}, DType::I64);
                const TensorId x = w.apply("embed_tokens", ids);
                auto scope = w.in("rotary_emb");
                makeRotaryTables(w.b, w.workload.sequence, rope);
                return x;
            });
    const std::size_t programs[2] = {a.program("dense layer", "DeepseekV3DecoderLayer", layerOf(v, false)),
                                     a.program("sparse layer", "DeepseekV3DecoderLayer", layerOf(v, true))};
    for (std::int64_t i = 0; i < v.layers; ++i)
        a.layer(name(i), LayerKind::Block, name(i), programs[i >= v.firstSparse ? 1 : 0]);
    a.layer("model.norm", LayerKind::Norm, "model.norm", "DeepseekV3RMSNorm",
            [](LayerWriter& w, TensorId x) { return w.apply("", x); });
    const std::int64_t sparse = std::max<std::int64_t>(0, v.layers - v.firstSparse);
    a.experts = {v.experts, v.active, sparse * v.experts * 3 * v.expertWidth * v.hidden};
    addLanguageHead(a, "lm_head", v.hidden, v.vocab, v.tied ? "model.embed_tokens.weight" : "");
}

}  // namespace shardscope::core
