#pragma once

// The figures of plans side by side, as the report has them, and how one differs from another. No Qt: the
// same figures as `compare --json`.

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "cli/face/report.h"

namespace shardscope::gui {

enum class Figure : std::uint8_t { Step, Throughput, Waiting, ExposedCommunication, WireBytes, PeakMemory };
inline constexpr std::size_t kFigures = 6;
enum class Unit : std::uint8_t { Nanoseconds, PerSecond, Bytes };

struct DifferenceRow {
    Figure figure = Figure::Step;
    Unit unit = Unit::Nanoseconds;
    bool lessIsBetter = true;
    std::vector<double> values;  ///< by plan

    [[nodiscard]] double difference(std::size_t plan, std::size_t base = 0) const {
        return values[plan] - values[base];
    }
    /// Value over that of `base`; 0 where that is 0.
    [[nodiscard]] double ratio(std::size_t plan, std::size_t base = 0) const {
        return values[base] != 0 ? values[plan] / values[base] : 0;
    }
};

/// Times are means over all ranks, bytes on the wire of the busiest class, peak memory what the tightest rank needs.
[[nodiscard]] std::vector<DifferenceRow> differencesOf(std::span<const cli::PlanReport* const> plans);
[[nodiscard]] std::vector<DifferenceRow> differencesOf(const cli::Report& report);

}  // namespace shardscope::gui
