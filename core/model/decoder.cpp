#include "core/model/decoder.h"

#include <fmt/format.h>

#include <utility>

#include "core/model/hf/decoder_values.h"
#include "core/model/hf/families.h"
#include "core/model/hf_config.h"
#include "core/model/size_check.h"

namespace shardscope::core {

Result<Model> buildDecoder(const DecoderSpec& asRead, const Workload& given) {
    DecoderSpec spec = asRead;
    spec.dropout = spec.dropout.under(given.dropout);
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
    Architecture a;
    a.rootType = gpt2 ? "GPT2LMHeadModel" : classOf(valuesOf(spec), "ForCausalLM");
    a.tokensPerSample = workload.sequence;
    if (spec.slidingWindow > 0 && workload.sequence > spec.slidingWindow)
        a.caveats.push_back(fmt::format(
            "attention is counted over the whole sequence of {} tokens; the model's window of {} is not taken off",
            workload.sequence, spec.slidingWindow));
    if (!gpt2 && workload.sequence > spec.positions)
        a.caveats.push_back(fmt::format("sequences of {} tokens are longer than the {} that the model was made for",
                                        workload.sequence, spec.positions));
    if (gpt2) {
        addGpt2(a, spec, spec.fusedGelu ? "gelu_pytorch_tanh" : "gelu_new", false);
    } else {
        addDecoderBody(a, valuesOf(spec), "model");
        addLanguageHead(a, "lm_head", spec.hidden, spec.vocab, spec.tiedEmbeddings ? "model.embed_tokens.weight" : "");
    }
    return std::move(a).build(spec.name, spec.modelType, workload);
}

}  // namespace shardscope::core
