#pragma once

// The optimizer's memory and traffic.

#include <cstdint>
#include <span>

#include "core/base/quantities.h"
#include "core/graph/step_graph.h"
#include "core/plan/plan.h"

namespace shardscope::core {

/// Elements of parameters that no unit wraps: none with a root, which takes what is left, and none under the
/// policies that do not shard.
[[nodiscard]] std::int64_t elementsNotWrapped(const Model& model, std::span<const Unit> units, const Plan& plan);
/// Trained elements that rank `shardRank` of the shard group really owns: its unpadded part of the units' parameters
/// (framework semantics 1.7), and the whole of those that no unit wraps; of FSDP1's flat parameters the padding too.
/// All of them under the policies that do not shard.
[[nodiscard]] std::int64_t ownElements(const Model& model, std::span<const Unit> units, const Plan& plan,
                                       std::int64_t shardRank);
/// Adam and AdamW keep two values of the original dtype per own element (8 bytes for fp32, framework semantics 1.6),
/// SGD with momentum one, without momentum nothing. 8-bit AdamW is torchao's: of a tensor of which the rank owns at
/// least 4,096 elements, in blocks of 256, two codes of one byte an element, two fp32 scales a block, and two tables of
/// 256 fp32 values; of other tensors the same as AdamW.
[[nodiscard]] Bytes optimizerStateBytes(const Model& model, std::span<const Unit> units, const Plan& plan,
                                        std::int64_t shardRank);

/// Host memory of a rank under CPU offload: its shards and reduced gradients, padded, and the optimizer's state; 0
/// without offload.
[[nodiscard]] Bytes hostBytes(const Model& model, std::span<const Unit> units, const Plan& plan);

/// Trained tensors, under FSDP1 flat ones: about as many kernels clip gradients, or update parameters unless that is
/// fused, whatever the implementation does with them.
[[nodiscard]] std::uint16_t trainedTensors(const Model& model, std::span<const Unit> units, const Plan& plan);

/// The optimizer's op without stream and place: traffic of the largest rank, Adam reads parameter, gradient and two
/// moments and writes parameter and moments (framework semantics 1.13: 28 bytes per fp32 element), SGD reads parameter
/// and gradient and writes the parameter.
[[nodiscard]] Op optimizerOp(const Model& model, std::span<const Unit> units, const Plan& plan);

}  // namespace shardscope::core
