#pragma once

// Long work seen from outside: which stage it is in, and whether anyone still wants it. Passed down by whoever has time
// to wait (the window), and asked between stages and between the parts of long ones.

#include <cstdint>
#include <functional>
#include <stop_token>
#include <string_view>

#include "core/base/result.h"

namespace shardscope::core {

/// From what a user names to what a face shows, in this order; from Model to Causes once for every plan.
enum class WorkStage : std::uint8_t { Reading, Model, Graph, Simulating, Memory, Causes, Lanes };

struct Work {
    std::stop_token stop;  ///< a token of nothing: cannot be stopped
    /// Told by the working thread; `of` is the plan, or empty. May be empty.
    std::function<void(WorkStage stage, std::string_view of)> entered;

    /// Errors: Cancelled, where the work is not wanted any more.
    [[nodiscard]] Result<void> goOn() const {
        if (stop.stop_requested()) return fail(ErrorCode::Cancelled, "cancelled");
        return {};
    }
    /// Begins a stage. Errors: Cancelled.
    [[nodiscard]] Result<void> enter(WorkStage stage, std::string_view of = {}) const {
        SHARDSCOPE_TRY(goOn());
        if (entered) entered(stage, of);
        return {};
    }
};

}  // namespace shardscope::core
