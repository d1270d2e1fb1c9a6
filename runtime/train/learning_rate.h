#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace shardscope::runtime {

/// How the learning rate changes over a run.
enum class LearningRateSchedule : std::uint8_t {
    Constant,
    Cosine,  ///< up in a line over the first sixteenth of the steps, then down to 0 in half a cosine
};

/// "constant", "cosine".
[[nodiscard]] std::optional<LearningRateSchedule> scheduleCalled(std::string_view name);

/// What the learning rate is multiplied by in `step` of [0, steps): of (0, 1].
[[nodiscard]] double learningRateFactor(LearningRateSchedule schedule, std::int64_t step, std::int64_t steps);

}  // namespace shardscope::runtime
