// Vision: ViT, DINOv2 and Swin.

#include <fmt/format.h>

#include <cmath>

#include "core/model/hf/blocks.h"
#include "core/model/hf/families.h"

namespace shardscope::core {
namespace {

struct Image {
    std::int64_t hidden = 1, inner = 1, layers = 1, heads = 1, width = 1, side = 1, patch = 1, channels = 3,
                 patches = 1;
    std::int64_t labels = 2;
    bool qkvBias = true;
    double epsilon = 1e-12;
    std::string activation;
};

Image read(ConfigKeys& keys, std::int64_t patch) {
    Image v;
    v.hidden = keys.size("hidden_size", 768);
    v.layers = keys.layers("num_hidden_layers", 12);
    v.heads = keys.size("num_attention_heads", 12);
    v.side = keys.side("image_size", 224);
    v.patch = keys.side("patch_size", patch);
    v.channels = keys.size("num_channels", 3);
    v.qkvBias = keys.flag("qkv_bias", true);
    v.activation = keys.activation("hidden_act", "gelu");
    v.labels = labelsOf(keys);
    // As transformers: a head has hidden / heads channels rounded down, and what is over takes no part.
    v.width = keys.size("head_dim", std::max<std::int64_t>(1, v.hidden / v.heads),
                        std::max<std::int64_t>(1, v.hidden / v.heads));
    if (v.hidden < v.heads)
        keys.refuse("num_attention_heads", fmt::format("found {}, expected at most hidden_size {}", v.heads, v.hidden));
    keys.times("num_attention_heads times head_dim", v.heads, v.width);
    const std::int64_t row = v.side / v.patch;
    if (row < 1) keys.refuse("patch_size", fmt::format("found {}, expected at most image_size {}", v.patch, v.side));
    v.patches = keys.times("the number of patches", row, row);
    return v;
}

void settleImages(Architecture& a) {
    a.sampleWord = "image";
    a.tokensPerSample = 0;
}

/// Patches as tokens after the class token, positions added.
TensorId embedImages(LayerWriter& w, const Image& v, const std::string& projection, bool bias) {
    ProgramBuilder& b = w.b;
    const TensorId images = b.batch(0, {w.workload.batch, v.channels, v.side, v.side}, b.dtype());
    TensorId x;
    if (bias && v.side % v.patch == 0) {
        auto scope = w.in(projection);
        const TensorId weight = w.parameter(projection, "weight");
        x = b.patchEmbed(images, weight, w.parameter(projection, "bias"));
    } else {
        x = w.convolve(projection, images, v.patches);
    }
    return x;
}

void addAttention(Architecture& a, const Image& v, const std::string& at, const std::string& type) {
    a.module(at, type);
    const std::int64_t inner = v.heads * v.width;
    for (const char* name : {"q_proj", "k_proj", "v_proj"})
        a.linear(fmt::format("{}.{}", at, name), v.hidden, inner, v.qkvBias);
    a.linear(at + ".o_proj", inner, v.hidden);
}

MlpParts mlpOf(const std::string& activation) {
    MlpParts parts;
    parts.module = "mlp";
    parts.up = "mlp.fc1";
    parts.down = "mlp.fc2";
    parts.activation = activation;
    return parts;
}

const auto kApplySelf = [](LayerWriter& w, TensorId x) { return w.apply("", x); };

}  // namespace

void describeVit(Architecture& a, ConfigKeys& keys, HfRequest& request) {
    Image v = read(keys, 16);
    v.inner = keys.size("intermediate_size", 3072);
    v.epsilon = keys.epsilon("layer_norm_eps", 1e-12);
    const std::int64_t stride = keys.size("encoder_stride", 16);
    const std::int64_t pixels = keys.times("encoder_stride squared times num_channels",
                                           keys.times("encoder_stride squared", stride, stride), v.channels);
    onlyClasses(keys, request.cls, {"ForImageClassification", "ForMaskedImageModeling", "Model"});
    if (keys.error()) return;
    sayUnrecorded(a, request);
    settleImages(a);

    const std::int64_t h = v.hidden;
    const std::string& cls = request.cls;
    const std::string base = endsIn(cls, "Model") ? "" : "vit", embeddings = joinNames(base, "embeddings");
    const std::string layers = joinNames(base, "layers"), norm = joinNames(base, "layernorm");
    const bool masked = endsIn(cls, "ForMaskedImageModeling");
    a.rootType = cls;
    if (!base.empty()) a.module(base, "ViTModel");
    a.module(embeddings, "ViTEmbeddings");
    a.parameter(embeddings, "cls_token", {1, 1, h});
    if (masked) a.parameter(embeddings, "mask_token", {1, 1, h});
    a.parameter(embeddings, "position_embeddings", {1, v.patches + 1, h});
    a.module(embeddings + ".patch_embeddings", "ViTPatchEmbeddings");
    a.convolution(embeddings + ".patch_embeddings.projection", {h, v.channels, v.patch, v.patch}, true, "Conv2d");
    a.module(layers, "ModuleList");
    for (std::int64_t i = 0; i < v.layers; ++i) {
        const std::string at = fmt::format("{}.{}", layers, i);
        a.module(at, "ViTLayer");
        addAttention(a, v, at + ".attention", "ViTAttention");
        a.layerNorm(at + ".layernorm_before", {h}, v.epsilon);
        a.layerNorm(at + ".layernorm_after", {h}, v.epsilon);
        a.module(at + ".mlp", "ViTMLP");
        a.linear(at + ".mlp.fc1", h, v.inner);
        a.linear(at + ".mlp.fc2", v.inner, h);
    }
    a.layerNorm(norm, {h}, v.epsilon);

    a.layer(embeddings, LayerKind::Embedding, embeddings, "ViTEmbeddings", [v, masked](LayerWriter& w, TensorId) {
        TensorId x = embedImages(w, v, "patch_embeddings.projection", true);
        if (masked) x = w.pass("where", {x, w.parameter("", "mask_token")}, w.b.shapeOf(x));
        x = w.b.concatToken(w.parameter("", "cls_token"), x);
        return w.b.addBroadcast(x, w.parameter("", "position_embeddings"));
    });
    std::vector<Sublayer> sublayers(2);
    sublayers[0].pre = "layernorm_before";
    sublayers[0].branch = [parts = apartProjections("attention", v.heads, v.width, false, "o_proj")](
                              LayerWriter& w, TensorId x) { return attend(w, parts, x); };
    sublayers[1].pre = "layernorm_after";
    sublayers[1].branch = [parts = mlpOf(v.activation)](LayerWriter& w, TensorId x) {
        return feedForward(w, parts, x);
    };
    addBlocks(a, layers, v.layers, "encoder layer", "ViTLayer",
              [sublayers](LayerWriter& w, TensorId x) { return runBlock(w, sublayers, false, x); });
    a.layer(norm, LayerKind::Norm, norm, "LayerNorm", kApplySelf);
    if (masked) {
        a.module("decoder", "Sequential");
        a.convolution("decoder.0", {pixels, h, 1, 1}, true, "Conv2d");
        a.caveats.push_back("the loss over masked pixels is not modelled: the mean of the pixels stands in");
        a.layer("decoder", LayerKind::Head, "decoder", "Sequential", [v](LayerWriter& w, TensorId x) {
            return w.convolve("0", w.b.contiguous(w.b.slice(x, 1, 1, v.patches)), v.patches);
        });
        a.layer("loss", LayerKind::Loss, "", "", [](LayerWriter& w, TensorId x) { return w.pass("mean", {x}, {}); });
    } else if (base.empty()) {
        a.module("pooler", "ViTPooler");
        a.linear("pooler.dense", h, h);
        a.layer("pooler", LayerKind::Head, "pooler", "ViTPooler",
                [](LayerWriter& w, TensorId x) { return w.activation("tanh", w.apply("dense", w.tokenOf(x, 0))); });
        addMeanLoss(a, request);
    } else {
        a.linear("classifier", h, v.labels);
        a.layer("classifier", LayerKind::Head, "classifier", "Linear",
                [](LayerWriter& w, TensorId x) { return w.apply("", w.tokenOf(x, 0)); });
        addRowLoss(a);
    }
}

void describeDinov2(Architecture& a, ConfigKeys& keys, HfRequest& request) {
    Image v = read(keys, 14);
    v.epsilon = keys.epsilon("layer_norm_eps", 1e-6);
    const std::int64_t ratio = keys.size("mlp_ratio", 4);
    const bool gated = keys.flag("use_swiglu_ffn", false), maskToken = keys.flag("use_mask_token", true);
    v.inner = keys.times("hidden_size times mlp_ratio", v.hidden, ratio);
    if (gated) v.inner = (v.inner * 2 / 3 + 7) / 8 * 8;
    onlyClasses(keys, request.cls, {"ForImageClassification", "Model"});
    if (keys.error()) return;
    sayUnrecorded(a, request);
    settleImages(a);

    const std::int64_t h = v.hidden;
    const std::string base = endsIn(request.cls, "Model") ? "" : "dinov2", embeddings = joinNames(base, "embeddings");
    const std::string encoder = joinNames(base, "encoder"), layers = encoder + ".layer";
    const std::string norm = joinNames(base, "layernorm");
    a.rootType = request.cls;
    if (!base.empty()) a.module(base, "Dinov2Model");
    a.module(embeddings, "Dinov2Embeddings");
    a.parameter(embeddings, "cls_token", {1, 1, h});
    if (maskToken) a.parameter(embeddings, "mask_token", {1, h});
    a.parameter(embeddings, "position_embeddings", {1, v.patches + 1, h});
    a.module(embeddings + ".patch_embeddings", "Dinov2PatchEmbeddings");
    a.convolution(embeddings + ".patch_embeddings.projection", {h, v.channels, v.patch, v.patch}, true, "Conv2d");
    a.module(encoder, "Dinov2Encoder");
    a.module(layers, "ModuleList");
    const auto scale = [&](const std::string& name) {
        ModuleEntry& entry = a.module(name, "Dinov2LayerScale");
        entry.work = ModuleWork::Scale;
        entry.parameters.push_back({"lambda1", {h}, {}});
    };
    for (std::int64_t i = 0; i < v.layers; ++i) {
        const std::string at = fmt::format("{}.{}", layers, i);
        a.module(at, "Dinov2Layer");
        a.layerNorm(at + ".norm1", {h}, v.epsilon);
        addAttention(a, v, at + ".attention", "Dinov2Attention");
        scale(at + ".layer_scale1");
        a.layerNorm(at + ".norm2", {h}, v.epsilon);
        a.module(at + ".mlp", gated ? "Dinov2SwiGLUFFN" : "Dinov2MLP");
        if (gated) {
            a.linear(at + ".mlp.gate_proj", h, v.inner);
            a.linear(at + ".mlp.up_proj", h, v.inner);
            a.linear(at + ".mlp.down_proj", v.inner, h);
        } else {
            a.linear(at + ".mlp.fc1", h, v.inner);
            a.linear(at + ".mlp.fc2", v.inner, h);
        }
        scale(at + ".layer_scale2");
    }
    a.layerNorm(norm, {h}, v.epsilon);

    a.layer(embeddings, LayerKind::Embedding, embeddings, "Dinov2Embeddings", [v](LayerWriter& w, TensorId) {
        TensorId x = embedImages(w, v, "patch_embeddings.projection", true);
        x = w.b.concatToken(w.parameter("", "cls_token"), x);
        return w.b.addBroadcast(x, w.parameter("", "position_embeddings"));
    });
    MlpParts mlp = mlpOf(v.activation);
    if (gated) {
        mlp.gate = "mlp.gate_proj";
        mlp.up = "mlp.up_proj";
        mlp.down = "mlp.down_proj";
        mlp.activation = "silu";
    }
    std::vector<Sublayer> sublayers(2);
    sublayers[0].pre = "norm1";
    sublayers[0].branch = [parts = apartProjections("attention", v.heads, v.width, false, "o_proj")](
                              LayerWriter& w, TensorId x) { return attend(w, parts, x); };
    sublayers[0].scale = "layer_scale1";
    sublayers[1].pre = "norm2";
    sublayers[1].branch = [mlp](LayerWriter& w, TensorId x) { return feedForward(w, mlp, x); };
    sublayers[1].scale = "layer_scale2";
    addBlocks(a, layers, v.layers, "encoder layer", "Dinov2Layer",
              [sublayers](LayerWriter& w, TensorId x) { return runBlock(w, sublayers, false, x); });
    a.layer(norm, LayerKind::Norm, norm, "LayerNorm", kApplySelf);
    if (base.empty()) return addMeanLoss(a, request);
    a.linear("classifier", 2 * h, v.labels);
    a.layer("classifier", LayerKind::Head, "classifier", "Linear", [h](LayerWriter& w, TensorId x) {
        return w.apply("", w.pass("cat", {x}, {w.workload.batch, 2 * h}));  // the class token and the patches' mean
    });
    addRowLoss(a);
}

void describeSwin(Architecture& a, ConfigKeys& keys, HfRequest& request) {
    const std::int64_t side = keys.side("image_size", 224), patch = keys.side("patch_size", 4);
    const std::int64_t channels = keys.size("num_channels", 3), width = keys.size("embed_dim", 96);
    const std::vector<std::int64_t> depths = keys.sizes("depths", {2, 2, 6, 2});
    const std::vector<std::int64_t> heads = keys.sizes("num_heads", {3, 6, 12, 24});
    const std::int64_t window = keys.size("window_size", 7), labels = labelsOf(keys);
    const double ratio = keys.number("mlp_ratio", 4, 0.01, 1000), epsilon = keys.epsilon("layer_norm_eps", 1e-5);
    const bool qkvBias = keys.flag("qkv_bias", true), absolute = keys.flag("use_absolute_embeddings", false);
    const std::string activation = keys.activation("hidden_act", "gelu");
    if (depths.empty() || depths.size() > 16 || heads.size() < depths.size())
        keys.refuse(
            heads.size() < depths.size() ? "num_heads" : "depths",
            fmt::format("found {} stages and heads for {}, expected as many, at most 16", depths.size(), heads.size()));
    const std::int64_t row = side / patch;
    if (row < 1) keys.refuse("patch_size", fmt::format("found {}, expected at most image_size {}", patch, side));
    std::int64_t blocks = 0;
    for (const std::int64_t depth : depths) blocks += std::min(depth, kMostLayers + 1);
    if (blocks > kMostLayers)
        keys.refuse("depths", fmt::format("found {} blocks, expected at most {}", blocks, kMostLayers));
    std::int64_t channelsOf = width;
    for (std::size_t i = 0; i < depths.size() && !keys.error(); ++i) {
        keys.quotient("num_heads", "the width of a stage,", channelsOf, heads[i]);
        if (i + 1 < depths.size()) channelsOf = keys.times("the width of a stage", 2, channelsOf);
    }
    keys.times("the window's positions", 2 * window, 2 * window);
    const std::int64_t rows = keys.times("the number of patches", row, row);
    onlyClasses(keys, request.cls, {"ForImageClassification"});
    if (keys.error()) return;
    sayUnrecorded(a, request);
    settleImages(a);
    a.caveats.push_back("windows that the image does not fill are counted as full, shifts as no work");

    const std::string base = "swin", embeddings = "swin.embeddings", projection = "patch_embeddings.projection";
    a.module(base, "SwinModel");
    a.module(embeddings, "SwinEmbeddings");
    if (absolute) a.parameter(embeddings, "position_embeddings", {1, rows, width});
    a.module(embeddings + ".patch_embeddings", "SwinPatchEmbeddings");
    a.convolution(embeddings + "." + projection, {width, channels, patch, patch}, true, "Conv2d");
    a.layerNorm(embeddings + ".norm", {width}, epsilon);
    a.module("swin.encoder", "SwinEncoder");
    a.module("swin.encoder.layers", "ModuleList");
    const auto stageName = [](std::size_t i) { return fmt::format("swin.encoder.layers.{}", i); };
    std::int64_t h = width;
    for (std::size_t i = 0; i < depths.size(); ++i) {
        a.module(stageName(i), "SwinStage");
        a.module(stageName(i) + ".blocks", "ModuleList");
        const auto inner = static_cast<std::int64_t>(ratio * static_cast<double>(h));
        for (std::int64_t j = 0; j < depths[i]; ++j) {
            const std::string at = fmt::format("{}.blocks.{}", stageName(i), j), attention = at + ".attention";
            a.module(at, "SwinLayer");
            a.module(attention, "SwinAttention");
            for (const char* name : {"q_proj", "k_proj", "v_proj", "o_proj"})
                a.linear(fmt::format("{}.{}", attention, name), h, h, qkvBias || name[0] == 'o');
            a.module(attention + ".relative_position_bias", "SwinRelativePositionBias");
            a.parameter(attention + ".relative_position_bias", "relative_position_bias_table",
                        {(2 * window - 1) * (2 * window - 1), heads[i]});
            a.layerNorm(at + ".layernorm_before", {h}, epsilon);
            a.layerNorm(at + ".layernorm_after", {h}, epsilon);
            a.module(at + ".mlp", "SwinMLP");
            a.linear(at + ".mlp.fc1", h, inner);
            a.linear(at + ".mlp.fc2", inner, h);
        }
        if (i + 1 == depths.size()) break;
        a.module(stageName(i) + ".downsample", "SwinPatchMerging");
        a.linear(stageName(i) + ".downsample.reduction", 4 * h, 2 * h, false);
        a.layerNorm(stageName(i) + ".downsample.norm", {4 * h}, epsilon);
        h *= 2;
    }
    a.layerNorm("swin.layernorm", {h}, epsilon);
    a.linear("classifier", h, labels);

    Image v;
    v.side = side;
    v.patch = patch;
    v.channels = channels;
    v.patches = rows;
    a.layer(embeddings, LayerKind::Embedding, embeddings, "SwinEmbeddings", [v, absolute](LayerWriter& w, TensorId) {
        TensorId x = w.apply("norm", embedImages(w, v, "patch_embeddings.projection", true));
        return absolute ? w.b.addBroadcast(x, w.parameter("", "position_embeddings")) : x;
    });
    std::int64_t stageRow = row, stageWidth = width;
    for (std::size_t i = 0; i < depths.size(); ++i) {
        const bool merges = i + 1 < depths.size();
        const std::int64_t tile = std::min(window, stageRow), tiles = (stageRow + tile - 1) / tile;
        const auto stage = [=, depth = depths[i], stageHeads = heads[i]](LayerWriter& w, TensorId x) {
            const std::int64_t batch = w.workload.batch, tokens = stageRow * stageRow, inside = tile * tile;
            for (std::int64_t j = 0; j < depth; ++j) {
                const std::string at = fmt::format("blocks.{}.", j), self = at + "attention";
                AttentionParts parts = apartProjections(self, stageHeads, stageWidth / stageHeads, false, "o_proj");
                parts.scores = [self, stageHeads, inside](LayerWriter& v2, TensorId, TensorId) {
                    const std::string bias = self + ".relative_position_bias";
                    auto scope = v2.in(bias);
                    const TensorId table = v2.parameter(bias, "relative_position_bias_table");
                    return std::vector{v2.pass("index", {table}, {1, stageHeads, inside, inside})};
                };
                MlpParts mlp = mlpOf(activation);
                mlp.module = at + mlp.module;
                mlp.up = at + mlp.up;
                mlp.down = at + mlp.down;
                std::vector<Sublayer> sublayers(2);
                sublayers[0].pre = at + "layernorm_before";
                sublayers[0].branch = [=](LayerWriter& v2, TensorId y) {
                    const TensorId apart =
                        v2.pass("window_partition", {y}, {batch * tiles * tiles, inside, stageWidth});
                    return v2.pass("window_reverse", {attend(v2, parts, apart)}, {batch, tokens, stageWidth});
                };
                sublayers[1].pre = at + "layernorm_after";
                sublayers[1].branch = [mlp](LayerWriter& v2, TensorId y) { return feedForward(v2, mlp, y); };
                x = runBlock(w, sublayers, false, x);
            }
            if (!merges) return x;
            const std::int64_t half = (stageRow + 1) / 2;
            const TensorId merged = w.pass("cat", {x}, {batch, half * half, 4 * stageWidth});
            return w.apply("downsample.reduction", w.apply("downsample.norm", merged));
        };
        a.layer(stageName(i), LayerKind::Block, stageName(i), "SwinStage", stage);
        stageRow = merges ? (stageRow + 1) / 2 : stageRow;
        stageWidth = merges ? 2 * stageWidth : stageWidth;
    }
    a.layer("swin.layernorm", LayerKind::Norm, "swin.layernorm", "LayerNorm", kApplySelf);
    a.layer("classifier", LayerKind::Head, "classifier", "Linear", [h](LayerWriter& w, TensorId x) {
        return w.apply("", w.pass("mean", {x}, {w.workload.batch, h}));
    });
    addRowLoss(a);
}

}  // namespace shardscope::core
