#include "runtime/train/runnable.h"

namespace shardscope::runtime {

core::Result<void> checkRunnable(const core::Plan& plan) {
    if (plan.optimizer == core::OptimizerKind::AdamW8bit)
        return core::fail(core::ErrorCode::Unsupported, "8-bit AdamW is simulated, not run", "[training] optimizer",
                          "choose adamw");
    return {};
}

}  // namespace shardscope::runtime
