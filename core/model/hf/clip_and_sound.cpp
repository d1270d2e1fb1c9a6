// CLIP, whose two towers run one after the other (images first), and wav2vec 2.0.

#include <fmt/format.h>

#include "core/model/hf/blocks.h"
#include "core/model/hf/families.h"

namespace shardscope::core {
namespace {

struct Tower {
    std::int64_t hidden = 1, inner = 1, layers = 1, heads = 1;
    double epsilon = 1e-5;
    std::string activation;
};

Tower readTower(ConfigKeys& keys, std::int64_t hidden, std::int64_t inner, std::int64_t heads) {
    Tower t;
    t.hidden = keys.size("hidden_size", hidden);
    t.inner = keys.size("intermediate_size", inner);
    t.layers = keys.layers("num_hidden_layers", 12);
    t.heads = keys.size("num_attention_heads", heads);
    t.epsilon = keys.epsilon("layer_norm_eps", 1e-5);
    t.activation = keys.activation("hidden_act", "quick_gelu");
    keys.quotient("num_attention_heads", "hidden_size", t.hidden, t.heads);
    return t;
}

void addEncoder(Architecture& a, const Tower& t, const std::string& at) {
    a.module(at, "CLIPEncoder");
    a.module(at + ".layers", "ModuleList");
    for (std::int64_t i = 0; i < t.layers; ++i) {
        const std::string layer = fmt::format("{}.layers.{}", at, i);
        a.module(layer, "CLIPEncoderLayer");
        a.module(layer + ".self_attn", "CLIPAttention");
        for (const char* name : {"k_proj", "v_proj", "q_proj", "out_proj"})
            a.linear(fmt::format("{}.self_attn.{}", layer, name), t.hidden, t.hidden);
        a.layerNorm(layer + ".layer_norm1", {t.hidden}, t.epsilon);
        a.module(layer + ".mlp", "CLIPMLP");
        a.linear(layer + ".mlp.fc1", t.hidden, t.inner);
        a.linear(layer + ".mlp.fc2", t.inner, t.hidden);
        a.layerNorm(layer + ".layer_norm2", {t.hidden}, t.epsilon);
    }
}

void addTowerBlocks(Architecture& a, const Tower& t, const std::string& at, bool causal) {
    std::vector<Sublayer> sublayers(2);
    sublayers[0].pre = "layer_norm1";
    sublayers[0].branch = [parts = apartProjections("self_attn", t.heads, t.hidden / t.heads, causal)](
                              LayerWriter& w, TensorId x) { return attend(w, parts, x); };
    MlpParts mlp;
    mlp.module = "mlp";
    mlp.up = "mlp.fc1";
    mlp.down = "mlp.fc2";
    mlp.activation = t.activation;
    sublayers[1].pre = "layer_norm2";
    sublayers[1].branch = [mlp](LayerWriter& w, TensorId x) { return feedForward(w, mlp, x); };
    addBlocks(a, at + ".layers", t.layers, "encoder layer", "CLIPEncoderLayer",
              [sublayers](LayerWriter& w, TensorId x) { return runBlock(w, sublayers, false, x); });
}

}  // namespace

void describeClip(Architecture& a, ConfigKeys& keys, HfRequest& request) {
    const std::int64_t joint = keys.size("projection_dim", 512);
    ConfigKeys textKeys = keys.inside("text_config"), imageKeys = keys.inside("vision_config");
    const Tower text = readTower(textKeys, 512, 2048, 8), image = readTower(imageKeys, 768, 3072, 12);
    const std::int64_t vocab = textKeys.size("vocab_size", 49408);
    const std::int64_t positions = textKeys.size("max_position_embeddings", 77);
    const std::int64_t side = imageKeys.side("image_size", 224), patch = imageKeys.side("patch_size", 32);
    const std::int64_t channels = imageKeys.size("num_channels", 3);
    const std::int64_t row = side / patch;
    if (row < 1) imageKeys.refuse("patch_size", fmt::format("found {}, expected at most image_size {}", patch, side));
    const std::int64_t patches = imageKeys.times("the number of patches", row, row);
    keys.take(textKeys);
    keys.take(imageKeys);
    onlyClasses(keys, request.cls, {"CLIPModel"});
    settleSequence(a, keys, request, "text_config", positions, true);
    if (keys.error()) return;
    sayUnrecorded(a, request);
    a.caveats.push_back("the loss compares the pairs of one rank only, in one direction");
    a.caveats.push_back(
        "image embeddings reach the loss inside a stage only: sending them to later stages is not counted");
    a.sampleWord = "pair";

    a.parameter("", "logit_scale", {});
    const std::string t = "text_model", i = "vision_model";
    a.module(t, "CLIPTextTransformer");
    a.module(t + ".embeddings", "CLIPTextEmbeddings");
    a.embedding(t + ".embeddings.token_embedding", vocab, text.hidden);
    a.embedding(t + ".embeddings.position_embedding", positions, text.hidden);
    addEncoder(a, text, t + ".encoder");
    a.layerNorm(t + ".final_layer_norm", {text.hidden}, text.epsilon);
    a.module(i, "CLIPVisionTransformer");
    a.module(i + ".embeddings", "CLIPVisionEmbeddings");
    a.parameter(i + ".embeddings", "class_embedding", {image.hidden});
    a.convolution(i + ".embeddings.patch_embedding", {image.hidden, channels, patch, patch}, false, "Conv2d");
    a.embedding(i + ".embeddings.position_embedding", patches + 1, image.hidden);
    a.layerNorm(i + ".pre_layrnorm", {image.hidden}, image.epsilon);
    addEncoder(a, image, i + ".encoder");
    a.layerNorm(i + ".post_layernorm", {image.hidden}, image.epsilon);
    a.linear("visual_projection", image.hidden, joint, false);
    a.linear("text_projection", text.hidden, joint, false);

    const auto places = [](LayerWriter& w, std::int64_t count) {
        const TensorId ids = w.b.tensor("position_ids", {1, count}, DType::I64);
        w.b.emit(KernelKind::Elementwise, "slice", {}, {ids});
        return ids;
    };
    const auto plus = [](LayerWriter& w, TensorId x, TensorId rows) {
        return w.workload.batch == 1 ? w.b.add(x, rows) : w.b.addBroadcast(x, rows);
    };
    a.layer(i + ".embeddings", LayerKind::Embedding, i, "CLIPVisionTransformer", [=](LayerWriter& w, TensorId) {
        const TensorId images = w.b.batch(0, {w.workload.batch, channels, side, side}, w.b.dtype());
        TensorId x;
        {
            auto scope = w.in("embeddings");
            const TensorId found = w.convolve("embeddings.patch_embedding", images, patches);
            x = w.pass("cat", {w.parameter("embeddings", "class_embedding"), found},
                       {w.workload.batch, patches + 1, image.hidden});
            x = plus(w, x, w.apply("embeddings.position_embedding", places(w, patches + 1)));
        }
        return w.apply("pre_layrnorm", x);
    });
    addTowerBlocks(a, image, i + ".encoder", false);
    a.layer(t + ".embeddings", LayerKind::Embedding, "", request.cls, [=](LayerWriter& w, TensorId x) {
        const TensorId pooled = w.apply("vision_model.post_layernorm", w.b.contiguous(w.tokenOf(x, 0)));
        w.b.share(w.apply("visual_projection", pooled), "image_embeddings");
        auto scope = w.in("text_model.embeddings");
        const TensorId ids = w.b.batch(0, {w.workload.batch, w.workload.sequence}, DType::I64);
        const TensorId words = w.apply("text_model.embeddings.token_embedding", ids);
        return plus(w, words, w.apply("text_model.embeddings.position_embedding", places(w, w.workload.sequence)));
    });
    addTowerBlocks(a, text, t + ".encoder", true);
    a.layer("text_projection", LayerKind::Head, "", request.cls, [joint](LayerWriter& w, TensorId x) {
        const TensorId normed = w.apply("text_model.final_layer_norm", x);
        const TensorId words = w.apply("text_projection", w.b.contiguous(w.tokenOf(normed, w.b.shapeOf(x)[1] - 1)));
        const std::int64_t pairs = w.workload.batch;
        const TensorId images = w.b.sharedWithGradient("image_embeddings", {pairs, joint}, w.b.dtype());
        const TensorId product = w.b.batchedGemm(w.b.reshape(words, {1, pairs, joint}),
                                                 w.b.transpose(w.b.reshape(images, {1, pairs, joint}), 1, 2));
        return w.pass("mul", {w.b.reshape(product, {pairs, pairs}), w.parameter("", "logit_scale")}, {pairs, pairs});
    });
    addRowLoss(a);
}

void describeWav2vec2(Architecture& a, ConfigKeys& keys, HfRequest& request) {
    constexpr std::int64_t kSamples = 160'000;  // ten seconds
    const bool ctc = endsIn(request.cls, "ForCTC");
    const std::int64_t h = keys.size("hidden_size", 768), inner = keys.size("intermediate_size", 3072);
    const std::int64_t layers = keys.layers("num_hidden_layers", 12), heads = keys.size("num_attention_heads", 12);
    const std::int64_t vocab = ctc ? keys.size("vocab_size", 32) : 1;
    const std::vector<std::int64_t> widths = keys.sizes("conv_dim", {512, 512, 512, 512, 512, 512, 512});
    const std::vector<std::int64_t> kernels = keys.sizes("conv_kernel", {10, 3, 3, 3, 3, 2, 2});
    const std::vector<std::int64_t> strides = keys.sizes("conv_stride", {5, 2, 2, 2, 2, 2, 2});
    const bool bias = keys.flag("conv_bias", false), stable = keys.flag("do_stable_layer_norm", false);
    const bool everyNorm = keys.word("feat_extract_norm", "group", {"group", "layer"}) == "layer";
    const std::int64_t reach = keys.size("num_conv_pos_embeddings", 128);
    const std::int64_t groups = keys.size("num_conv_pos_embedding_groups", 16);
    const double epsilon = keys.epsilon("layer_norm_eps", 1e-5);
    const std::string activation = keys.activation("hidden_act", "gelu");
    const std::int64_t codes = keys.size("num_codevectors_per_group", 320),
                       books = keys.size("num_codevector_groups", 2);
    const std::int64_t codeWidth = keys.size("codevector_dim", 256), joint = keys.size("proj_codevector_dim", 256);
    const bool masks =
        keys.number("mask_time_prob", 0.05, 0, 1.01) > 0 || keys.number("mask_feature_prob", 0, 0, 1.01) > 0;
    if (keys.flag("add_adapter", false))
        keys.refuse("add_adapter", "found true, expected false", "adapters are not modelled", ErrorCode::Unsupported);
    if (widths.empty() || widths.size() > 64 || kernels.size() != widths.size() || strides.size() != widths.size())
        keys.refuse("conv_dim", fmt::format("found {} widths, {} kernels and {} strides, expected as many of each",
                                            widths.size(), kernels.size(), strides.size()));
    keys.quotient("num_attention_heads", "hidden_size", h, heads);
    keys.quotient("num_conv_pos_embedding_groups", "hidden_size", h, groups);
    const std::int64_t share = keys.quotient("num_codevector_groups", "codevector_dim", codeWidth, books);
    const std::int64_t allCodes = keys.times("num_codevectors_per_group times num_codevector_groups", codes, books);
    std::vector<std::int64_t> lengths;
    for (std::size_t i = 0; i < widths.size() && !keys.error(); ++i) {
        const std::int64_t before = lengths.empty() ? kSamples : lengths.back();
        if (kernels[i] > before)
            keys.refuse("conv_kernel",
                        fmt::format("found {}, expected at most the {} positions before it", kernels[i], before));
        lengths.push_back((before - kernels[i]) / strides[i] + 1);
    }
    onlyClasses(keys, request.cls, {"ForCTC", "ForPreTraining"});
    if (keys.error()) return;
    sayUnrecorded(a, request);
    a.sampleWord = "sound";
    a.tokensPerSample = 0;
    a.caveats.push_back("sounds are taken to last ten seconds (160,000 samples)");
    a.caveats.push_back(
        "the loss over alignments or quantised codes is not modelled: a cross entropy of the frames, or "
        "the mean, stands in");

    const std::string base = "wav2vec2", features = base + ".feature_extractor", encoder = base + ".encoder";
    a.module(base, "Wav2Vec2Model");
    if (masks) a.parameter(base, "masked_spec_embed", {h});
    a.module(features, "Wav2Vec2FeatureEncoder");
    a.module(features + ".conv_layers", "ModuleList");
    for (std::size_t i = 0; i < widths.size(); ++i) {
        const std::string at = fmt::format("{}.conv_layers.{}", features, i);
        const bool normed = everyNorm || i == 0;
        a.module(at, everyNorm ? "Wav2Vec2LayerNormConvLayer"
                     : normed  ? "Wav2Vec2GroupNormConvLayer"
                               : "Wav2Vec2NoLayerNormConvLayer");
        a.convolution(at + ".conv", {widths[i], i == 0 ? 1 : widths[i - 1], kernels[i]}, bias, "Conv1d");
        if (normed) a.layerNorm(at + ".layer_norm", {widths[i]}, 1e-5, true, everyNorm ? "LayerNorm" : "GroupNorm");
    }
    a.module(base + ".feature_projection", "Wav2Vec2FeatureProjection");
    a.layerNorm(base + ".feature_projection.layer_norm", {widths.back()}, epsilon);
    a.linear(base + ".feature_projection.projection", widths.back(), h);
    a.module(encoder, stable ? "Wav2Vec2EncoderStableLayerNorm" : "Wav2Vec2Encoder");
    const std::string position = encoder + ".pos_conv_embed";
    a.module(position, "Wav2Vec2PositionalConvEmbedding");
    a.module(position + ".conv", "ParametrizedConv1d");
    a.parameter(position + ".conv", "bias", {h});
    a.module(position + ".conv.parametrizations", "ModuleDict");
    a.module(position + ".conv.parametrizations.weight", "ParametrizationList");
    a.parameter(position + ".conv.parametrizations.weight", "original0", {1, 1, reach});
    a.parameter(position + ".conv.parametrizations.weight", "original1", {h, h / groups, reach});
    a.layerNorm(encoder + ".layer_norm", {h}, epsilon);
    a.module(encoder + ".layers", "ModuleList");
    const std::string type = stable ? "Wav2Vec2EncoderLayerStableLayerNorm" : "Wav2Vec2EncoderLayer";
    for (std::int64_t i = 0; i < layers; ++i) {
        const std::string at = fmt::format("{}.layers.{}", encoder, i);
        a.module(at, type);
        a.module(at + ".attention", "Wav2Vec2Attention");
        for (const char* name : {"k_proj", "v_proj", "q_proj", "out_proj"})
            a.linear(fmt::format("{}.attention.{}", at, name), h, h);
        a.layerNorm(at + ".layer_norm", {h}, epsilon);
        a.module(at + ".feed_forward", "Wav2Vec2FeedForward");
        a.linear(at + ".feed_forward.intermediate_dense", h, inner);
        a.linear(at + ".feed_forward.output_dense", inner, h);
        a.layerNorm(at + ".final_layer_norm", {h}, epsilon);
    }

    a.layer(features, LayerKind::Embedding, base, "Wav2Vec2Model", [=](LayerWriter& w, TensorId) {
        const std::int64_t batch = w.workload.batch, frames = lengths.back();
        TensorId x = w.b.batch(0, {batch, 1, kSamples}, w.b.dtype());
        for (std::size_t i = 0; i < widths.size(); ++i) {
            const std::string at = fmt::format("feature_extractor.conv_layers.{}", i);
            x = w.convolve(at + ".conv", x, lengths[i]);
            if (w.has(at + ".layer_norm")) x = w.apply(at + ".layer_norm", x);
            x = w.activation("gelu", x);
        }
        x = w.apply("feature_projection.projection", w.apply("feature_projection.layer_norm", x));
        if (masks) x = w.pass("where", {x, w.parameter("", "masked_spec_embed")}, {batch, frames, h});
        // The grouped convolution of positions: its weight is put together from a length and a direction.
        const std::string conv = "encoder.pos_conv_embed.conv", halves = conv + ".parametrizations.weight";
        auto scope = w.in(halves);
        const TensorId weight =
            w.pass("_weight_norm_interface", {w.parameter(halves, "original0"), w.parameter(halves, "original1")},
                   {h, h / groups, reach});
        ProgramBuilder& b = w.b;
        const TensorId y = b.tensor("convolution", {batch, frames, h}, b.dtype());
        const std::vector<TensorId> inputs{x, weight, w.parameter(conv, "bias")};
        const std::int64_t rows = batch * frames, out = h / groups, deep = out * reach;
        b.shapeOfGemm(b.emit(KernelKind::OpaqueGemm, "convolution", inputs, {y}), groups, rows, out, deep);
        b.record({y}, inputs, [&b, inputs, y, groups, rows, out, deep] {
            std::vector<TensorId> gradients;
            for (const TensorId input : inputs)
                gradients.push_back(b.tensor("d_convolution", b.shapeOf(input), b.at(input).dtype));
            b.shapeOfGemm(b.emit(KernelKind::OpaqueGemm, "convolution_backward",
                                 {b.gradientOf(y), inputs[0], inputs[1]}, gradients),
                          2 * groups, rows, out, deep);
            for (std::size_t i = 0; i < inputs.size(); ++i) b.addGradient(inputs[i], gradients[i]);
        });
        x = b.add(x, w.activation(activation, y));
        return stable ? x : w.apply("encoder.layer_norm", x);
    });
    MlpParts mlp;
    mlp.module = "feed_forward";
    mlp.up = "feed_forward.intermediate_dense";
    mlp.down = "feed_forward.output_dense";
    mlp.activation = activation;
    std::vector<Sublayer> sublayers(2);
    (stable ? sublayers[0].pre : sublayers[0].after) = "layer_norm";
    sublayers[0].branch = [parts = apartProjections("attention", heads, h / heads, false)](LayerWriter& w, TensorId x) {
        return attend(w, parts, x);
    };
    (stable ? sublayers[1].pre : sublayers[1].after) = "final_layer_norm";
    sublayers[1].branch = [mlp](LayerWriter& w, TensorId x) { return feedForward(w, mlp, x); };
    addBlocks(a, encoder + ".layers", layers, "encoder layer", type,
              [sublayers](LayerWriter& w, TensorId x) { return runBlock(w, sublayers, false, x); });
    if (stable)
        a.layer(encoder + ".layer_norm", LayerKind::Norm, encoder + ".layer_norm", "LayerNorm",
                [](LayerWriter& w, TensorId x) { return w.apply("", x); });
    if (ctc) {
        a.linear("lm_head", h, vocab);
        a.layer("lm_head", LayerKind::Head, "lm_head", "Linear",
                [](LayerWriter& w, TensorId x) { return w.apply("", x); });
        return addRowLoss(a);
    }
    a.module("quantizer", "Wav2Vec2GumbelVectorQuantizer");
    a.parameter("quantizer", "codevectors", {1, allCodes, share});
    a.linear("quantizer.weight_proj", widths.back(), allCodes);
    a.linear("project_hid", h, joint);
    a.linear("project_q", codeWidth, joint);
    a.layer("project_hid", LayerKind::Head, "", request.cls, [=](LayerWriter& w, TensorId x) {
        const TensorId hidden = w.apply("project_hid", x);
        const std::int64_t batch = w.workload.batch, frames = lengths.back();
        const TensorId heard = w.b.shared("extracted_features", {batch, frames, widths.back()}, w.b.dtype());
        const TensorId scores = w.apply("quantizer.weight_proj", heard);
        auto scope = w.in("quantizer");
        const TensorId quantised =
            w.pass("gumbel_softmax", {scores, w.parameter("quantizer", "codevectors")}, {batch, frames, codeWidth});
        return w.pass("cosine_similarity", {hidden, w.apply("project_q", quantised)}, {batch, frames, joint});
    });
    a.layer("loss", LayerKind::Loss, "", "", [](LayerWriter& w, TensorId x) { return w.pass("mean", {x}, {}); });
}

}  // namespace shardscope::core
