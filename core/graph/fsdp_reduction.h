#pragma once

// FSDP2's gradients: unsharded ones as backward makes them, their reduction, and the sharded ones (framework semantics
// 1.5, 1.10, 1.11). Part of fsdp_policy.cpp.

#include <deque>

#include "core/graph/fsdp_state.h"

namespace shardscope::core {

class FsdpReduction {
public:
    FsdpReduction(ClassContext& context, FsdpState& state) : m_c(context), m_state(state) {}

    /// Before a backward op: memory of the parameter gradients that it makes.
    void allocateGradients(const PassStep& step);
    /// After its launch; a second gradient of a weight that two layers use is added to the first.
    void afterCompute(const PassStep& step, OpId op);
    /// Reshards the unit and reduces its gradients. `final`: called from the end-of-backward callback.
    void postBackward(UnitId unit, bool final);
    /// The end of backward: compute waits for the latest reduction, whose input is dropped.
    void finish(FsdpContext& context);

    // FSDP1 (1.18), in fsdp1_reduction.cpp.
    /// Autograd puts the gradients of a unit one after another into its flat one, or adds them to it.
    void flatten(UnitId unit);
    void reduceFlat(UnitId unit);
    /// How many there were, and the release of what the first `reductions` of them read: they are done. All: those of
    /// the all-reduces too.
    [[nodiscard]] std::size_t flatReductions() const { return m_flatReductions; }
    void releaseFlat(std::size_t reductions);

private:
    /// Dtype of the gradients that reach the copy-in: the param dtype, or the reduce dtype if that is narrower (1.10).
    [[nodiscard]] DType gradientType() const;
    /// Of `elements` unsharded gradients, `original` of them of parameters in the original dtype.
    [[nodiscard]] Bytes gradientBytes(std::int64_t elements, std::int64_t original) const;
    [[nodiscard]] TouchedUnit shareOf(const TouchedUnit& touched) const;
    /// How often, by what and when the sum over the ranks is divided (1.10).
    struct Division {
        double pre = 1, scatter = 1, post = 1;
        bool scatterAverage = false, allReduceAverage = false;
    };
    [[nodiscard]] Division division() const;
    /// The oldest inputs are dropped until at most `most` are alive.
    void dropReduceInputs(FsdpContext& context, std::size_t most);
    /// Gradients that no kernel makes.
    void addMissing(UnitId unit);
    /// Without a reduction in this micro-batch.
    void keep(UnitId unit);
    void accumulate(UnitId unit);
    [[nodiscard]] bool keepsInReduceType(UnitId unit) const;
    void reduce(UnitId unit, FsdpContext& context);
    /// From the reduced share to the sharded gradient: `output` itself (`views`), or a cast of it, added to what is
    /// there. Whether it was added.
    bool copyOut(UnitId unit, std::uint8_t stream, BlockId output, bool views);
    /// CPU offload: the reduced gradients of a unit leave the device.
    void copyToHost(UnitId unit, FsdpContext& context, std::uint8_t stream);
    OpId divide(OpKind kind, UnitId unit, std::uint8_t stream, double factor, Bytes bytes);

    ClassContext& m_c;
    FsdpState& m_state;
    std::vector<BlockId> m_workspace;  ///< repeated gradients of the op under way
    std::vector<BlockId> m_fresh;      ///< gradients that it makes
    std::deque<BlockId> m_held;        ///< flat gradients that are being reduced
    std::vector<BlockId> m_allReduced;
    std::size_t m_flatReductions = 0, m_releasedReductions = 0;
};

}  // namespace shardscope::core
