// Encoders: BERT and RoBERTa, and DeBERTa-v2, whose attention adds scores of relative positions.

#include <fmt/format.h>

#include "core/model/hf/blocks.h"
#include "core/model/hf/families.h"

namespace shardscope::core {
namespace {

struct Values {
    std::string classes, base;  ///< "Bert", "bert"
    bool roberta = false, deberta = false;
    std::int64_t vocab = 1, hidden = 1, inner = 1, layers = 1, heads = 1, positions = 1, types = 2, labels = 2;
    bool tied = true;
    double epsilon = 1e-12;
    std::string activation;

    // DeBERTa-v2
    std::int64_t narrow = 1, relative = 0, pooler = 1, convolution = 0;
    bool positionTable = true, shareKeys = false, fromContent = false, toContent = false, relativeNorm = false;
};

/// "p2c|c2p", or a list of such words.
std::string positionKinds(ConfigKeys& keys) {
    const Document* value = keys.find("pos_att_type");
    if (value == nullptr || value->kind == Document::Kind::Null) return {};
    if (value->kind != Document::Kind::List) return keys.text("pos_att_type", "");
    std::string all;
    for (const std::string& word : keys.words("pos_att_type")) all += word + "|";
    return all;
}

void readDeberta(ConfigKeys& keys, Values& v) {
    v.narrow = keys.size("embedding_size", v.hidden, v.hidden);
    v.pooler = keys.size("pooler_hidden_size", v.hidden, v.hidden);
    v.positionTable = keys.flag("position_biased_input", true);
    const bool relative = keys.flag("relative_attention", false);
    const auto signedSize = [&](std::string_view key) -> std::int64_t {
        const Document* value = keys.find(key);
        const bool none = value == nullptr || (value->kind == Document::Kind::Integer && value->integer < 1);
        return none ? 0 : keys.size(key, 1);
    };
    std::int64_t most = signedSize("max_relative_positions");
    if (most == 0) most = v.positions;
    const std::int64_t buckets = signedSize("position_buckets");
    const std::string kinds = positionKinds(keys);
    v.relativeNorm = keys.text("norm_rel_ebd", "none").find("layer_norm") != std::string::npos;
    v.shareKeys = keys.truth("share_att_key", false);
    if (relative) v.relative = 2 * (buckets > 0 ? buckets : most);
    v.toContent = relative && kinds.find("c2p") != std::string::npos;
    v.fromContent = relative && kinds.find("p2c") != std::string::npos;
    v.convolution = keys.count("conv_kernel_size", 0);
}

Values read(ConfigKeys& keys, const HfRequest& request) {
    Values v;
    v.roberta = request.modelType == "roberta" || request.modelType == "xlm-roberta";
    v.deberta = request.modelType == "deberta-v2";
    v.classes = v.deberta                            ? "DebertaV2"
                : request.modelType == "xlm-roberta" ? "XLMRoberta"
                : v.roberta                          ? "Roberta"
                                                     : "Bert";
    v.base = v.deberta ? "deberta" : v.roberta ? "roberta" : "bert";
    v.vocab = keys.size("vocab_size", v.deberta ? 128100 : v.roberta ? 50265 : 30522);
    v.hidden = keys.size("hidden_size", v.deberta ? 1536 : 768);
    v.inner = keys.size("intermediate_size", v.deberta ? 6144 : 3072);
    v.layers = keys.layers("num_hidden_layers", v.deberta ? 24 : 12);
    v.heads = keys.size("num_attention_heads", v.deberta ? 24 : 12);
    v.positions = keys.size("max_position_embeddings", 512);
    v.types = v.deberta ? keys.count("type_vocab_size", 0) : keys.size("type_vocab_size", 2);
    v.tied = keys.flag("tie_word_embeddings", true);
    v.epsilon = keys.epsilon("layer_norm_eps", v.deberta ? 1e-7 : 1e-12);
    v.activation = keys.activation("hidden_act", "gelu");
    v.labels = labelsOf(keys);
    keys.quotient("num_attention_heads", "hidden_size", v.hidden, v.heads);
    v.narrow = v.pooler = v.hidden;
    if (v.deberta) readDeberta(keys, v);
    if (keys.truth("is_decoder", false) || keys.truth("add_cross_attention", false))
        keys.refuse(keys.truth("is_decoder", false) ? "is_decoder" : "add_cross_attention",
                    "found true, expected an encoder", "this model type is modelled as an encoder only",
                    ErrorCode::Unsupported);
    return v;
}

void addEmbeddings(Architecture& a, const Values& v, const std::string& at) {
    a.module(at, v.classes + "Embeddings");
    const auto table = [&](const char* name, std::int64_t rows) {
        a.embedding(fmt::format("{}.{}", at, name), rows, v.narrow);
    };
    table("word_embeddings", v.vocab);
    if (!v.roberta && v.positionTable) table("position_embeddings", v.positions);
    if (v.types > 0) table("token_type_embeddings", v.types);
    if (v.narrow != v.hidden) a.linear(at + ".embed_proj", v.narrow, v.hidden, false);
    a.layerNorm(at + ".LayerNorm", {v.hidden}, v.epsilon);
    if (v.roberta) table("position_embeddings", v.positions);
}

void addLayer(Architecture& a, const Values& v, const std::string& at) {
    const std::int64_t h = v.hidden;
    a.module(at, v.classes + "Layer");
    a.module(at + ".attention", v.classes + "Attention");
    const std::string self = at + ".attention.self", ending = v.deberta ? "_proj" : "";
    a.module(self, v.deberta ? "DisentangledSelfAttention" : v.classes + "SelfAttention");
    for (const char* name : {"query", "key", "value"}) a.linear(fmt::format("{}.{}{}", self, name, ending), h, h);
    if (v.relative > 0 && !v.shareKeys) {
        if (v.toContent) a.linear(self + ".pos_key_proj", h, h);
        if (v.fromContent) a.linear(self + ".pos_query_proj", h, h);
    }
    a.module(at + ".attention.output", v.classes + "SelfOutput");
    a.linear(at + ".attention.output.dense", h, h);
    a.layerNorm(at + ".attention.output.LayerNorm", {h}, v.epsilon);
    a.module(at + ".intermediate", v.classes + "Intermediate");
    a.linear(at + ".intermediate.dense", h, v.inner);
    a.module(at + ".output", v.classes + "Output");
    a.linear(at + ".output.dense", v.inner, h);
    a.layerNorm(at + ".output.LayerNorm", {h}, v.epsilon);
}

/// Scores between content and relative positions: a product over all relative positions, then gathered.
std::vector<TensorId> relativeScores(LayerWriter& w, const Values& v, TensorId q, TensorId k) {
    ProgramBuilder& b = w.b;
    const std::string self = "attention.self";
    const Shape shape = b.shapeOf(q);
    const std::int64_t batch = shape[0], tokens = shape[2], width = v.hidden / v.heads, together = batch * v.heads;
    const TensorId table = b.sharedWithGradient("relative_embeddings", {v.relative, v.hidden}, b.dtype());
    std::vector<TensorId> added;
    const auto scores = [&](const std::string& shared, const std::string& own, TensorId content) {
        const TensorId projected = w.apply(self + (v.shareKeys ? shared : own), table);
        const TensorId repeated = w.pass("repeat", {projected}, {together, v.relative, width});
        const TensorId product =
            b.batchedGemm(b.reshape(content, {together, tokens, width}), b.transpose(repeated, 1, 2));
        added.push_back(w.pass("gather", {product}, {together, tokens, tokens}));
    };
    if (b.tooLarge()) return added;
    if (v.toContent) scores(".key_proj", ".pos_key_proj", q);
    if (v.fromContent) scores(".query_proj", ".pos_query_proj", k);
    return added;
}

Forward layerOf(const Values& v) {
    const std::string self = "attention.self", ending = v.deberta ? "_proj" : "";
    AttentionParts attention;
    attention.module = self;
    attention.query = self + ".query" + ending;
    attention.key = self + ".key" + ending;
    attention.value = self + ".value" + ending;
    attention.heads = attention.kvHeads = v.heads;
    attention.width = v.hidden / v.heads;
    attention.causal = false;
    if (v.deberta)
        attention.scores = [v](LayerWriter& w, TensorId q, TensorId k) {
            return v.relative > 0 ? relativeScores(w, v, q, k) : std::vector<TensorId>{};
        };
    MlpParts mlp;
    mlp.up = "intermediate.dense";
    mlp.down = "output.dense";
    mlp.activation = v.activation;
    std::vector<Sublayer> sublayers(2);
    sublayers[0].branch = [attention](LayerWriter& w, TensorId x) {
        return w.apply("attention.output.dense", attend(w, attention, x));
    };
    sublayers[0].branchFirst = true;
    sublayers[0].after = "attention.output.LayerNorm";
    sublayers[1].branch = [mlp](LayerWriter& w, TensorId x) { return feedForward(w, mlp, x); };
    sublayers[1].branchFirst = true;
    sublayers[1].after = "output.LayerNorm";
    return [sublayers](LayerWriter& w, TensorId x) { return runBlock(w, sublayers, false, x); };
}

TensorId embed(LayerWriter& w, const Values& v, const std::string& at) {
    ProgramBuilder& b = w.b;
    const Shape tokens{w.workload.batch, w.workload.sequence};
    TensorId x = w.apply(joinNames(at, "word_embeddings"), b.batch(0, tokens, DType::I64));
    for (const char* name : {"token_type_embeddings", "position_embeddings"}) {
        const std::string table = joinNames(at, name);
        if (!w.has(table)) continue;
        const TensorId ids = b.tensor("ids", tokens, DType::I64);
        b.emit(KernelKind::Elementwise, "arange", {}, {ids});
        x = b.add(x, w.apply(table, ids));
    }
    if (v.narrow != v.hidden) x = w.apply(joinNames(at, "embed_proj"), x);
    return w.apply(joinNames(at, "LayerNorm"), x);
}

/// The head over all tokens: dense, activation, norm, and a decoder that is tied to the words.
void addMaskedHead(Architecture& a, const Values& v, const std::string& at, const std::string& dense,
                   const std::string& norm, const std::string& words) {
    a.parameter(at, "bias", {v.vocab});
    const bool inside = dense.find('.') != std::string::npos;  // transform.dense
    if (inside) a.module(at + ".transform", v.classes + "PredictionHeadTransform");
    a.linear(joinNames(at, dense), v.hidden, v.narrow);
    a.layerNorm(joinNames(at, norm), {v.narrow}, v.epsilon);
    ModuleEntry& decoder = a.linear(at + ".decoder", v.narrow, v.vocab);
    if (!v.tied) return;
    decoder.parameters[0].tiedTo = words;
    decoder.parameters[1].tiedTo = at + ".bias";
}

Forward maskedHead(const Values& v, const std::string& dense, const std::string& norm) {
    return [activation = v.activation, dense, norm](LayerWriter& w, TensorId x) {
        return w.apply("decoder", w.apply(norm, w.activation(activation, w.apply(dense, x))));
    };
}

void addHead(Architecture& a, const Values& v, const HfRequest& request, const std::string& prefix) {
    const std::string& cls = request.cls;
    const std::string words = joinNames(prefix, "embeddings.word_embeddings.weight");
    const std::string pooler = joinNames(prefix, "pooler"), poolerDense = joinNames(prefix, "pooler.dense");
    const auto token = [](const std::string& dense, const std::string& out, std::string_view activation) {
        return [dense, out, activation](LayerWriter& w, TensorId x) {
            const TensorId y = w.activation(activation, w.apply(dense, w.tokenOf(x, 0)));
            return out.empty() ? y : w.apply(out, y);
        };
    };
    if (endsIn(cls, "ForMaskedLM") || endsIn(cls, "ForPreTraining")) {
        if (v.roberta) {
            a.module("lm_head", v.classes + "LMHead");
            addMaskedHead(a, v, "lm_head", "dense", "layer_norm", words);
            a.layer("lm_head", LayerKind::Head, "lm_head", v.classes + "LMHead", maskedHead(v, "dense", "layer_norm"));
        } else {
            const bool both = endsIn(cls, "ForPreTraining");
            a.module("cls", v.classes + (both ? "PreTrainingHeads" : "OnlyMLMHead"));
            a.module("cls.predictions", v.classes + "LMPredictionHead");
            addMaskedHead(a, v, "cls.predictions", "transform.dense", "transform.LayerNorm", words);
            if (both) a.linear("cls.seq_relationship", v.hidden, 2);
            a.layer("cls.predictions", LayerKind::Head, "", cls,
                    [activation = v.activation, poolerDense, both](LayerWriter& w, TensorId x) {
                        TensorId pooled;
                        if (both) pooled = w.activation("tanh", w.apply(poolerDense, w.tokenOf(x, 0)));
                        const std::string at = "cls.predictions.";
                        const TensorId dense = w.activation(activation, w.apply(at + "transform.dense", x));
                        const TensorId logits = w.apply(at + "decoder", w.apply(at + "transform.LayerNorm", dense));
                        if (!both) return logits;
                        const TensorId pair = w.apply("cls.seq_relationship", pooled);
                        return w.pass("add", {logits, pair}, w.b.shapeOf(logits));
                    });
            if (both)
                a.caveats.push_back("the loss of the next sentence is not counted beside that of the masked words");
        }
        return addRowLoss(a);
    }
    if (endsIn(cls, "ForTokenClassification") || endsIn(cls, "ForQuestionAnswering")) {
        const std::string name = endsIn(cls, "ForQuestionAnswering") ? "qa_outputs" : "classifier";
        a.linear(name, v.hidden, v.labels);
        a.layer(name, LayerKind::Head, name, "Linear", [](LayerWriter& w, TensorId x) { return w.apply("", x); });
        return addRowLoss(a);
    }
    if (endsIn(cls, "ForSequenceClassification")) {
        if (v.roberta) {
            a.module("classifier", v.classes + "ClassificationHead");
            a.linear("classifier.dense", v.hidden, v.hidden);
            a.linear("classifier.out_proj", v.hidden, v.labels);
            a.layer("classifier", LayerKind::Head, "classifier", v.classes + "ClassificationHead",
                    token("dense", "out_proj", "tanh"));
        } else {
            a.linear("classifier", v.deberta ? v.pooler : v.hidden, v.labels);
            a.layer("classifier", LayerKind::Head, "", cls,
                    token(poolerDense, "classifier", v.deberta ? "gelu" : "tanh"));
        }
        return addRowLoss(a);
    }
    if (!v.deberta) a.layer(pooler, LayerKind::Head, "", cls, token(poolerDense, "", "tanh"));
    addMeanLoss(a, request);
}

}  // namespace

void describeBert(Architecture& a, ConfigKeys& keys, HfRequest& request) {
    const Values v = read(keys, request);
    onlyClasses(keys, request.cls,
                {"ForMaskedLM", "ForPreTraining", "ForSequenceClassification", "ForTokenClassification",
                 "ForQuestionAnswering", "Model"});
    // RoBERTa's table begins with the padding's rows.
    settleSequence(a, keys, request, "max_position_embeddings",
                   v.roberta ? std::max<std::int64_t>(1, v.positions - 2) : v.positions, v.positionTable);
    if (keys.error()) return;
    sayUnrecorded(a, request);
    const std::string& cls = request.cls;
    const bool model = endsIn(cls, "Model");
    const std::string prefix = model ? "" : v.base, encoder = joinNames(prefix, "encoder");
    const std::string embeddings = joinNames(prefix, "embeddings"), layers = encoder + ".layer";
    a.rootType = cls;
    if (v.roberta && request.modelType == "xlm-roberta" && endsIn(cls, "ForMaskedLM"))
        a.caveats.push_back("transformers registers this model's head before its encoder; here it comes after");
    if (!model) a.module(prefix, v.classes + "Model");
    addEmbeddings(a, v, embeddings);
    a.module(encoder, v.classes + "Encoder");
    a.module(layers, "ModuleList");
    for (std::int64_t i = 0; i < v.layers; ++i) addLayer(a, v, fmt::format("{}.{}", layers, i));
    if (v.relative > 0) a.embedding(encoder + ".rel_embeddings", v.relative, v.hidden);
    if (v.relativeNorm) a.layerNorm(encoder + ".LayerNorm", {v.hidden}, v.epsilon);
    if (v.convolution > 0) {
        a.module(encoder + ".conv", "ConvLayer");
        a.convolution(encoder + ".conv.conv", {v.hidden, v.hidden, v.convolution}, true, "Conv1d");
        a.layerNorm(encoder + ".conv.LayerNorm", {v.hidden}, v.epsilon);
        a.caveats.push_back("the convolution beside the first layer is a parameter, its work is not counted");
    }
    const bool pooled = (model || endsIn(cls, "ForPreTraining") || endsIn(cls, "ForSequenceClassification")) &&
                        !(v.roberta && !model) && !(v.deberta && model);
    if (pooled) {
        const std::string pooler = joinNames(prefix, "pooler");
        a.module(v.deberta ? "pooler" : pooler, v.deberta ? "ContextPooler" : v.classes + "Pooler");
        a.linear(v.deberta ? "pooler.dense" : pooler + ".dense", v.deberta ? v.pooler : v.hidden,
                 v.deberta ? v.pooler : v.hidden);
    }

    if (v.deberta) {
        a.layer(embeddings, LayerKind::Embedding, prefix, v.classes + "Model", [v](LayerWriter& w, TensorId) {
            const TensorId x = embed(w, v, "embeddings");
            if (v.relative > 0) {
                auto scope = w.in("encoder");
                const TensorId table = w.parameter("encoder.rel_embeddings", "weight");
                const TensorId rows =
                    v.relativeNorm ? w.apply("encoder.LayerNorm", table) : w.pass("clone", {table}, w.b.shapeOf(table));
                w.b.share(rows, "relative_embeddings");
            }
            return x;
        });
    } else {
        a.layer(embeddings, LayerKind::Embedding, embeddings, v.classes + "Embeddings",
                [v](LayerWriter& w, TensorId) { return embed(w, v, ""); });
    }
    addBlocks(a, layers, v.layers, "encoder layer", v.classes + "Layer", layerOf(v));
    addHead(a, v, request, v.deberta && pooled ? "" : prefix);
}

void describeDistilbert(Architecture& a, ConfigKeys& keys, HfRequest& request) {
    Values v;
    v.vocab = keys.size("vocab_size", 30522);
    v.hidden = keys.size("dim", 768);
    v.inner = keys.size("hidden_dim", 3072);
    v.layers = keys.layers("n_layers", 6);
    v.heads = keys.size("n_heads", 12);
    v.positions = keys.size("max_position_embeddings", 512);
    v.tied = keys.flag("tie_word_embeddings", true);
    v.activation = keys.activation("activation", "gelu");
    v.labels = labelsOf(keys);
    v.narrow = v.hidden;
    keys.flag("sinusoidal_pos_embds", false);  // the table is a parameter all the same
    keys.quotient("n_heads", "dim", v.hidden, v.heads);
    onlyClasses(
        keys, request.cls,
        {"ForMaskedLM", "ForSequenceClassification", "ForTokenClassification", "ForQuestionAnswering", "Model"});
    settleSequence(a, keys, request, "max_position_embeddings", v.positions, true);
    if (keys.error()) return;
    sayUnrecorded(a, request);

    const std::int64_t h = v.hidden;
    const std::string& cls = request.cls;
    const std::string base = endsIn(cls, "Model") ? "" : "distilbert";
    const std::string embeddings = joinNames(base, "embeddings"), transformer = joinNames(base, "transformer");
    a.rootType = cls;
    if (!base.empty()) a.module(base, "DistilBertModel");
    a.module(embeddings, "Embeddings");
    a.embedding(embeddings + ".word_embeddings", v.vocab, h);
    a.embedding(embeddings + ".position_embeddings", v.positions, h);
    a.layerNorm(embeddings + ".LayerNorm", {h}, v.epsilon);
    a.module(transformer, "Transformer");
    a.module(transformer + ".layer", "ModuleList");
    for (std::int64_t i = 0; i < v.layers; ++i) {
        const std::string at = fmt::format("{}.layer.{}", transformer, i);
        a.module(at, "TransformerBlock");
        a.module(at + ".attention", "DistilBertSelfAttention");
        for (const char* name : {"q_lin", "k_lin", "v_lin", "out_lin"})
            a.linear(fmt::format("{}.attention.{}", at, name), h, h);
        a.layerNorm(at + ".sa_layer_norm", {h}, v.epsilon);
        a.module(at + ".ffn", "FFN");
        a.linear(at + ".ffn.lin1", h, v.inner);
        a.linear(at + ".ffn.lin2", v.inner, h);
        a.layerNorm(at + ".output_layer_norm", {h}, v.epsilon);
    }
    AttentionParts attention;
    attention.module = "attention";
    attention.query = "attention.q_lin";
    attention.key = "attention.k_lin";
    attention.value = "attention.v_lin";
    attention.output = "attention.out_lin";
    attention.heads = attention.kvHeads = v.heads;
    attention.width = h / v.heads;
    attention.causal = false;
    MlpParts mlp;
    mlp.module = "ffn";
    mlp.up = "ffn.lin1";
    mlp.down = "ffn.lin2";
    mlp.activation = v.activation;
    std::vector<Sublayer> sublayers(2);
    sublayers[0].branch = [attention](LayerWriter& w, TensorId x) { return attend(w, attention, x); };
    sublayers[0].after = "sa_layer_norm";
    sublayers[1].branch = [mlp](LayerWriter& w, TensorId x) { return feedForward(w, mlp, x); };
    sublayers[1].after = "output_layer_norm";
    a.layer(embeddings, LayerKind::Embedding, embeddings, "Embeddings",
            [v](LayerWriter& w, TensorId) { return embed(w, v, ""); });
    addBlocks(a, transformer + ".layer", v.layers, "encoder layer", "TransformerBlock",
              [sublayers](LayerWriter& w, TensorId x) { return runBlock(w, sublayers, false, x); });
    if (endsIn(cls, "ForMaskedLM")) {
        a.linear("vocab_transform", h, h);
        a.layerNorm("vocab_layer_norm", {h}, v.epsilon);
        ModuleEntry& decoder = a.linear("vocab_projector", h, v.vocab);
        if (v.tied) decoder.parameters[0].tiedTo = embeddings + ".word_embeddings.weight";
        a.layer("vocab_projector", LayerKind::Head, "", cls, [act = v.activation](LayerWriter& w, TensorId x) {
            return w.apply("vocab_projector",
                           w.apply("vocab_layer_norm", w.activation(act, w.apply("vocab_transform", x))));
        });
        addRowLoss(a);
    } else if (endsIn(cls, "ForSequenceClassification")) {
        a.linear("pre_classifier", h, h);
        a.linear("classifier", h, v.labels);
        a.layer("classifier", LayerKind::Head, "", cls, [](LayerWriter& w, TensorId x) {
            return w.apply("classifier", w.activation("relu", w.apply("pre_classifier", w.tokenOf(x, 0))));
        });
        addRowLoss(a);
    } else if (endsIn(cls, "Model")) {
        addMeanLoss(a, request);
    } else {
        const std::string name = endsIn(cls, "ForQuestionAnswering") ? "qa_outputs" : "classifier";
        a.linear(name, h, v.labels);
        a.layer(name, LayerKind::Head, name, "Linear", [](LayerWriter& w, TensorId x) { return w.apply("", x); });
        addRowLoss(a);
    }
}

}  // namespace shardscope::core
