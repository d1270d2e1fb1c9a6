#pragma once

// One micro-batch's forward and backward pass over the layers of a stage, as a list of steps: runs of kernels, and the
// moments between them at which a unit policy acts. It says when things happen in PyTorch's host order; what is done
// then is the policy's business (core/graph/unit_rules.h).

#include <cstdint>
#include <span>
#include <vector>

#include "core/graph/form_units.h"
#include "core/graph/recompute.h"
#include "core/graph/step_graph.h"

namespace shardscope::core {

struct PassStep {
    enum class Kind : std::uint8_t {
        Kernels,           ///< one compute op
        EnterUnit,         ///< before a module of the unit runs forward; `first`: the first of its modules in this pass
        LeaveUnit,         ///< after the last of its modules has run forward
        ForwardBegin,      ///< module
        ForwardEnd,        ///< module
        PreBackward,       ///< the gradient of the unit's output is there
        PostBackward,      ///< the gradient of the unit's input is there (not for units fed with data alone)
        BackwardBegin,     ///< module
        BackwardEnd,       ///< module
        RecomputeBegin,    ///< module of a checkpointed layer
        RecomputeEnd,      ///< module
        RecomputeStopped,  ///< module: nothing more of it is needed
        EnterRecompute,    ///< before a module of the unit runs forward again
        LeaveRecompute,    ///< after it
    } kind = Kind::Kernels;
    bool first = false;
    bool recompute = false;  ///< Kernels: forward ones that run again in backward
    ModuleId module;
    UnitId unit;
    KernelRange kernels;
    std::uint32_t begin = 0, end = 0;  ///< Kernels: PassScript::touched [begin, end)
};

/// Parameters of a unit that a run of kernels touches; an invalid unit stands for those that no unit wraps.
struct TouchedUnit {
    UnitId unit;
    bool reads = false;                 ///< the parameters themselves, not only their gradients
    std::int64_t gradientElements = 0;  ///< of parameters whose gradient it is the first to make
    std::int64_t repeatedElements = 0;  ///< of parameters whose gradient is there already (used by two layers)
    std::int64_t finishedElements = 0;  ///< of parameters whose gradient no later kernel adds to
    std::uint32_t finished = 0;         ///< how many these are
    /// Of `gradientElements` and `repeatedElements`: parameters in the original dtype (Unit::inOriginalDtype; under
    /// autocast those that no product reads there).
    std::int64_t gradientOriginal = 0, repeatedOriginal = 0;
};

struct PassScript {
    std::vector<PassStep> forward;       ///< without the loss
    std::vector<PassStep> loss;          ///< loss forward; empty on all but the last stage
    std::vector<PassStep> lossBackward;  ///< gradient of the stage's output from the loss
    std::vector<PassStep> backward;
    std::vector<TouchedUnit> touched;
    std::vector<UnitId> forwardOrder;  ///< units in the order in which they first run, the root first
    std::vector<UnitId> moduleOrder;   ///< units in the order of the module tree, outer before inner
    bool forwardOnly = false;          ///< lossBackward and backward are empty
};

/// `units` are those of the stage; the ids in the result count from `firstUnit`. Units without modules (buckets) act
/// nowhere; a run of kernels ends where their last gradient is there. A step of evaluation has no backward pass.
/// Ops are cut so that they tell where the pass peaks (peakCuts in core/graph/activation_plan.h).
[[nodiscard]] PassScript makePassScript(const Model& model, const Stage& stage, std::span<const Unit> units,
                                        UnitId firstUnit, const RecomputeTable& recompute, const Plan& plan);

}  // namespace shardscope::core
