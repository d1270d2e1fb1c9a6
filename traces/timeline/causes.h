#pragma once

// Why the compute stream did not work: every instant of a rank's step that is not compute gets exactly one cause.
//
// A gap before a compute span is followed back along what it waited for: its predecessor that ended last (a flow, the
// span before it on its stream, or the host, which had not issued it yet), then that one's, until the gap is covered.
// Each piece is blamed on the link of the chain that lies there:
// - a collective's transfer: that collective; where it had arrived and queued behind another of its communicator: that
//   other one; where it waited for members: a late peer;
// - a reduce-scatter whose input buffer was to be reused (FlowReason::MemoryLimit): back-pressure;
// - a send or receive, its wait included: the stage at the other end (by a flow of reason Peer, else by the phase);
// - a copy; the host and what it did meanwhile.
// The time after a rank's last op is a pipeline bubble where the timeline has several stages, else a late peer's.
// Timelines without flows (other tools' traces) get the cause of what was under way at that instant instead.
// On every rank, to the nanosecond: sum over causes = transfer + copy + waiting + idle of the breakdown, state by
// state.

#include <array>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "traces/timeline/breakdown.h"
#include "traces/timeline/timeline.h"

namespace shardscope::timeline {

enum class Cause : std::uint8_t {
    AllGather,           ///< of a unit: its parameters had not arrived
    ReduceScatter,       ///< of a unit: its gradients were being summed
    ReduceBackPressure,  ///< of a unit: its reduce-scatter still held the buffer that the next one needs
    AllReduce,           ///< of a unit: its gradients, or their shares, were being summed over the replicas
    OtherCollective,     ///< all-to-all, broadcast
    UpstreamStage,       ///< the stage before: its activations (or our sending of gradients to it)
    DownstreamStage,     ///< the stage after: its gradients (or our sending of activations to it)
    PeerLate,            ///< a member of the collective had not arrived
    HostLaunch,          ///< the host had not issued the work
    HostOptimizer,       ///< the host ran the optimizer
    Copy,                ///< a copy on another stream
    DataLoading,
    SynchronisingCall,  ///< the host waited for the device in a blocking call
    PipelineBubble,     ///< nothing left to do for this stage
    Unknown,
};
inline constexpr std::size_t kCauses = 15;

/// "all-gather", "upstream stage", ...
[[nodiscard]] std::string_view nameOf(Cause cause);
/// With the unit where there is one: "all-gather of blocks.3".
[[nodiscard]] std::string describe(Cause cause, const std::string& unit);

/// A piece of the step outside compute. `span` is the one to blame, kNoIndex where none is.
struct CausedInterval {
    std::int64_t begin = 0, end = 0;
    Cause cause = Cause::Unknown;
    State state = State::Idle;
    StringId unit = 0;
    std::uint32_t span = kNoIndex;
};

/// Time lost to one cause and unit, in all and by state (its Compute entry is 0).
struct CauseTotal {
    Cause cause = Cause::Unknown;
    StringId unit = 0;
    std::int64_t time = 0;  ///< ns
    std::array<std::int64_t, kStates> byState{};
};

/// What held something back until `end` (ns).
struct HeldBack {
    enum class By : std::uint8_t { Nothing, Span, Host } by = By::Nothing;
    std::int64_t end = std::numeric_limits<std::int64_t>::min();
    std::uint32_t span = kNoIndex;  ///< By::Span; By::Host: a span of the host stream, kNoIndex where none is shown
    FlowReason reason = FlowReason::StreamOrder;
};

/// Answers for one timeline, which must outlive it and stay as it is.
class CauseFinder {
public:
    explicit CauseFinder(const Timeline& timeline);

    /// In order of time; adjacent pieces differ in cause, unit, state or span. O(spans + flows) of the rank.
    [[nodiscard]] std::vector<CausedInterval> intervalsOf(std::uint32_t rankIndex) const;
    /// The same with `segmentsOf(timeline, rankIndex)` at hand.
    [[nodiscard]] std::vector<CausedInterval> intervalsOf(std::uint32_t rankIndex,
                                                          const std::vector<Segment>& segments) const;
    /// Largest first; ties by cause, then by unit.
    [[nodiscard]] std::vector<CauseTotal> totalsOf(std::uint32_t rankIndex) const;

    /// What held back the start of `span` longest, on its own rank: of several until one instant the first that the
    /// timeline names, flows before the host before the stream. Not later than the start.
    [[nodiscard]] HeldBack heldBack(std::uint32_t span) const;
    /// What held back the transfer of a collective, send or receive after it had arrived: the peer that arrived last or
    /// the one before it on its communicator, whichever ended later. Nothing where the transfer began at once.
    [[nodiscard]] HeldBack heldBackTransfer(std::uint32_t span) const;

private:
    struct Piece;
    struct Gap;
    [[nodiscard]] std::vector<Gap> gapsOf(std::uint32_t rankIndex, const std::vector<Segment>& segments) const;
    [[nodiscard]] HeldBack blockerOf(std::uint32_t span, std::int64_t before) const;
    void blameGap(const Gap& gap, std::uint32_t rankIndex, std::vector<Piece>& pieces) const;
    void blameChain(HeldBack blocker, std::int64_t begin, std::int64_t end, std::uint32_t rankIndex,
                    std::vector<Piece>& pieces) const;
    void blameHost(std::int64_t begin, std::int64_t end, std::uint32_t rankIndex, Cause otherwise,
                   std::vector<Piece>& pieces) const;
    [[nodiscard]] Piece transferPiece(std::uint32_t span, std::int64_t begin, std::int64_t end,
                                      bool isBackPressure) const;

    const Timeline& m_timeline;
    std::vector<SpanRange> m_lanes;
    std::vector<std::uint32_t> m_flowBegin;  ///< per span, into m_flows
    std::vector<std::uint32_t> m_flows;      ///< indices of flows, by `to`
    bool m_hasStages = false;
};

/// Totals of several ranks added up, each rank `multiplicity` times, largest first.
[[nodiscard]] std::vector<CauseTotal> sumOver(const Timeline& timeline,
                                              const std::vector<std::vector<CauseTotal>>& ranks);

}  // namespace shardscope::timeline
