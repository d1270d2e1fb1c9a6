#pragma once

// The one timeline: what ran when, on which stream of which rank. The simulator and the runtime fill it, readers of
// other tools' traces fill it, and the breakdown, the causes and the pictures read it. Columnar; nanoseconds from the
// step's start; strings interned.

#include <cstdint>
#include <functional>
#include <limits>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "core/base/quantities.h"
#include "core/base/text_hash.h"
#include "core/graph/step_graph.h"

namespace shardscope::timeline {

using StringId = std::uint32_t;

/// What a span stands for in the breakdown (design: compute, transfer, copy, waiting; idle is what is left).
enum class SpanKind : std::uint8_t {
    Compute,       ///< on the compute stream, copies there included
    Collective,    ///< arrival = start; transfers from `transferStart` to end; before that it waits for peers or its
                   ///< queue
    PointToPoint,  ///< the same for a send or receive
    Copy,          ///< on another stream than compute
    Host,          ///< on the host stream: never device work
};

/// What a span does, in more detail than its kind: what causes are found from and what trace formats call by name.
enum class Activity : std::uint8_t {
    Other,
    Kernels,  ///< a model's kernels
    GatherCopyIn,
    CopyOut,
    ReduceCopyIn,
    ReduceCopyOut,
    Divide,  ///< pre- and post-division of fp16 reductions
    AddGradient,
    OptimizerStep,  ///< on the host stream: the host's optimizer
    AllGather,
    ReduceScatter,
    AllReduce,
    AllToAll,
    Broadcast,
    Send,
    Receive,
    MemoryCopy,  ///< between host and device, or on one device
    HostWork,    ///< the host prepares and launches
    DataLoading,
    Synchronisation,  ///< a call that blocks the host until the device is done
    KeepSlice,        ///< of unsharded parameters, when they are resharded to a smaller group
    CastParameters,   ///< of parameters that are whole, to the dtype of compute
};
inline constexpr std::size_t kActivities = 22;
[[nodiscard]] std::string_view nameOf(Activity activity);
[[nodiscard]] Activity activityOf(core::OpKind kind);
/// Casts, and packing, unpacking and scaling for transfers: neither the model's own work nor a transfer.
[[nodiscard]] bool isCopy(Activity activity);
/// Collective, PointToPoint, Compute, Copy or Host, from what the op does and where.
[[nodiscard]] SpanKind spanKindOf(core::OpKind kind, core::StreamKind stream);

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
    std::int64_t stage = 0;  ///< pipeline stage; more than one in a timeline makes the time after the last op a bubble
    StringId name = 0;
    std::uint32_t laneBegin = 0, laneEnd = 0;
    std::int64_t stepBegin = 0, stepEnd = 0;  ///< ns: the step of this rank, over which the breakdown sums up
};

inline constexpr std::uint32_t kNoIndex = 0xffffffffu;
inline constexpr std::uint8_t kNoDType = 0xff;
inline constexpr std::uint32_t kNoGroup = kNoIndex;
inline constexpr std::int64_t kNotIssued = std::numeric_limits<std::int64_t>::min();

/// Structure of arrays; spans of one lane are contiguous and ordered by start.
struct Spans {
    std::vector<std::uint32_t> lane;
    std::vector<std::int64_t> start, end;     ///< ns
    std::vector<std::int64_t> transferStart;  ///< Collective, PointToPoint; elsewhere equal to start
    std::vector<StringId> name;
    std::vector<StringId> unit;          ///< "" where none
    std::vector<std::uint8_t> kind;      ///< SpanKind
    std::vector<std::uint8_t> phase;     ///< core::Phase
    std::vector<std::uint8_t> activity;  ///< Activity
    std::vector<std::uint16_t> microBatch;
    std::vector<std::uint32_t> op;     ///< id in the graph, kNoIndex for foreign traces
    std::vector<std::int64_t> bytes;   ///< payload; 0 where none
    std::vector<std::uint8_t> dtype;   ///< core::DType of the payload; kNoDType where none
    std::vector<std::uint32_t> group;  ///< Timeline::groups; kNoGroup where none
    std::vector<std::int64_t> issued;  ///< ns: when the host had enqueued it; kNotIssued where unknown

    [[nodiscard]] std::size_t size() const { return start.size(); }
};

/// Bytes of one memory category of one rank over time: value[i] holds from time[i] on.
struct Counter {
    std::uint32_t rankIndex = 0;
    StringId name = 0;
    std::vector<std::int64_t> time;   ///< ns
    std::vector<std::int64_t> value;  ///< bytes
};

/// Why a span may not start before another ended. The first five are core::EdgeReason's.
enum class FlowReason : std::uint8_t {
    Data,
    StreamOrder,  ///< need not be given: the order of a lane's spans says it
    EventWait,
    MemoryLimit,
    Communicator,  ///< holds back the transfer, not the arrival
    Launch,        ///< from a span of the host stream
    Peer,          ///< between ranks: a send and its receive, or the last member of a collective
};
[[nodiscard]] std::string_view nameOf(FlowReason reason);
[[nodiscard]] FlowReason flowReasonOf(core::EdgeReason reason);

/// Span `to` waits for span `from`.
struct Flow {
    std::uint32_t from = kNoIndex, to = kNoIndex;  ///< spans
    FlowReason reason = FlowReason::Data;
};

class Strings {
public:
    Strings() { intern(""); }
    Strings(const Strings& other);
    Strings& operator=(const Strings& other);
    Strings(Strings&&) = default;
    Strings& operator=(Strings&&) = default;
    ~Strings() = default;

    StringId intern(std::string_view text);
    [[nodiscard]] const std::string& operator[](StringId id) const { return *m_texts[id]; }
    [[nodiscard]] std::size_t size() const { return m_texts.size(); }

private:
    std::unordered_map<std::string, StringId, core::TextHash, std::equal_to<>> m_ids;
    std::vector<const std::string*> m_texts;  // the keys, which stay where they are
};

/// The ranks of a collective or of a point-to-point pair.
struct TransferGroup {
    StringId name = 0;      ///< "dp_shard", "pp 0-1"
    std::int64_t size = 1;  ///< ranks in it
};

struct Timeline {
    std::string title;
    Strings strings;
    std::vector<RankRow> ranks;
    std::vector<Lane> lanes;
    Spans spans;
    std::vector<TransferGroup> groups;
    std::vector<Counter> counters;
    std::vector<Flow> flows;
    std::int64_t end = 0;  ///< ns: end of the step on the slowest rank
};

/// One span with all its columns, for filling a timeline.
struct SpanRow {
    std::uint32_t lane = 0;
    std::int64_t start = 0, end = 0;
    std::int64_t transferStart = kNotIssued;  ///< left alone: equal to start
    StringId name = 0, unit = 0;
    SpanKind kind = SpanKind::Compute;
    core::Phase phase = core::Phase::Forward;
    Activity activity = Activity::Other;
    std::uint16_t microBatch = 0;
    std::uint32_t op = kNoIndex;
    std::int64_t bytes = 0;
    std::uint8_t dtype = kNoDType;
    std::uint32_t group = kNoGroup;
    std::int64_t issued = kNotIssued;
};

/// Appends in any order; returns the span's index, which flows may name until `arrange` renumbers both.
std::uint32_t append(Timeline& timeline, const SpanRow& row);

/// Brings spans into the order that Spans promises (lane, then start, then end; stable), renumbers flows, sets `end`,
/// and stepEnd of ranks where it is 0. Costs a pass when they are in order already.
void arrange(Timeline& timeline);

/// Spans [begin, end) of one lane.
struct SpanRange {
    std::uint32_t begin = 0, end = 0;
};
/// Per lane, of an arranged timeline.
[[nodiscard]] std::vector<SpanRange> spansOfLanes(const Timeline& timeline);

}  // namespace shardscope::timeline
