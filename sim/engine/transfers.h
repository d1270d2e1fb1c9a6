#pragma once

// Which ops of which instances form one transfer.

#include <cstdint>
#include <span>
#include <vector>

#include "core/base/result.h"
#include "sim/engine/clocks.h"
#include "sim/engine/wiring.h"

namespace shardscope::sim {

/// The members of all transfers of a run. A slot is an op of an instance: the instance's first slot plus the op's
/// position in its class.
struct TransferMembers {
    struct Member {
        std::uint32_t instance = 0;
        std::uint32_t op = 0;  ///< id in the graph
        std::uint32_t slot = 0;
    };
    std::vector<std::uint32_t> memberBegin;  ///< by transfer, one more at the end
    std::vector<Member> members;
    std::vector<std::uint32_t> transferOf;  ///< by slot; kNoOp where the op transfers nothing

    [[nodiscard]] std::size_t size() const { return memberBegin.empty() ? 0 : memberBegin.size() - 1; }
    [[nodiscard]] std::span<const Member> of(std::size_t transfer) const {
        return std::span(members).subspan(memberBegin[transfer], memberBegin[transfer + 1] - memberBegin[transfer]);
    }
};

/// `firstSlot` by instance, one more at the end. Ops with a match number meet the ops of that number of the other
/// classes at the same coordinate; other collectives meet the ranks of their group, which share coordinate -
/// ((coordinate / stride) mod size) * stride. Errors: a group of which only a part is simulated.
[[nodiscard]] core::Result<TransferMembers> findMembers(const core::StepGraph& graph,
                                                        std::span<const Instance> instances,
                                                        std::span<const std::size_t> firstSlot);

}  // namespace shardscope::sim
