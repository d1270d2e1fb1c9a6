#include "core/model/decoder.h"

#include <fmt/format.h>

#include <utility>

#include "core/model/decoder_ops.h"
#include "core/model/decoder_programs.h"
#include "core/model/hf_config.h"
#include "core/model/size_check.h"

namespace shardscope::core {

std::string className(const DecoderSpec& spec, std::string_view part) {
    const char* family = spec.modelType == "mistral" ? "Mistral"
                         : spec.modelType == "qwen2" ? "Qwen2"
                         : spec.modelType == "qwen3" ? "Qwen3"
                         : spec.modelType == "gpt2"  ? "GPT2"
                                                     : "Llama";
    return std::string(family) + std::string(part);
}

Result<Program> headProgram(const DecoderSpec& spec, const Workload& workload) {
    ProgramBuilder b("head", "Linear", workload.dtype);
    const TensorId x = b.input({workload.batch, workload.sequence, spec.hidden});
    return b.finish(b.linear(x, b.parameter("weight", {spec.vocab, spec.hidden})));
}

Result<Program> causalLossProgram(const DecoderSpec& spec, const Workload& workload) {
    ProgramBuilder b("loss", "", workload.dtype);
    const TensorId logits = b.input({workload.batch, workload.sequence, spec.vocab});
    return b.finish(causalLoss(b, logits, b.batch(1, {workload.batch, workload.sequence}, DType::I64)));
}

Result<Model> buildDecoder(const DecoderSpec& spec, const Workload& given) {
    SHARDSCOPE_TRY(checkDecoder(spec, spec.name));
    SHARDSCOPE_TRY(checkWorkload(given));
    Workload workload = given;
    if (workload.sequence == 0) workload.sequence = spec.positions;
    const bool gpt2 = spec.modelType == "gpt2";
    if (gpt2 && workload.sequence > spec.positions)
        return fail(ErrorCode::Input,
                    fmt::format("sequence length: found {}, expected at most n_positions {}", workload.sequence,
                                spec.positions),
                    spec.name, "the model has learnt no further positions; use shorter sequences");
    SHARDSCOPE_ASSIGN(DecoderPrograms programs, gpt2 ? gpt2Programs(spec, workload) : llamaPrograms(spec, workload));

    ModelBuilder builder(spec.name, spec.modelType, className(spec, gpt2 ? "LMHeadModel" : "ForCausalLM"), workload);
    Model& model = builder.model();
    model.sampleWord = "sequence";
    model.tokensPerSample = workload.sequence;
    if (spec.slidingWindow > 0 && workload.sequence > spec.slidingWindow)
        model.caveats.push_back(fmt::format(
            "attention is counted over the whole sequence of {} tokens; the model's window of {} is not taken off",
            workload.sequence, spec.slidingWindow));
    if (!gpt2 && workload.sequence > spec.positions)
        model.caveats.push_back(fmt::format("sequences of {} tokens are longer than the {} that the model was made for",
                                            workload.sequence, spec.positions));
    gpt2 ? addGpt2Modules(builder, spec) : addLlamaModules(builder, spec);
    const std::string body = gpt2 ? "transformer" : "model";
    const std::string blocks = body + (gpt2 ? ".h." : ".layers.");
    const std::string norm = body + (gpt2 ? ".ln_f" : ".norm");
    builder.layer(body + (gpt2 ? ".wte" : ".embed_tokens"), LayerKind::Embedding, body,
                  builder.program(std::move(programs.embedding)));
    const ProgramId block = builder.program(std::move(programs.block));
    for (std::int64_t i = 0; i < spec.layers; ++i) {
        const std::string name = blocks + std::to_string(i);
        builder.layer(name, LayerKind::Block, name, block);
    }
    builder.layer(norm, LayerKind::Norm, norm, builder.program(std::move(programs.norm)));
    builder.layer("lm_head", LayerKind::Head, "lm_head", builder.program(std::move(programs.head)));
    builder.layer("loss", LayerKind::Loss, "", builder.program(std::move(programs.loss)));
    return builder.finish();
}

}  // namespace shardscope::core
