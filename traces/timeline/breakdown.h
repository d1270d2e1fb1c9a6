#pragma once

// Where a step's time goes. On every rank, to the nanosecond:
//
//     compute + exposed transfer + exposed copy + waiting + idle = step
//
// Each instant of [stepBegin, stepEnd) counts once, first match: compute (the compute stream works, copies on it
// included), transfer (a collective, send or receive moves data: transferStart to end), copy (another stream), waiting
// (a collective, send or receive has begun and its transfer has not: start to transferStart), idle (what is left).
// Spans of lanes that are no compute stream are copies unless they are collectives, point-to-point or the host's; the
// host's never count. Spans are cut at the step's borders. Kernels of one stream may overlap; unions are taken.
// Cost: O(n log n) in the rank's spans; O(n) where lanes are in order, which arranged timelines are.

#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

#include "traces/timeline/timeline.h"

namespace shardscope::timeline {

enum class State : std::uint8_t { Compute, Transfer, Copy, Waiting, Idle };
inline constexpr std::size_t kStates = 5;
[[nodiscard]] std::string_view nameOf(State state);

/// All in nanoseconds.
struct Breakdown {
    std::int64_t compute = 0;
    std::int64_t transfer = 0;  ///< exposed: no compute meanwhile
    std::int64_t copy = 0;      ///< exposed: neither compute nor transfer meanwhile
    std::int64_t waiting = 0;
    std::int64_t idle = 0;
    std::int64_t step = 0;
    std::int64_t totalTransfer = 0;  ///< instants at which something transfers, hidden or not
    std::int64_t totalCopy = 0;      ///< instants at which another stream than compute copies, hidden or not

    [[nodiscard]] std::int64_t gpuWaits() const { return waiting + idle; }
    [[nodiscard]] std::int64_t hiddenTransfer() const { return totalTransfer - transfer; }
    /// Share of the transfer time that runs beside compute, 0..1; 1 where nothing is transferred.
    [[nodiscard]] double hiddenShare() const {
        return totalTransfer == 0 ? 1.0 : static_cast<double>(hiddenTransfer()) / static_cast<double>(totalTransfer);
    }
    [[nodiscard]] std::int64_t of(State state) const {
        const std::array<std::int64_t, kStates> times = {compute, transfer, copy, waiting, idle};
        return times[static_cast<std::size_t>(state)];
    }
    friend bool operator==(const Breakdown&, const Breakdown&) = default;
};

/// All of its times.
inline constexpr std::int64_t Breakdown::*kBreakdownTimes[] = {
    &Breakdown::compute, &Breakdown::transfer, &Breakdown::copy,          &Breakdown::waiting,
    &Breakdown::idle,    &Breakdown::step,     &Breakdown::totalTransfer, &Breakdown::totalCopy};

/// A piece of the step in one state; `span` is one that puts it there (the first begun that still runs), kNoIndex for
/// idle.
struct Segment {
    std::int64_t begin = 0, end = 0;
    State state = State::Idle;
    std::uint32_t span = kNoIndex;
    friend bool operator==(const Segment&, const Segment&) = default;
};

/// One per Timeline::ranks.
[[nodiscard]] std::vector<Breakdown> breakdownOf(const Timeline& timeline);

/// The step of one rank as segments in order of time: adjacent, none empty, together exactly the step.
[[nodiscard]] std::vector<Segment> segmentsOf(const Timeline& timeline, std::uint32_t rankIndex);
/// The same with `spansOfLanes(timeline)` at hand, for callers that ask for many ranks.
[[nodiscard]] std::vector<Segment> segmentsOf(const Timeline& timeline, std::uint32_t rankIndex,
                                              const std::vector<SpanRange>& lanes);

/// Sums over ranks, each counted `multiplicity` times.
[[nodiscard]] Breakdown sumOver(const Timeline& timeline, const std::vector<Breakdown>& ranks);

}  // namespace shardscope::timeline
