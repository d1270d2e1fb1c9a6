#include "runtime/train/runnable.h"

namespace shardscope::runtime {

core::Result<void> checkRunnable(const core::Plan& plan) {
    if (plan.optimizer == core::OptimizerKind::AdamW8bit)
        return core::fail(core::ErrorCode::Unsupported, "8-bit AdamW is simulated, not run", "[training] optimizer",
                          "choose adamw");
    if (plan.compiled)
        return core::fail(core::ErrorCode::Unsupported, "compiled layers are simulated, not run", "[training] compile",
                          "leave it out");
    return {};
}

}  // namespace shardscope::runtime
