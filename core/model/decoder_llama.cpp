// The llama family: llama, mistral, qwen2 and qwen3 differ in biases and in the norms of queries and keys.

#include <string>

#include "core/model/decoder_ops.h"
#include "core/model/decoder_programs.h"

namespace shardscope::core {
namespace {

struct Projection {
    const char* name;
    std::int64_t in, out;
    bool bias;
};

struct BlockShapes {
    Projection query, key, value, output, gate, up, down;

    explicit BlockShapes(const DecoderSpec& s)
        : query{"q_proj", s.hidden, s.heads * s.headDim, s.attentionBias || s.qkvBias},
          key{"k_proj", s.hidden, s.kvHeads * s.headDim, s.attentionBias || s.qkvBias},
          value{"v_proj", s.hidden, s.kvHeads * s.headDim, s.attentionBias || s.qkvBias},
          output{"o_proj", s.heads * s.headDim, s.hidden, s.attentionBias},
          gate{"gate_proj", s.hidden, s.intermediate, s.mlpBias},
          up{"up_proj", s.hidden, s.intermediate, s.mlpBias},
          down{"down_proj", s.intermediate, s.hidden, s.mlpBias} {}
};

TensorId project(ProgramBuilder& b, const std::string& parent, const Projection& p, TensorId x) {
    const std::string name = parent + "." + p.name;
    auto scope = b.in(name, "Linear");
    const TensorId weight = b.parameter(name + ".weight", {p.out, p.in});
    return b.linear(x, weight, p.bias ? b.parameter(name + ".bias", {p.out}) : TensorId{});
}

TensorId norm(ProgramBuilder& b, const DecoderSpec& spec, const std::string& name, TensorId x, std::int64_t width) {
    auto scope = b.in(name, className(spec, "RMSNorm"));
    return rmsNorm(b, x, b.parameter(name + ".weight", {width}), spec.normEpsilon);
}

TensorId selfAttention(ProgramBuilder& b, const DecoderSpec& spec, const Workload& workload, const BlockShapes& shapes,
                       TensorId x) {
    const std::string self = "self_attn";
    auto scope = b.in(self, className(spec, "Attention"));
    const std::int64_t batch = workload.batch, sequence = workload.sequence, width = spec.headDim;
    // [B, S, heads * d] -> [B, heads, S, d]
    const auto byHead = [&](const Projection& p, std::int64_t heads, const char* normName) {
        TensorId y = b.reshape(project(b, self, p, x), {batch, sequence, heads, width});
        if (normName != nullptr && spec.qkNorm) y = norm(b, spec, self + "." + normName, y, width);
        return b.transpose(y, 1, 2);
    };
    TensorId query = byHead(shapes.query, spec.heads, "q_norm");
    TensorId key = byHead(shapes.key, spec.kvHeads, "k_norm");
    const TensorId value = byHead(shapes.value, spec.kvHeads, nullptr);
    const RotaryTables tables = rotaryTables(b, sequence, width);
    query = rotary(b, query, tables);
    key = rotary(b, key, tables);
    return project(b, self, shapes.output, causalAttention(b, query, key, value, workload));
}

TensorId mlp(ProgramBuilder& b, const DecoderSpec& spec, const BlockShapes& shapes, TensorId x) {
    auto scope = b.in("mlp", className(spec, "MLP"));
    TensorId gate = project(b, "mlp", shapes.gate, x);
    {
        auto activation = b.in("mlp.act_fn", "SiLUActivation");
        gate = silu(b, gate);
    }
    const TensorId up = project(b, "mlp", shapes.up, x);
    return project(b, "mlp", shapes.down, multiply(b, gate, up));
}

Result<Program> embeddingProgram(const DecoderSpec& spec, const Workload& workload) {
    ProgramBuilder b("embedding", className(spec, "Model"), workload.dtype);
    const TensorId ids = b.batch(0, {workload.batch, workload.sequence}, DType::I64);
    TensorId x;
    {
        auto scope = b.in("embed_tokens", "Embedding");
        x = b.embedding(ids, b.parameter("embed_tokens.weight", {spec.vocab, spec.hidden}));
    }
    {
        auto scope = b.in("rotary_emb", className(spec, "RotaryEmbedding"));
        makeRotaryTables(b, workload.sequence, spec.headDim);
    }
    return b.finish(x);
}

Result<Program> blockProgram(const DecoderSpec& spec, const Workload& workload) {
    ProgramBuilder b("decoder layer", className(spec, "DecoderLayer"), workload.dtype);
    const BlockShapes shapes(spec);
    const TensorId x = b.input({workload.batch, workload.sequence, spec.hidden});
    const TensorId attended =
        selfAttention(b, spec, workload, shapes, norm(b, spec, "input_layernorm", x, spec.hidden));
    const TensorId middle = b.add(x, attended);
    const TensorId y = mlp(b, spec, shapes, norm(b, spec, "post_attention_layernorm", middle, spec.hidden));
    return b.finish(b.add(middle, y));
}

Result<Program> normProgram(const DecoderSpec& spec, const Workload& workload) {
    ProgramBuilder b("final norm", className(spec, "RMSNorm"), workload.dtype);
    const TensorId x = b.input({workload.batch, workload.sequence, spec.hidden});
    return b.finish(rmsNorm(b, x, b.parameter("weight", {spec.hidden}), spec.normEpsilon));
}

}  // namespace

Result<DecoderPrograms> llamaPrograms(const DecoderSpec& spec, const Workload& workload) {
    DecoderPrograms programs;
    SHARDSCOPE_ASSIGN(programs.embedding, embeddingProgram(spec, workload));
    SHARDSCOPE_ASSIGN(programs.block, blockProgram(spec, workload));
    SHARDSCOPE_ASSIGN(programs.norm, normProgram(spec, workload));
    SHARDSCOPE_ASSIGN(programs.head, headProgram(spec, workload));
    SHARDSCOPE_ASSIGN(programs.loss, causalLossProgram(spec, workload));
    return programs;
}

void addLlamaModules(ModelBuilder& builder, const DecoderSpec& spec) {
    const BlockShapes shapes(spec);
    const std::string normType = className(spec, "RMSNorm");
    const auto projection = [&builder](const std::string& parent, const Projection& p) {
        const ModuleId module = builder.module(parent + "." + p.name, "Linear");
        builder.parameter(module, "weight", {p.out, p.in});
        if (p.bias) builder.parameter(module, "bias", {p.out});
    };
    const auto norm = [&](const std::string& name, std::int64_t width) {
        builder.parameter(builder.module(name, normType), "weight", {width});
    };
    builder.module("model", className(spec, "Model"));
    const ParameterId table =
        builder.parameter(builder.module("model.embed_tokens", "Embedding"), "weight", {spec.vocab, spec.hidden});
    builder.module("model.layers", "ModuleList");
    const std::string blockType = className(spec, "DecoderLayer");
    const std::string attentionType = className(spec, "Attention");
    const std::string mlpType = className(spec, "MLP");
    for (std::int64_t i = 0; i < spec.layers; ++i) {
        const std::string block = "model.layers." + std::to_string(i);
        builder.module(block, blockType);
        const std::string attention = block + ".self_attn";
        builder.module(attention, attentionType);
        for (const Projection* p : {&shapes.query, &shapes.key, &shapes.value, &shapes.output})
            projection(attention, *p);
        if (spec.qkNorm) {
            norm(attention + ".q_norm", spec.headDim);
            norm(attention + ".k_norm", spec.headDim);
        }
        const std::string mlp = block + ".mlp";
        builder.module(mlp, mlpType);
        for (const Projection* p : {&shapes.gate, &shapes.up, &shapes.down}) projection(mlp, *p);
        builder.module(mlp + ".act_fn", "SiLUActivation");
        norm(block + ".input_layernorm", spec.hidden);
        norm(block + ".post_attention_layernorm", spec.hidden);
    }
    norm("model.norm", spec.hidden);
    builder.module("model.rotary_emb", className(spec, "RotaryEmbedding"));
    const ModuleId head = builder.module("lm_head", "Linear");
    if (spec.tiedEmbeddings)
        builder.tie(head, "weight", table);
    else
        builder.parameter(head, "weight", {spec.vocab, spec.hidden});
}

}  // namespace shardscope::core
