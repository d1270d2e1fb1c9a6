#pragma once

// What the policies share that keep every parameter whole on each rank: gradients accumulate over the micro-batches,
// and the optimizer updates the parameters at the end of the step. Parameters are kept in the original dtype. If the
// param dtype differs, a copy in it is made by a cast at the start of each step and dropped at its end; under autocast
// only of the parameters of matrix products.

#include <vector>

#include "core/graph/optimizer_state.h"
#include "core/graph/unit_rules.h"

namespace shardscope::core {

class WholeRules : public UnitRules {
public:
    /// `gradientType`: that in which gradients are kept; where it is not the param dtype, in which they are made, an op
    /// casts them.
    WholeRules(ClassContext& context, DType gradientType)
        : m_c(context), m_gradientType(gradientType), m_units(context.units.size()) {}

    void beginStep() override;
    void act(const PassStep&) override {}
    void beforeCompute(const PassStep& step) override;
    void afterCompute(const PassStep& step, OpId done) override;
    void endBackward() override {}
    [[nodiscard]] Bytes tiedGradientBytes(std::span<const ParameterId> tied) const override;
    [[nodiscard]] UnitId tiedUnit(std::span<const ParameterId>) const override { return m_c.firstUnit; }
    void useGradients(UnitId unit, OpId op) override;
    [[nodiscard]] Bytes gradientBytes() const override {
        return {ownElements(m_c.model, m_c.units, m_c.plan, 0) * sizeOf(m_gradientType)};
    }
    void useAllGradients(OpId op) override;
    [[nodiscard]] std::uint8_t gradientStream() const override { return m_c.computeStream; }
    void endStep() override;
    void endEvaluation() override;

protected:
    struct Gradients {
        BlockId block;
        KernelRange by;  ///< the kernels that were the first to make them
    };
    struct WholeUnit {
        BlockId parameters, inUse;         ///< equal without a cast
        std::vector<Gradients> gradients;  ///< made so far
        BlockId made;                      ///< of the op at hand: those that it is the first to make
        BlockId repeated;                  ///< of the op at hand: what is cast or added
        bool gradientsStay = false;        ///< from earlier micro-batches all have one
    };
    [[nodiscard]] WholeUnit& whole(UnitId unit) { return m_units[m_c.local(unit)]; }
    [[nodiscard]] Op op(OpKind kind, Phase phase, UnitId unit) const;
    [[nodiscard]] Block block(MemoryCategory category, UnitId unit, Bytes bytes) const;
    BlockId allocate(MemoryCategory category, UnitId unit, Bytes bytes) {
        return m_c.builder.allocate(block(category, unit, bytes));
    }
    BlockId persistent(MemoryCategory category, UnitId unit, Bytes bytes) {
        return m_c.builder.addPersistent(block(category, unit, bytes));
    }
    [[nodiscard]] UnitId idOf(std::size_t local) const { return UnitId(m_c.firstUnit.index() + local); }
    [[nodiscard]] Bytes bytesIn(UnitId unit, DType type) const { return {m_c.unit(unit).elements * sizeOf(type)}; }
    /// Elements of the unit's parameters that compute reads in its own dtype; all of them but under autocast.
    [[nodiscard]] std::int64_t castElements(UnitId unit) const;

    ClassContext& m_c;
    DType m_gradientType;

private:
    /// What an op makes of gradients beside the place in which they are kept: to be cast, or added to what is there.
    struct Apart {
        std::int64_t elements = 0, bytes = 0;
        std::int64_t first = 0;  ///< elements that are cast into an empty place
    };
    [[nodiscard]] Apart apartOf(const TouchedUnit& touched);
    [[nodiscard]] bool casts() const { return m_c.plan.precision.compute() != m_gradientType; }
    [[nodiscard]] Bytes stateBytes() const { return optimizerStateBytes(m_c.model, m_c.units, m_c.plan, 0); }

    std::vector<WholeUnit> m_units;
    BlockId m_state;
};

}  // namespace shardscope::core
