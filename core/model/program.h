#pragma once

// The kernels of one layer of a model, forward and backward, over one table of tensors. Layers that are alike share one
// program; a layer says which parameters stand in its slots. What is saved for backward is not listed apart: it is
// every storage of the forward pass that a backward kernel reads.

#include <string>
#include <vector>

#include "core/base/dtype.h"
#include "core/model/kernel.h"

namespace shardscope::core {

/// Inputs, outputs and gradients that pass between layers are owners and contiguous. A gradient or an output may group
/// its dimensions otherwise than the tensor that it belongs to ([B*S, h] for [B, S, h]); the bytes are the same.
enum class TensorRole : std::uint8_t {
    Input,              ///< the layer's input; it is the previous layer's output (saved: counted in this layer)
    Output,             ///< the layer's output
    OutputGradient,     ///< gradient of the output, arrives from the next layer; of the loss: what backward starts from
    InputGradient,      ///< gradient of the input, leaves to the previous layer
    Parameter,          ///< unsharded parameter, `slot` indexes Layer::parameters
    ParameterGradient,  ///< its gradient (unsharded)
    Batch,              ///< images, token ids or labels: comes with the data; `slot` 0 inputs, 1 labels
    Shared,             ///< made once a step and used by many layers (rotary tables, masks)
    Intermediate,       ///< everything else
};

/// One tensor of a program. `storage` is the tensor that owns the memory: itself, or another one of which this is a
/// view. An owner is dense: offset 0, and its strides, if given, are those of a permutation of its dimensions.
struct Tensor {
    std::string name;  ///< "ln_1.out"; unique in the program
    Shape shape;
    DType dtype = DType::F32;
    TensorRole role = TensorRole::Intermediate;
    std::uint32_t slot = 0;
    TensorId storage;
    std::vector<std::int64_t> strides;  ///< in elements, by dimension; empty: contiguous in the order of `shape`
    std::int64_t offset = 0;            ///< in elements, from the start of the storage

    /// Bytes of the tensor's own shape (of the whole storage only if it owns it).
    [[nodiscard]] Bytes bytes() const { return {elementsOf(shape) * sizeOf(dtype)}; }
};

/// A module inside the layer, by its name relative to the layer ("" is the layer's own module, "self_attention",
/// "mlp.0").
struct ProgramModule {
    std::string name;
    std::string type;  ///< PyTorch's class name ("Linear", "LayerNorm", ...)
};

struct Program {
    std::string name;  ///< "encoder block": for reports
    std::vector<ProgramModule> modules;
    std::vector<Tensor> tensors;
    std::vector<Kernel> forward;   ///< in order of execution
    std::vector<Kernel> backward;  ///< in autograd's order

    [[nodiscard]] const Tensor& tensor(TensorId id) const { return tensors[id.index()]; }
};

/// Storages (tensors that own memory) of the forward pass that backward kernels read, each once, in the order of their
/// first forward appearance. Parameters are left out; Input, Batch and Shared storages are included (their role tells).
[[nodiscard]] std::vector<TensorId> savedForBackward(const Program& program);

/// Whether the kernel reads what the batch brings: images, token ids, labels.
[[nodiscard]] bool readsBatch(const Program& program, const Kernel& kernel);

/// Fills Kernel::read and written from the operands of every kernel: each operand's own bytes once. A view among the
/// outputs of which the owner is an output too counts with its owner.
void fillTraffic(Program& program);

}  // namespace shardscope::core
