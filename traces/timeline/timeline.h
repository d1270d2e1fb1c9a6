#pragma once

// The one timeline: what ran when, on which stream of which rank. The simulator and the runtime fill it, readers of other
// tools' traces fill it, and the breakdown, the causes and the pictures read it. Columnar; nanoseconds from the step's
// start; strings interned.

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "core/base/quantities.h"

namespace shardscope::timeline {

using StringId = std::uint32_t;

/// What a span stands for in the breakdown (design: compute, transfer, copy, waiting; idle is what is left).
enum class SpanKind : std::uint8_t {
    Compute,     ///< on the compute stream, copies there included
    Collective,  ///< arrival = start; transfers from `transferStart` to end; before that it waits for peers or its queue
    PointToPoint,///< the same for a send or receive
    Copy,        ///< on another stream than compute
    Host,        ///< on the host stream: never device work
};

/// A lane: one stream of one rank (or of a class of identical ranks, drawn as "x 1,024").
struct Lane {
    std::int64_t rank = 0;          ///< first rank that it stands for
    std::int64_t multiplicity = 1;  ///< ranks with identical clocks
    StringId rankName = 0;          ///< "rank 0", "stage 2"
    StringId stream = 0;            ///< "compute", ...
    bool computeStream = false;     ///< its spans of kind Compute make the rank busy
    std::uint32_t rankIndex = 0;    ///< index into Timeline::ranks
};

/// A rank (or class) of the timeline; its lanes are contiguous.
struct RankRow {
    std::int64_t rank = 0;
    std::int64_t multiplicity = 1;
    StringId name = 0;
    std::uint32_t laneBegin = 0, laneEnd = 0;
    std::int64_t stepBegin = 0, stepEnd = 0;  ///< ns: the step of this rank, over which the breakdown sums up
};

inline constexpr std::uint32_t kNoIndex = 0xffffffffu;

/// Structure of arrays; spans of one lane are contiguous and ordered by start.
struct Spans {
    std::vector<std::uint32_t> lane;
    std::vector<std::int64_t> start, end;       ///< ns
    std::vector<std::int64_t> transferStart;    ///< Collective, PointToPoint; elsewhere equal to start
    std::vector<StringId> name;
    std::vector<StringId> unit;                 ///< "" where none
    std::vector<std::uint8_t> kind;             ///< SpanKind
    std::vector<std::uint8_t> phase;            ///< core::Phase
    std::vector<std::uint16_t> microBatch;
    std::vector<std::uint32_t> op;              ///< id in the graph, kNoIndex for foreign traces
    std::vector<std::int64_t> bytes;            ///< payload; 0 where none

    [[nodiscard]] std::size_t size() const { return start.size(); }
};

/// Bytes of one memory category of one rank over time: value[i] holds from time[i] on.
struct Counter {
    std::uint32_t rankIndex = 0;
    StringId name = 0;
    std::vector<std::int64_t> time;   ///< ns
    std::vector<std::int64_t> value;  ///< bytes
};

/// Why a span did not start before: the span it waited for, and the reason in words.
struct Flow {
    std::uint32_t from = kNoIndex, to = kNoIndex;  ///< spans
    StringId reason = 0;
};

class Strings {
public:
    Strings() { intern(""); }
    StringId intern(std::string_view text);
    [[nodiscard]] const std::string& operator[](StringId id) const { return m_texts[id]; }
    [[nodiscard]] std::size_t size() const { return m_texts.size(); }

private:
    std::vector<std::string> m_texts;
    std::unordered_map<std::string, StringId> m_ids;
};

struct Timeline {
    std::string title;
    Strings strings;
    std::vector<RankRow> ranks;
    std::vector<Lane> lanes;
    Spans spans;
    std::vector<Counter> counters;
    std::vector<Flow> flows;
    std::int64_t end = 0;  ///< ns: end of the step on the slowest rank
};

}  // namespace shardscope::timeline
