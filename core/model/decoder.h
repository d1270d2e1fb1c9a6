#pragma once

// Decoders of the llama family and GPT-2 as transformers builds them: its module names, parameter shapes and
// registration order (framework semantics 9.3), and the kernels of its forward and backward passes (framework
// semantics 5.2, 5.3).
//
// Layers: the embedding (with the rotary tables or the position embedding), one block per decoder layer, all with one
// program, the final norm, `lm_head`, and the loss (transformers' causal loss: logits in fp32, labels shifted by one).

#include "core/base/result.h"
#include "core/model/spec.h"

namespace shardscope::core {

/// The workload's sequence length 0 means the spec's `positions`. Errors: sizes that `checkDecoder` refuses, a sequence
/// longer than GPT-2's position table, tensors or FLOPs beyond 2^62.
[[nodiscard]] Result<Model> buildDecoder(const DecoderSpec& spec, const Workload& workload);

}  // namespace shardscope::core
