#pragma once

// PyTorch that runs a model which every rank has whole, and what it compiles.

#include <string>

#include "core/model/model.h"
#include "core/plan/plan.h"

namespace shardscope::cli {

/// "torch.bfloat16".
[[nodiscard]] std::string torchName(core::DType type);

/// torch.compile of every block, to stand after its checkpointing and before its wrapping; empty without.
[[nodiscard]] std::string compileCalls(const core::Model& model, const core::Plan& plan);
/// DistributedDataParallel, and how a step runs with it.
[[nodiscard]] std::string ddpCalls(const core::Model& model, const core::Plan& plan);
/// One GPU with the whole model.
[[nodiscard]] std::string singleCalls(const core::Model& model, const core::Plan& plan);

}  // namespace shardscope::cli
