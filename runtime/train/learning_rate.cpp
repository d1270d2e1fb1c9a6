#include "runtime/train/learning_rate.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <numbers>

namespace shardscope::runtime {

std::optional<LearningRateSchedule> scheduleCalled(std::string_view name) {
    if (name == "constant") return LearningRateSchedule::Constant;
    if (name == "cosine") return LearningRateSchedule::Cosine;
    return std::nullopt;
}

double learningRateFactor(LearningRateSchedule schedule, std::int64_t step, std::int64_t steps) {
    assert(step >= 0 && step < steps);
    if (schedule == LearningRateSchedule::Constant) return 1;
    const std::int64_t warmUp = std::max<std::int64_t>(steps / 16, 1);
    if (step < warmUp) return static_cast<double>(step + 1) / static_cast<double>(warmUp);
    const double gone = static_cast<double>(step - warmUp) / static_cast<double>(steps - warmUp);
    return 0.5 * (1 + std::cos(std::numbers::pi * gone));
}

}  // namespace shardscope::runtime
