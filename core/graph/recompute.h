#pragma once

// Activation checkpointing: which layers keep only their input, and which of their forward kernels run again in
// backward (framework semantics 5.1). The pass script places these kernels, the activation plan and the executor give
// what they make again a life of its own.

#include <cstdint>
#include <vector>

#include "core/model/model.h"
#include "core/plan/plan.h"

namespace shardscope::core {

/// How a checkpointed layer of this program runs. Empty vectors: not checkpointed.
struct Recompute {
    std::vector<bool> again;      ///< by forward kernel: runs again in backward
    std::vector<bool> madeAgain;  ///< by tensor (owner of a storage): backward reads the one that is made again
    /// The forward kernel at which the recomputation ends: all of them, or as soon as everything saved is there.
    std::uint32_t end = 0;
    bool early = false;         ///< it ends before the layer does
    std::uint32_t trigger = 0;  ///< the first backward kernel that needs something saved; the recomputation precedes it

    [[nodiscard]] bool empty() const { return again.empty(); }
};
[[nodiscard]] Recompute recomputeOf(const Program& program, const Checkpointing& how);

/// By layer; only blocks are checkpointed.
class RecomputeTable {
public:
    RecomputeTable(const Model& model, const Plan& plan);
    [[nodiscard]] const Recompute& of(LayerId layer) const;

private:
    std::vector<Recompute> m_ofProgram;
    std::vector<int> m_program;  ///< by layer: into m_ofProgram, or -1
    Recompute m_none;
};

}  // namespace shardscope::core
