#pragma once

// A kernel's bfloat16 operands as float32: the kernel then computes as it does in float32, and each result is rounded
// once, as the reference loops do.

#include <optional>
#include <vector>

#include "runtime/device/device.h"

namespace shardscope::runtime::cpu {

class Widened {
public:
    /// None: no operand is bfloat16, or one has no contiguous rows, or the kernel writes views of one tensor.
    static std::optional<Widened> of(const KernelCall& call);

    [[nodiscard]] KernelCall call() const { return {*m_kernel, m_inputs, m_outputs}; }
    /// Rounds the results into the operands that the call was given.
    void finish() const;

private:
    bool take(const TensorView& view, bool read, std::vector<TensorView>& into);

    const core::Kernel* m_kernel = nullptr;
    std::vector<std::vector<float>> m_values;
    std::vector<TensorView> m_inputs, m_outputs, m_narrow;  ///< m_narrow: the operands that m_outputs stand for
};

}  // namespace shardscope::runtime::cpu
