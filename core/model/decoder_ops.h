#pragma once

// Operations of transformers' decoders that PyTorch runs as several kernels, in the order in which it runs them.

#include "core/model/program_builder.h"

namespace shardscope::core {

/// a * b of one shape; both differentiable.
TensorId multiply(ProgramBuilder& b, TensorId a, TensorId other);

/// x * sigmoid(x), one kernel each way; saves x.
TensorId silu(ProgramBuilder& b, TensorId x);

/// transformers' NewGELUActivation, 0.5 x (1 + tanh(sqrt(2/pi) (x + 0.044715 x^3))), eight kernels. Saves four tensors
/// of x's size (x, the tanh, and both factors of the last product).
TensorId geluNew(ProgramBuilder& b, TensorId x);

/// transformers' LlamaRMSNorm over the last dimension: in fp32, then cast back and scaled by `weight`. Saves the fp32
/// input (the input itself if that is fp32), a fp32 number a row, and the normalised input.
TensorId rmsNorm(ProgramBuilder& b, TensorId x, TensorId weight, double epsilon);

/// torch.nn.RMSNorm where it is not one kernel (on a CPU): scaled in fp32, the result cast back.
TensorId composedRmsNorm(ProgramBuilder& b, TensorId x, TensorId weight, double epsilon);

/// Cosines and sines of the rotary embedding, [1, sequence, headDim] each, made once a step.
struct RotaryTables {
    TensorId cosine, sine;
};
/// Declares the tables, as a block uses them.
RotaryTables rotaryTables(ProgramBuilder& b, std::int64_t sequence, std::int64_t headDim);
/// Declares them and emits the kernels that fill them.
RotaryTables makeRotaryTables(ProgramBuilder& b, std::int64_t sequence, std::int64_t headDim);
/// x cos + rotate_half(x) sin for x [B, heads, S, d].
TensorId rotary(ProgramBuilder& b, TensorId x, const RotaryTables& tables);

/// transformers' ForCausalLMLoss: logits [B, S, V] cast to fp32, labels [B, S] padded by one and shifted, mean over all
/// rows.
TensorId causalLoss(ProgramBuilder& b, TensorId logits, TensorId labels);
/// The same as one kernel each way over logits in their own dtype, labels rolled (flash-attn's CrossEntropyLoss as
/// llm-foundry calls it): saves the logits and a fp32 number a row.
TensorId fusedCausalLoss(ProgramBuilder& b, TensorId logits, TensorId labels);

}  // namespace shardscope::core
