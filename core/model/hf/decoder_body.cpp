// The modules of a decoder of the table, in transformers' registration order, and the forward pass over them.

#include <fmt/format.h>

#include "core/model/decoder_ops.h"
#include "core/model/hf/blocks.h"
#include "core/model/hf/decoder_values.h"
#include "core/model/hf/families.h"

namespace shardscope::core {
namespace {

using Norm = DecoderRow::Norm;
using Mlp = DecoderRow::Mlp;
using Moe = DecoderRow::Moe;
using QkNorm = DecoderRow::QkNorm;

void addNorm(Architecture& a, const DecoderValues& d, const std::string& name) {
    const std::string type = classOf(d, d.row->normType);
    switch (d.row->norm) {
        case Norm::Rms: a.rmsNorm(name, d.hidden, d.epsilon, type); break;
        case Norm::Layer: a.layerNorm(name, {d.hidden}, d.epsilon, true, type); break;
        case Norm::LayerWithoutBias: a.layerNorm(name, {d.hidden}, d.epsilon, false, type); break;
        case Norm::Plain: a.module(name, type).work = ModuleWork::LayerNorm; break;
    }
}

void addQkNorm(Architecture& a, const DecoderValues& d, const std::string& name, std::int64_t heads) {
    const std::string type = classOf(d, d.row->normType);
    switch (d.row->qkNorm) {
        case QkNorm::Head: a.rmsNorm(name, d.headDim, d.epsilon, type); break;
        case QkNorm::Whole: a.rmsNorm(name, heads * d.headDim, d.epsilon, type); break;
        case QkNorm::HeadsTable: a.layerNorm(name, {heads, d.headDim}, d.epsilon, false, type); break;
        case QkNorm::HeadLayer: a.layerNorm(name, {d.headDim}, d.epsilon, true, type); break;
        case QkNorm::PerHead:  // a norm of its own for each head
            a.module(name, classOf(d, "LayerNormPerHead")).work = ModuleWork::LayerNorm;
            a.module(name + ".norms", "ModuleList");
            for (std::int64_t i = 0; i < heads; ++i)
                a.layerNorm(fmt::format("{}.norms.{}", name, i), {d.headDim}, d.epsilon, false);
            break;
        case QkNorm::Plain:
        case QkNorm::None: break;
    }
}

void addAttention(Architecture& a, const DecoderValues& d, const std::string& at) {
    const DecoderRow& row = *d.row;
    const std::int64_t q = d.heads * d.headDim, kv = d.kvHeads * d.headDim;
    const std::string prefix = row.moe == Moe::Llama4 ? "TextAttention" : "Attention";
    a.module(at, classOf(d, prefix));
    if (row.moe == Moe::GptOss) a.parameter(at, "sinks", {d.heads});
    const std::string output = joinNames(at, row.attentionOutput);
    if (row.packedQkv) {
        a.linear(output, q, d.hidden, d.outputBias);
        a.linear(at + ".qkv_proj", d.hidden, q + 2 * kv, d.qkvBias);
    } else {
        a.linear(at + ".q_proj", d.hidden, q, d.qkvBias);
        a.linear(at + ".k_proj", d.hidden, kv, d.qkvBias);
        a.linear(at + ".v_proj", d.hidden, kv, d.qkvBias);
        a.linear(output, q, d.hidden, d.outputBias);
    }
    if (!d.qkNorm) return;
    addQkNorm(a, d, joinNames(at, row.queryNorm), d.heads);
    addQkNorm(a, d, joinNames(at, row.keyNorm), d.kvHeads);
}

void addMlp(Architecture& a, const DecoderValues& d, const std::string& at, std::int64_t width,
            const std::string& type) {
    const DecoderRow& row = *d.row;
    a.module(at, type);
    if (row.mlp == Mlp::Packed) {
        a.linear(at + ".gate_up_proj", d.hidden, 2 * width, d.mlpBias);
    } else {
        if (row.mlp == Mlp::Gated) a.linear(at + ".gate_proj", d.hidden, width, d.mlpBias);
        a.linear(joinNames(at, row.up), d.hidden, width, d.mlpBias);
    }
    a.linear(joinNames(at, row.down), width, d.hidden, d.mlpBias);
    if (d.activation == "silu") a.module(at + ".act_fn", "SiLUActivation");
}

std::string_view mlpName(const DecoderValues& d) {
    return d.row->moe == Moe::Llama4 ? "feed_forward" : "mlp";
}

void addExperts(Architecture& a, const DecoderValues& d, const std::string& at) {
    const std::int64_t e = d.experts, f = d.expertWidth, h = d.hidden;
    const auto packed = [&](bool inOut) {
        a.parameter(at + ".experts", "gate_up_proj", inOut ? Shape{e, h, 2 * f} : Shape{e, 2 * f, h});
        if (d.row->moe == Moe::GptOss) a.parameter(at + ".experts", "gate_up_proj_bias", {e, 2 * f});
        a.parameter(at + ".experts", "down_proj", inOut ? Shape{e, f, h} : Shape{e, h, f});
        if (d.row->moe == Moe::GptOss) a.parameter(at + ".experts", "down_proj_bias", {e, h});
    };
    switch (d.row->moe) {
        case Moe::Mixtral:
        case Moe::Qwen:
            a.module(at, classOf(d, "SparseMoeBlock"));
            a.linear(at + ".gate", h, e, false, classOf(d, "TopKRouter"));
            a.module(at + ".experts", classOf(d, "Experts"));
            packed(false);
            if (d.activation == "silu") a.module(at + ".experts.act_fn", "SiLUActivation");
            break;
        case Moe::GptOss:
            a.module(at, "GptOssMLP");
            a.linear(at + ".router", h, e, true, "GptOssTopKRouter");
            a.module(at + ".experts", "GptOssExperts");
            packed(true);
            break;
        case Moe::Llama4:
            a.module(at, "Llama4TextMoe");
            a.module(at + ".experts", "Llama4TextExperts");
            packed(true);
            a.linear(at + ".router", h, e, false, "Llama4Router");
            break;
        case Moe::None: break;
    }
    if (d.sharedWidth == 0) return;
    addMlp(a, d, at + ".shared_expert", d.sharedWidth, classOf(d, d.row->moe == Moe::Llama4 ? "TextMLP" : "MLP"));
    if (d.row->moe == Moe::Qwen) a.linear(at + ".shared_expert_gate", h, 1, false);
}

MlpParts mlpParts(const DecoderValues& d, const std::string& at) {
    MlpParts parts;
    parts.module = at;
    if (d.row->mlp == Mlp::Packed)
        parts.packed = at + ".gate_up_proj";
    else
        parts.up = joinNames(at, d.row->up);
    if (d.row->mlp == Mlp::Gated) parts.gate = at + ".gate_proj";
    parts.down = joinNames(at, d.row->down);
    parts.activation = d.activation;
    parts.activationModule = at + ".act_fn";
    return parts;
}

}  // namespace

void addDecoderLayer(Architecture& a, const DecoderValues& d, const std::string& at, bool sparse) {
    const bool llama4 = d.row->moe == Moe::Llama4;
    a.module(at, classOf(d, llama4 ? "TextDecoderLayer" : "DecoderLayer"));
    addAttention(a, d, at + ".self_attn");
    const std::string mlp = joinNames(at, mlpName(d));
    if (sparse)
        addExperts(a, d, mlp);
    else
        addMlp(a, d, mlp, d.sparse.empty() ? d.intermediate : d.denseWidth, classOf(d, llama4 ? "TextMLP" : "MLP"));
    for (const std::uint8_t i : d.row->normOrder) {
        const bool second = i == 2 && d.parallel;
        if (!d.row->norms[i].empty() && !second) addNorm(a, d, joinNames(at, d.row->norms[i]));
    }
}

Forward decoderLayer(const DecoderValues& d, bool sparse) {
    const DecoderRow& row = *d.row;
    AttentionParts attention;
    attention.module = "self_attn";
    if (row.packedQkv) {
        attention.packed = "self_attn.qkv_proj";
    } else {
        attention.query = "self_attn.q_proj";
        attention.key = "self_attn.k_proj";
        attention.value = "self_attn.v_proj";
    }
    attention.output = joinNames("self_attn", row.attentionOutput);
    if (d.qkNorm) {
        attention.queryNorm = joinNames("self_attn", row.queryNorm);
        attention.keyNorm = joinNames("self_attn", row.keyNorm);
        attention.normsWhole = row.qkNorm == QkNorm::Whole;
    }
    attention.heads = d.heads;
    attention.kvHeads = d.kvHeads;
    attention.width = d.headDim;
    attention.rotary = d.rotary;
    attention.dropout = d.dropout;
    attention.unfused = row.moe == Moe::GptOss;  // its sinks are a column of the scores

    const std::string at(mlpName(d));
    std::vector<Sublayer> sublayers(2);
    for (std::size_t i = 0; i < 2; ++i) {
        sublayers[i].pre = row.norms[2 * i];
        sublayers[i].post = row.norms[2 * i + 1];
    }
    if (d.parallel) sublayers[1].pre = sublayers[0].pre;
    sublayers[0].branch = [attention](LayerWriter& w, TensorId x) {
        const TensorId y = attend(w, attention, x);
        // The sinks join the scores' softmax: a column more, which is not counted.
        if (w.at("self_attn").parameters.empty()) return y;
        auto scope = w.in("self_attn");
        return w.pass("sinks", {y, w.parameter("self_attn", "sinks")}, w.b.shapeOf(y));
    };
    if (sparse) {
        ExpertParts experts;
        experts.module = at;
        experts.router = at + (row.moe == Moe::Mixtral || row.moe == Moe::Qwen ? ".gate" : ".router");
        experts.experts = at + ".experts";
        experts.count = d.experts;
        experts.active = d.expertsPerToken;
        experts.weightsInOut = row.moe == Moe::GptOss || row.moe == Moe::Llama4;
        experts.activation = d.activation;
        if (d.sharedWidth > 0) experts.shared = mlpParts(d, at + ".shared_expert");
        if (d.sharedWidth > 0 && row.moe == Moe::Qwen) experts.sharedGate = at + ".shared_expert_gate";
        sublayers[1].branch = [experts](LayerWriter& w, TensorId x) { return mixExperts(w, experts, x); };
    } else {
        sublayers[1].branch = [parts = mlpParts(d, at)](LayerWriter& w, TensorId x) {
            return feedForward(w, parts, x);
        };
    }
    return
        [sublayers, parallel = d.parallel](LayerWriter& w, TensorId x) { return runBlock(w, sublayers, parallel, x); };
}

void addDecoderBody(Architecture& a, const DecoderValues& d, const std::string& body) {
    const bool llama4 = d.row->moe == Moe::Llama4;
    const std::string model = classOf(d, llama4                              ? "TextModel"
                                         : d.row->modelType == "gemma3_text" ? "TextModel"
                                                                             : "Model");
    if (body.empty())
        a.rootType = model;
    else
        a.module(body, model);
    const std::string table = joinNames(body, "embed_tokens"), layers = joinNames(body, "layers");
    const std::string norm = joinNames(body, d.row->finalNorm), rotary = joinNames(body, "rotary_emb");
    a.embedding(table, d.vocab, d.hidden);
    a.module(layers, "ModuleList");
    std::string first[2];  // of dense and of sparse layers
    for (std::int64_t i = 0; i < d.layers; ++i) {
        const bool sparse = !d.sparse.empty() && d.sparse[static_cast<std::size_t>(i)];
        std::string at = fmt::format("{}.{}", layers, i);
        if (!first[sparse].empty()) {
            a.copy(first[sparse], std::move(at));
        } else {
            addDecoderLayer(a, d, at, sparse);
            first[sparse] = std::move(at);
        }
    }
    addNorm(a, d, norm);
    a.module(rotary, classOf(d, "RotaryEmbedding"));

    const std::int64_t width = d.rotary;
    a.layer(table, LayerKind::Embedding, body, model, [width](LayerWriter& w, TensorId) {
        const TensorId ids = w.b.batch(0, {w.workload.batch, w.workload.sequence}, DType::I64);
        const TensorId x = w.apply("embed_tokens", ids);
        auto scope = w.in("rotary_emb");
        if (width > 0) makeRotaryTables(w.b, w.workload.sequence, width);
        return x;
    });
    constexpr std::size_t kNone = ~std::size_t{0};
    std::size_t programs[2] = {kNone, kNone};  // of dense and of sparse layers
    for (std::int64_t i = 0; i < d.layers; ++i) {
        const bool sparse = !d.sparse.empty() && d.sparse[static_cast<std::size_t>(i)];
        const std::string at = fmt::format("{}.{}", layers, i);
        if (programs[sparse] == kNone)
            programs[sparse] = a.program("decoder layer", a.find(at)->type, decoderLayer(d, sparse));
        a.layer(at, LayerKind::Block, at, programs[sparse]);
    }
    a.layer(norm, LayerKind::Norm, norm, a.find(norm)->type, [](LayerWriter& w, TensorId x) { return w.apply("", x); });
    if (d.experts > 0) {
        a.experts = {d.experts, d.expertsPerToken, 0};
        for (const bool sparse : d.sparse)
            if (sparse)
                a.experts.routedParameters +=
                    d.experts *
                    (3 * d.expertWidth * d.hidden + (d.row->moe == Moe::GptOss ? 2 * d.expertWidth + d.hidden : 0));
    }
}

void describeDecoder(Architecture& a, ConfigKeys& keys, HfRequest& request) {
    const DecoderValues d = readDecoderValues(keys, *findDecoderRow(request.modelType));
    onlyClasses(keys, request.cls, {"ForCausalLM", "ForSequenceClassification", "ForTokenClassification", "Model"});
    settleSequence(a, keys, request, "max_position_embeddings", d.positions, false);
    const std::int64_t labels = labelsOf(keys);
    if (keys.error()) return;
    // Mixtral's kernels and saved activations equal a recording, if its experts run as grouped products.
    if (request.modelType != "mixtral" || d.activation != "silu") sayUnrecorded(a, request);
    if (d.window > 0 && request.workload.sequence > d.window)
        a.caveats.push_back(fmt::format(
            "attention is counted over the whole sequence of {} tokens; the model's window of {} is not taken off",
            request.workload.sequence, d.window));
    if (!d.sparse.empty())
        a.caveats.push_back(
            "tokens are spread evenly over the experts; a real router is uneven, and padding or dropping is not "
            "modelled");
    a.rootType = request.cls;
    const bool base = endsIn(request.cls, "Model");
    addDecoderBody(a, d, base ? "" : "model");
    if (base)
        addMeanLoss(a, request);
    else if (endsIn(request.cls, "ForCausalLM"))
        addLanguageHead(a, "lm_head", d.hidden, d.vocab, d.tied ? "model.embed_tokens.weight" : "", d.row->headBias);
    else
        addScore(a, d.hidden, labels, endsIn(request.cls, "ForTokenClassification"));
}

}  // namespace shardscope::core
