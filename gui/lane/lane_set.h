#pragma once

// The lanes of one plan: for every rank what it does and why it waits, and one lane a stream. Built once, off the
// window's thread; read by every frame.

#include <cstdint>
#include <memory>
#include <stop_token>
#include <string>
#include <vector>

#include "cli/face/report.h"
#include "gui/lane/memory_curve.h"
#include "gui/lane/pieces.h"
#include "gui/lane/pyramid.h"
#include "traces/timeline/timeline.h"

namespace shardscope::gui {

struct Lane {
    enum class Kind : std::uint8_t {
        State,   ///< work of the rank, and what it waits for; tiles its step
        Stream,  ///< the spans of one stream
    };
    Kind kind = Kind::State;
    std::uint32_t rankIndex = 0;  ///< into Timeline::ranks: a rank, or a class of identical ones
    std::string rank;             ///< "stage 2", "all ranks x 1,024"
    std::string stream;           ///< empty for Kind::State
    Pieces pieces;
    Pyramid pyramid;
    double work = 0;  ///< state lanes: share of the rank's step that is compute, 0..1
};

struct LaneSet {
    std::shared_ptr<const timeline::Timeline> timeline;
    std::vector<Lane> lanes;  ///< a class's state lane, then its streams; class by class
    MemoryCurve memory;       ///< of the tightest rank
    std::uint32_t memoryRank = 0;
    std::int64_t capacity = 0;  ///< bytes
    std::int64_t peak = 0;      ///< index into memory.time of the largest total
    // What occurs, for the legend: formats::Look of pieces, core::MemoryCategory that are ever above 0; as bits.
    std::uint32_t looks = 0, categories = 0;
};

/// Of a plan of a report, which must outlive the lanes: a class of identical ranks once, however many there are. What
/// is stopped is not complete.
[[nodiscard]] LaneSet lanesOf(const cli::PlanReport& plan, const std::stop_token& stop = {});
/// Of any timeline, without memory.
[[nodiscard]] LaneSet lanesOf(std::shared_ptr<const timeline::Timeline> timeline, const std::stop_token& stop = {});

}  // namespace shardscope::gui
