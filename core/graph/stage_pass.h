#pragma once

// The passes of one micro-batch on one stage: compute ops, activations, messages to and from the neighbours. A stage
// schedule calls these in its order.

#include <cstdint>
#include <vector>

#include "core/graph/activation_plan.h"
#include "core/graph/stage_schedule.h"

namespace shardscope::core {

class StagePass {
public:
    StagePass(ClassContext& context, UnitRules& rules, const StageLinks& links);

    void begin(std::int64_t microBatch);
    /// Nothing on the first stage; likewise the others where the stage has no such neighbour or no loss.
    void receiveInput();
    void forward();
    void sendOutput();
    /// Loss forward and backward.
    void loss();
    void receiveGradient();
    void backward();
    void sendGradient();
    /// The backward pass has returned.
    void end();
    /// At the end of the step: both stages of a tied weight send their gradient to the other one and add what they get.
    void sumTiedGradients();

private:
    void run(const std::vector<PassStep>& steps);
    void enterSlot();
    void leaveSlot(OpId op);
    OpId transfer(OpKind kind, GroupId group, Phase phase, Bytes bytes, DType type, LayerId boundary,
                  std::uint32_t match);
    [[nodiscard]] std::uint32_t match(std::int64_t stage, bool gradient) const;

    ClassContext& m_c;
    UnitRules& m_rules;
    const StageLinks& m_links;
    ActivationPlan m_plan;
    std::vector<std::uint32_t> m_releaseOrder;  // pieces by last slot
    std::vector<BlockId> m_blocks;              // by piece, of the current micro-batch
    std::size_t m_slot = 0, m_allocated = 0, m_released = 0;
    BlockId m_workspace;
    OpId m_lastCompute;
};

}  // namespace shardscope::core
