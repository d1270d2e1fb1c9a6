#pragma once

// Which memory a tensor of a layer's program lies in, across layers: a layer's input is the previous layer's output,
// and the gradient of its output is the next layer's input gradient. The graph's blocks of activations and the executor
// name memory by this one identity.

#include <cstdint>

#include "core/base/ids.h"
#include "core/model/model.h"

namespace shardscope::core {

/// The tensor (of the program of `layer`) that owns a piece of activation memory.
struct StorageRef {
    LayerId layer;
    TensorId tensor;
    bool again = false;  ///< the one that a checkpointed layer makes again in backward
    friend auto operator<=>(const StorageRef&, const StorageRef&) = default;
};

/// The owner of the memory of `tensor` of `layer`, on a rank that runs layers [begin, end). Views are followed to what
/// they are views of, an Input to the previous layer's Output, an OutputGradient to the next layer's InputGradient; at
/// the borders of the rank's layers they own their memory themselves (a received message). Batch, Parameter,
/// ParameterGradient and Shared tensors are returned as they are (with their owner in the same program).
[[nodiscard]] StorageRef resolveStorage(const Model& model, LayerId begin, LayerId end, LayerId layer, TensorId tensor);

/// The tensor of that role in the program, or none.
[[nodiscard]] TensorId findRole(const Program& program, TensorRole role);

}  // namespace shardscope::core
