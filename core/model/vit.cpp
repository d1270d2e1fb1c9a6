#include "core/model/vit.h"

#include <algorithm>
#include <array>
#include <string>
#include <utility>

#include "core/model/model_builder.h"
#include "core/model/program_builder.h"
#include "core/model/size_check.h"

namespace shardscope::core {
namespace {

constexpr double kEpsilon = 1e-6;  // framework semantics 8.1

struct Sizes {
    std::int64_t batch, tokens, patches, hidden, heads, width, mlp;
};

// torchvision's `dropout` and `attention_dropout`, both 0 by default.
bool drops(const Workload& workload) {
    return workload.dropout == Workload::Dropout::On;
}

TensorId dropout(ProgramBuilder& b, const std::string& name, TensorId x, const Workload& workload) {
    if (!drops(workload)) return x;
    auto scope = b.in(name, "Dropout");
    return b.dropout(x);
}

// MultiheadAttention with batch_first: it works on [S, B, h], projects with one packed weight and copies the result so
// that q, k and v lie one after another.
TensorId selfAttention(ProgramBuilder& b, TensorId x, const Sizes& s, const Workload& workload) {
    auto scope = b.in("self_attention", "MultiheadAttention");
    const TensorId inWeight = b.parameter("self_attention.in_proj_weight", {3 * s.hidden, s.hidden});
    const TensorId inBias = b.parameter("self_attention.in_proj_bias", {3 * s.hidden});
    const TensorId outWeight = b.parameter("self_attention.out_proj.weight", {s.hidden, s.hidden});
    const TensorId outBias = b.parameter("self_attention.out_proj.bias", {s.hidden});

    const TensorId projected = b.linear(b.transpose(x, 0, 1), inWeight, inBias);  // [S, B, 3h]
    const TensorId apart = b.permute(b.reshape(projected, {s.tokens, s.batch, 3, s.hidden}), {2, 0, 1, 3});
    const TensorId packed = b.contiguous(apart);  // [3, S, B, h]
    std::array<TensorId, 3> qkv;
    for (std::size_t i = 0; i < 3; ++i) {
        const TensorId part = b.select(packed, 0, static_cast<std::int64_t>(i));
        const TensorId byHead = b.reshape(part, {s.tokens, s.batch, s.heads, s.width});
        qkv[i] = b.permute(byHead, {1, 2, 0, 3});  // [B, heads, S, d]
    }
    const TensorId context = b.attention(qkv[0], qkv[1], qkv[2], false, workload.attention, true, drops(workload));
    const TensorId joined = b.reshape(b.permute(context, {2, 0, 1, 3}), {s.tokens * s.batch, s.hidden});
    const TensorId out = b.linear(joined, outWeight, outBias);
    return b.transpose(b.reshape(out, {s.tokens, s.batch, s.hidden}), 0, 1);
}

TensorId norm(ProgramBuilder& b, const std::string& name, TensorId x, std::int64_t hidden) {
    auto scope = b.in(name, "LayerNorm");
    return b.layerNorm(x, b.parameter(name + ".weight", {hidden}), b.parameter(name + ".bias", {hidden}), kEpsilon);
}

TensorId linear(ProgramBuilder& b, const std::string& name, TensorId x, std::int64_t in, std::int64_t out) {
    auto scope = b.in(name, "Linear");
    return b.linear(x, b.parameter(name + ".weight", {out, in}), b.parameter(name + ".bias", {out}));
}

Result<Program> embeddingProgram(const VitSpec& spec, const Sizes& s, const Workload& workload) {
    ProgramBuilder b("embedding", "VisionTransformer", workload);
    const TensorId images = b.batch(0, {s.batch, spec.channels, spec.imageSize, spec.imageSize}, b.dtype());
    TensorId x;
    {
        auto scope = b.in("conv_proj", "Conv2d");
        x = b.patchEmbed(images,
                         b.parameter("conv_proj.weight", {s.hidden, spec.channels, spec.patchSize, spec.patchSize}),
                         b.parameter("conv_proj.bias", {s.hidden}));
    }
    x = b.concatToken(b.parameter("class_token", {1, 1, s.hidden}), x);
    {
        auto scope = b.in("encoder", "Encoder");
        x = b.addBroadcast(x, b.parameter("encoder.pos_embedding", {1, s.tokens, s.hidden}));
    }
    return b.finish(dropout(b, "encoder.dropout", x, workload));
}

Result<Program> blockProgram(const Sizes& s, const Workload& workload) {
    ProgramBuilder b("encoder block", "EncoderBlock", workload);
    const TensorId x = b.input({s.batch, s.tokens, s.hidden});
    const TensorId attended = selfAttention(b, norm(b, "ln_1", x, s.hidden), s, workload);
    const TensorId middle = b.add(x, dropout(b, "dropout", attended, workload));
    TensorId y = linear(b, "mlp.0", norm(b, "ln_2", middle, s.hidden), s.hidden, s.mlp);
    {
        auto scope = b.in("mlp.1", "GELU");
        y = b.gelu(y);
    }
    y = linear(b, "mlp.3", dropout(b, "mlp.2", y, workload), s.mlp, s.hidden);
    return b.finish(b.add(middle, dropout(b, "mlp.4", y, workload)));
}

Result<Program> normProgram(const Sizes& s, const Workload& workload) {
    ProgramBuilder b("final norm", "LayerNorm", workload);
    const TensorId x = b.input({s.batch, s.tokens, s.hidden});
    return b.finish(b.layerNorm(x, b.parameter("weight", {s.hidden}), b.parameter("bias", {s.hidden}), kEpsilon));
}

Result<Program> headProgram(const VitSpec& spec, const Sizes& s, const Workload& workload) {
    ProgramBuilder b("head", "VisionTransformer", workload);
    const TensorId x = b.select(b.input({s.batch, s.tokens, s.hidden}), 1, 0);
    return b.finish(linear(b, "heads.head", x, s.hidden, spec.classes));
}

Result<Program> lossProgram(const VitSpec& spec, const Sizes& s, const Workload& workload) {
    ProgramBuilder b("loss", "", workload);
    const TensorId logits = b.input({s.batch, spec.classes}, workload.dtype);
    return b.finish(b.crossEntropy(logits, b.batch(1, {s.batch}, DType::I64)));
}

// The modules in torchvision's registration order; those without parameters stand in it too.
void addModules(ModelBuilder& m, const VitSpec& spec, const Sizes& s) {
    const auto withBias = [&m](const std::string& name, const char* type, Shape weight) {
        const ModuleId id = m.module(name, type);
        const std::int64_t rows = weight.front();
        m.parameter(id, "weight", std::move(weight));
        m.parameter(id, "bias", {rows});
    };
    withBias("conv_proj", "Conv2d", {s.hidden, spec.channels, spec.patchSize, spec.patchSize});
    m.parameter(ModuleId(std::size_t{0}), "class_token", {1, 1, s.hidden});
    const ModuleId encoder = m.module("encoder", "Encoder");
    m.parameter(encoder, "pos_embedding", {1, s.tokens, s.hidden});
    m.module("encoder.dropout", "Dropout");
    m.module("encoder.layers", "Sequential");
    for (std::int64_t i = 0; i < spec.layers; ++i) {
        const std::string block = "encoder.layers.encoder_layer_" + std::to_string(i);
        m.module(block, "EncoderBlock");
        withBias(block + ".ln_1", "LayerNorm", {s.hidden});
        const ModuleId attention = m.module(block + ".self_attention", "MultiheadAttention");
        m.parameter(attention, "in_proj_weight", {3 * s.hidden, s.hidden});
        m.parameter(attention, "in_proj_bias", {3 * s.hidden});
        withBias(block + ".self_attention.out_proj", "NonDynamicallyQuantizableLinear", {s.hidden, s.hidden});
        m.module(block + ".dropout", "Dropout");
        withBias(block + ".ln_2", "LayerNorm", {s.hidden});
        m.module(block + ".mlp", "MLPBlock");
        withBias(block + ".mlp.0", "Linear", {s.mlp, s.hidden});
        m.module(block + ".mlp.1", "GELU");
        m.module(block + ".mlp.2", "Dropout");
        withBias(block + ".mlp.3", "Linear", {s.hidden, s.mlp});
        m.module(block + ".mlp.4", "Dropout");
    }
    withBias("encoder.ln", "LayerNorm", {s.hidden});
    m.module("heads", "Sequential");
    withBias("heads.head", "Linear", {spec.classes, s.hidden});
}

Result<Sizes> sizesOf(const VitSpec& spec, const Workload& workload) {
    SHARDSCOPE_TRY(checkWorkload(workload));
    SHARDSCOPE_TRY(checkSizes("model " + spec.name, {{"image size", spec.imageSize},
                                                     {"patch size", spec.patchSize},
                                                     {"channels", spec.channels},
                                                     {"classes", spec.classes},
                                                     {"layers", spec.layers},
                                                     {"heads", spec.heads},
                                                     {"hidden size", spec.hidden},
                                                     {"mlp size", spec.mlp}}));
    const std::string where = "model " + spec.name;
    SHARDSCOPE_TRY(checkLayers(where, "layers", spec.layers));
    if (spec.imageSize % spec.patchSize != 0)
        return fail(ErrorCode::Input,
                    "image size " + std::to_string(spec.imageSize) + " is no multiple of the patch size " +
                        std::to_string(spec.patchSize),
                    where, "choose a patch size that divides the image");
    if (spec.hidden % spec.heads != 0)
        return fail(ErrorCode::Input,
                    std::to_string(spec.heads) + " heads do not divide the hidden size " + std::to_string(spec.hidden),
                    where, "choose a number of heads that divides it");
    const std::int64_t side = spec.imageSize / spec.patchSize;
    // A grid beyond this has more patches than kLargestSize; tensors are checked when they are made.
    if (side > (std::int64_t{1} << 20))
        return fail(ErrorCode::Input,
                    "the image has " + std::to_string(side) + " patches a side, expected at most 2^20", where);
    // The widest tensors of a layer; the products below stay far from overflow then.
    const double widest = static_cast<double>(workload.batch) *
                          (static_cast<double>(side) * static_cast<double>(side) + 1) *
                          static_cast<double>(std::max({3 * spec.hidden, spec.mlp, spec.channels}));
    const double images = static_cast<double>(workload.batch) * static_cast<double>(spec.channels) *
                          static_cast<double>(spec.imageSize) * static_cast<double>(spec.imageSize);
    if (std::max(widest, images) > 1e17)
        return fail(ErrorCode::Input, "the layers' tensors would exceed 2^62 bytes", where, "use a smaller batch");
    Sizes s{};
    s.batch = workload.batch;
    s.patches = side * side;
    s.tokens = s.patches + 1;
    s.hidden = spec.hidden;
    s.heads = spec.heads;
    s.width = spec.hidden / spec.heads;
    s.mlp = spec.mlp;
    return s;
}

// The first four: torchvision's; channels and classes as in framework semantics 8.1, which gives their totals.
const std::array<VitSpec, 9> kNamed{{
    {"vit_b_16", 224, 16, 3, 1000, 12, 12, 768, 3072},
    {"vit_b_32", 224, 32, 3, 1000, 12, 12, 768, 3072},
    {"vit_l_16", 224, 16, 3, 1000, 24, 16, 1024, 4096},
    {"vit_l_32", 224, 32, 3, 1000, 24, 16, 1024, 4096},
    {"vit_h_14", 224, 14, 3, 1000, 32, 16, 1280, 5120},
    {"vit_b_16_1ch10", 224, 16, 1, 10, 12, 12, 768, 3072},  // grey images, ten classes
    {"vit_tutorial", 28, 7, 1, 10, 10, 2, 128, 128},        // framework semantics 8.3
    {"vit_tutorial_12", 28, 7, 1, 10, 12, 2, 128, 128},     // the same with ViT-B's depth
    {"vit_tiny", 28, 7, 1, 10, 2, 4, 32, 64},
}};

}  // namespace

std::vector<std::string_view> vitNames() {
    std::vector<std::string_view> names;
    for (const VitSpec& spec : kNamed) names.push_back(spec.name);
    return names;
}

std::optional<VitSpec> namedVit(std::string_view name) {
    for (const VitSpec& spec : kNamed)
        if (spec.name == name) return spec;
    return std::nullopt;
}

Result<Model> buildVit(const VitSpec& spec, const Workload& workload) {
    SHARDSCOPE_ASSIGN(const Sizes sizes, sizesOf(spec, workload));
    SHARDSCOPE_ASSIGN(Program embedding, embeddingProgram(spec, sizes, workload));
    SHARDSCOPE_ASSIGN(Program block, blockProgram(sizes, workload));
    SHARDSCOPE_ASSIGN(Program finalNorm, normProgram(sizes, workload));
    SHARDSCOPE_ASSIGN(Program head, headProgram(spec, sizes, workload));
    SHARDSCOPE_ASSIGN(Program loss, lossProgram(spec, sizes, workload));

    ModelBuilder m(spec.name, "vit", "VisionTransformer", workload);
    m.model().sampleWord = "image";
    addModules(m, spec, sizes);
    m.layer("embedding", LayerKind::Embedding, "", m.program(std::move(embedding)));
    const ProgramId blockId = m.program(std::move(block));
    for (std::int64_t i = 0; i < spec.layers; ++i) {
        const std::string name = "encoder.layers.encoder_layer_" + std::to_string(i);
        m.layer(name, LayerKind::Block, name, blockId);
    }
    m.layer("encoder.ln", LayerKind::Norm, "encoder.ln", m.program(std::move(finalNorm)));
    m.layer("heads.head", LayerKind::Head, "", m.program(std::move(head)));
    m.layer("loss", LayerKind::Loss, "", m.program(std::move(loss)));
    return m.finish();
}

}  // namespace shardscope::core
