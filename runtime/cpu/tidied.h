#pragma once

// A kernel's operands as the fast kernels take them: bfloat16 ones as float32, rows that lie apart without gaps. The
// kernel then computes as it does in float32, and each result is rounded once, as the reference loops do.

#include <optional>
#include <vector>

#include "runtime/device/device.h"

namespace shardscope::runtime::cpu {

/// The copies lie in memory that the thread keeps for them, so that at most one call of a thread is tidied at a time.
class Tidied {
public:
    /// None: nothing is to do, or a row itself has gaps, or the kernel writes views of one tensor.
    static std::optional<Tidied> of(const KernelCall& call);

    [[nodiscard]] KernelCall call() const { return {*m_kernel, m_inputs, m_outputs}; }
    /// Copies the results, rounded, into the operands that the call was given.
    void finish() const;

private:
    bool take(const TensorView& view, bool read, std::vector<TensorView>& into);

    const core::Kernel* m_kernel = nullptr;
    std::size_t m_copies = 0;
    std::vector<TensorView> m_inputs, m_outputs, m_given;  ///< m_given: what m_outputs stand for
};

}  // namespace shardscope::runtime::cpu
