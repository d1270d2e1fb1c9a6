#pragma once

// The programs of a decoder's layers, and the module tree that their names are found in. One file a family.

#include "core/base/result.h"
#include "core/model/model_builder.h"
#include "core/model/program.h"
#include "core/model/spec.h"

namespace shardscope::core {

/// What a decoder is made of: one program for all blocks. Names of modules and parameters are relative to the layer's
/// module.
struct DecoderPrograms {
    Program embedding, block, norm, head, loss;
};

[[nodiscard]] Result<DecoderPrograms> llamaPrograms(const DecoderSpec& spec, const Workload& workload);
[[nodiscard]] Result<DecoderPrograms> gpt2Programs(const DecoderSpec& spec, const Workload& workload);

/// Adds modules and parameters in transformers' registration order.
void addLlamaModules(ModelBuilder& builder, const DecoderSpec& spec);
void addGpt2Modules(ModelBuilder& builder, const DecoderSpec& spec);

/// "LlamaDecoderLayer" for llama and "DecoderLayer".
[[nodiscard]] std::string className(const DecoderSpec& spec, std::string_view part);

/// What the two families have in common: `lm_head` and the loss.
[[nodiscard]] Result<Program> headProgram(const DecoderSpec& spec, const Workload& workload);
[[nodiscard]] Result<Program> causalLossProgram(const DecoderSpec& spec, const Workload& workload);

}  // namespace shardscope::core
