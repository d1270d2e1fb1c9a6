#pragma once

// A timeline written by hand, a line a span.

#include <string>
#include <string_view>

#include "traces/timeline/timeline.h"

namespace shardscope::timeline {

class HandMade {
public:
    /// Lanes of one rank: `streams` separated by spaces; "compute" is the compute stream.
    HandMade& rank(std::string_view streams, std::int64_t stepEnd, std::int64_t stage = 0) {
        RankRow row;
        row.rank = static_cast<std::int64_t>(made.ranks.size());
        row.stage = stage;
        row.stepEnd = stepEnd;
        row.name = made.strings.intern("rank " + std::to_string(row.rank));
        row.laneBegin = static_cast<std::uint32_t>(made.lanes.size());
        while (!streams.empty()) {
            const std::string_view stream = streams.substr(0, streams.find(' '));
            streams.remove_prefix(std::min(streams.size(), stream.size() + 1));
            Lane lane;
            lane.rank = row.rank;
            lane.rankName = row.name;
            lane.stream = made.strings.intern(stream);
            lane.computeStream = stream == "compute";
            lane.rankIndex = static_cast<std::uint32_t>(made.ranks.size());
            made.lanes.push_back(lane);
        }
        row.laneEnd = static_cast<std::uint32_t>(made.lanes.size());
        made.ranks.push_back(row);
        return *this;
    }

    /// A span on `stream` of the last rank; `arrived` is where the transfer begins.
    std::uint32_t span(std::string_view stream, Activity activity, std::int64_t start, std::int64_t end,
                       std::string_view unit = "", std::int64_t arrived = kNotIssued,
                       core::Phase phase = core::Phase::Forward, std::int64_t issued = kNotIssued) {
        SpanRow row;
        row.lane = laneOf(stream);
        row.start = start;
        row.end = end;
        row.transferStart = arrived;
        row.unit = made.strings.intern(unit);
        row.name = made.strings.intern(std::string(nameOf(activity)) + (unit.empty() ? "" : " ") + std::string(unit));
        row.activity = activity;
        row.phase = phase;
        row.issued = issued;
        if (activity == Activity::Send || activity == Activity::Receive) {
            row.kind = SpanKind::PointToPoint;
        } else if (activity >= Activity::AllGather && activity <= Activity::Broadcast) {
            row.kind = SpanKind::Collective;
        } else if (stream == "host") {
            row.kind = SpanKind::Host;
        } else {
            row.kind = stream == "compute" ? SpanKind::Compute : SpanKind::Copy;
        }
        return append(made, row);
    }

    void flow(std::uint32_t from, std::uint32_t to, FlowReason reason) { made.flows.push_back({from, to, reason}); }

    [[nodiscard]] Timeline finish() {
        arrange(made);
        return std::move(made);
    }

    Timeline made;

private:
    [[nodiscard]] std::uint32_t laneOf(std::string_view stream) const {
        for (std::uint32_t i = made.ranks.back().laneBegin; i < made.ranks.back().laneEnd; ++i) {
            if (made.strings[made.lanes[i].stream] == stream) return i;
        }
        return kNoIndex;
    }
};

}  // namespace shardscope::timeline
