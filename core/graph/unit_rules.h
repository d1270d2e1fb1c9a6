#pragma once

// What a unit policy does around a stage's compute. One object a class of ranks; the stage schedule calls it at the
// moments that the pass script names. A policy is one file and one row of the table in build.cpp.

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "core/graph/activation_plan.h"
#include "core/graph/form_units.h"
#include "core/graph/graph_builder.h"
#include "core/graph/pass_script.h"

namespace shardscope::core {

/// What everything that builds one class's program works on.
struct ClassContext {
    GraphBuilder& builder;
    const Model& model;
    const Plan& plan;
    Stage stage;
    UnitId firstUnit;
    std::vector<Unit> units;  ///< of the stage; GraphBuilder's [firstUnit, +size)
    const RecomputeTable& recompute;
    PassScript script;
    std::uint8_t computeStream = 0;
    std::uint16_t microBatch = 0;  ///< the current one

    [[nodiscard]] const Unit& unit(UnitId which) const { return units[which.index() - firstUnit.index()]; }
    [[nodiscard]] std::size_t local(UnitId which) const { return which.index() - firstUnit.index(); }
    [[nodiscard]] std::span<const TouchedUnit> touched(const PassStep& step) const {
        return std::span(script.touched).subspan(step.begin, step.end - step.begin);
    }
};

class UnitRules {
public:
    virtual ~UnitRules() = default;

    /// Before the first action of the step: persistent blocks.
    virtual void beginStep() = 0;
    /// The kinds EnterUnit, LeaveUnit, PreBackward, PostBackward, EnterRecompute and LeaveRecompute.
    virtual void act(const PassStep& step) = 0;
    /// Around the launch of a compute op: `before` may tell the stream to wait and allocate, `after` knows the op.
    virtual void beforeCompute(const PassStep& step) = 0;
    virtual void afterCompute(const PassStep& step, OpId op) = 0;
    /// The micro-batch's backward pass has ended.
    virtual void endBackward() = 0;
    /// Its call has returned.
    virtual void afterBackward() {}
    /// Gradients of weights that another stage holds too are there: their bytes here, and the op's uses of their
    /// memory.
    [[nodiscard]] virtual Bytes tiedGradientBytes(std::span<const ParameterId> tied) const = 0;
    [[nodiscard]] virtual UnitId tiedUnit(std::span<const ParameterId> tied) const = 0;
    virtual void useGradients(UnitId unit, OpId op) = 0;
    /// All gradients that the rank has for the optimizer: their bytes, an op's use of their memory, and the stream that
    /// works on them.
    [[nodiscard]] virtual Bytes gradientBytes() const = 0;
    virtual void useAllGradients(OpId op) = 0;
    [[nodiscard]] virtual std::uint8_t gradientStream() const = 0;
    /// The ranks that hold the other shards of these gradients, and the stream that reaches them; none where they are
    /// whole.
    struct ShardsOfGradients {
        GroupId group;
        std::uint8_t stream = 0;
    };
    [[nodiscard]] virtual std::optional<ShardsOfGradients> shardsOfGradients() { return std::nullopt; }
    /// Optimizer step and release of the gradients.
    virtual void endStep() = 0;
    /// The end of a step without gradients.
    virtual void endEvaluation() = 0;
};

[[nodiscard]] std::unique_ptr<UnitRules> makeFsdpRules(ClassContext& context);
[[nodiscard]] std::unique_ptr<UnitRules> makeFsdp1Rules(ClassContext& context);
[[nodiscard]] std::unique_ptr<UnitRules> makeNoneRules(ClassContext& context);
[[nodiscard]] std::unique_ptr<UnitRules> makeDdpRules(ClassContext& context);

}  // namespace shardscope::core
