// GPT-2: learnt positions, LayerNorm, Conv1D weights stored [in, out], a fused query-key-value projection, gelu_new.

#include <string>

#include "core/model/decoder_ops.h"
#include "core/model/decoder_programs.h"

namespace shardscope::core {
namespace {

TensorId norm(ProgramBuilder& b, const DecoderSpec& spec, const std::string& prefix, TensorId x) {
    const TensorId weight = b.parameter(prefix + "weight", {spec.hidden});
    return b.layerNorm(x, weight, b.parameter(prefix + "bias", {spec.hidden}), spec.normEpsilon);
}

TensorId conv1d(ProgramBuilder& b, const std::string& name, TensorId x, std::int64_t in, std::int64_t out) {
    auto scope = b.in(name, "Conv1D");
    const TensorId weight = b.parameter(name + ".weight", {in, out});
    return b.conv1d(x, weight, b.parameter(name + ".bias", {out}));
}

TensorId selfAttention(ProgramBuilder& b, const DecoderSpec& spec, const Workload& workload, TensorId x) {
    auto scope = b.in("attn", "GPT2Attention");
    const std::int64_t batch = workload.batch, sequence = workload.sequence, hidden = spec.hidden;
    const TensorId packed = conv1d(b, "attn.c_attn", x, hidden, 3 * hidden);
    std::vector<TensorId> parts = b.split(packed, 2, {hidden, hidden, hidden});
    for (TensorId& part : parts) part = b.transpose(b.reshape(part, {batch, sequence, spec.heads, spec.headDim}), 1, 2);
    return conv1d(b, "attn.c_proj", causalAttention(b, parts[0], parts[1], parts[2], workload), hidden, hidden);
}

TensorId mlp(ProgramBuilder& b, const DecoderSpec& spec, TensorId x) {
    auto scope = b.in("mlp", "GPT2MLP");
    TensorId y = conv1d(b, "mlp.c_fc", x, spec.hidden, spec.intermediate);
    {
        auto activation = b.in("mlp.act", "NewGELUActivation");
        y = geluNew(b, y);
    }
    return conv1d(b, "mlp.c_proj", y, spec.intermediate, spec.hidden);
}

Result<Program> embeddingProgram(const DecoderSpec& spec, const Workload& workload) {
    ProgramBuilder b("embedding", "GPT2Model", workload.dtype);
    const std::int64_t batch = workload.batch, sequence = workload.sequence;
    const TensorId ids = b.batch(0, {batch, sequence}, DType::I64);
    TensorId words;
    {
        auto scope = b.in("wte", "Embedding");
        words = b.embedding(ids, b.parameter("wte.weight", {spec.vocab, spec.hidden}));
    }
    const TensorId range = b.tensor("arange", {1, sequence}, DType::I64);
    b.emit(KernelKind::Elementwise, "arange", {}, {range});
    const TensorId places = b.tensor("add", {1, sequence}, DType::I64);
    b.emit(KernelKind::Elementwise, "add", {range}, {places});
    TensorId positions;
    {
        auto scope = b.in("wpe", "Embedding");
        positions = b.embedding(places, b.parameter("wpe.weight", {spec.positions, spec.hidden}));
    }
    return b.finish(batch == 1 ? b.add(words, positions) : b.addBroadcast(words, positions));
}

Result<Program> blockProgram(const DecoderSpec& spec, const Workload& workload) {
    ProgramBuilder b("decoder layer", "GPT2Block", workload.dtype);
    const TensorId x = b.input({workload.batch, workload.sequence, spec.hidden});
    const auto normed = [&](const std::string& name, TensorId of) {
        auto scope = b.in(name, "LayerNorm");
        return norm(b, spec, name + ".", of);
    };
    const TensorId middle = b.add(selfAttention(b, spec, workload, normed("ln_1", x)), x);
    return b.finish(b.add(middle, mlp(b, spec, normed("ln_2", middle))));
}

Result<Program> normProgram(const DecoderSpec& spec, const Workload& workload) {
    ProgramBuilder b("final norm", "LayerNorm", workload.dtype);
    return b.finish(norm(b, spec, "", b.input({workload.batch, workload.sequence, spec.hidden})));
}

}  // namespace

Result<DecoderPrograms> gpt2Programs(const DecoderSpec& spec, const Workload& workload) {
    DecoderPrograms programs;
    SHARDSCOPE_ASSIGN(programs.embedding, embeddingProgram(spec, workload));
    SHARDSCOPE_ASSIGN(programs.block, blockProgram(spec, workload));
    SHARDSCOPE_ASSIGN(programs.norm, normProgram(spec, workload));
    SHARDSCOPE_ASSIGN(programs.head, headProgram(spec, workload));
    SHARDSCOPE_ASSIGN(programs.loss, causalLossProgram(spec, workload));
    return programs;
}

void addGpt2Modules(ModelBuilder& builder, const DecoderSpec& spec) {
    const auto withBias = [&builder](const std::string& name, const char* type, Shape weight) {
        const ModuleId module = builder.module(name, type);
        const std::int64_t out = weight.back();
        builder.parameter(module, "weight", std::move(weight));
        builder.parameter(module, "bias", {out});
    };
    const std::int64_t h = spec.hidden;
    builder.module("transformer", "GPT2Model");
    const ParameterId table =
        builder.parameter(builder.module("transformer.wte", "Embedding"), "weight", {spec.vocab, h});
    builder.parameter(builder.module("transformer.wpe", "Embedding"), "weight", {spec.positions, h});
    builder.module("transformer.h", "ModuleList");
    for (std::int64_t i = 0; i < spec.layers; ++i) {
        const std::string block = "transformer.h." + std::to_string(i);
        builder.module(block, "GPT2Block");
        withBias(block + ".ln_1", "LayerNorm", {h});
        builder.module(block + ".attn", "GPT2Attention");
        withBias(block + ".attn.c_attn", "Conv1D", {h, 3 * h});
        withBias(block + ".attn.c_proj", "Conv1D", {h, h});
        withBias(block + ".ln_2", "LayerNorm", {h});
        builder.module(block + ".mlp", "GPT2MLP");
        withBias(block + ".mlp.c_fc", "Conv1D", {h, spec.intermediate});
        withBias(block + ".mlp.c_proj", "Conv1D", {spec.intermediate, h});
        builder.module(block + ".mlp.act", "NewGELUActivation");
    }
    withBias("transformer.ln_f", "LayerNorm", {h});
    const ModuleId head = builder.module("lm_head", "Linear");
    if (spec.tiedEmbeddings)
        builder.tie(head, "weight", table);
    else
        builder.parameter(head, "weight", {spec.vocab, h});
}

}  // namespace shardscope::core
