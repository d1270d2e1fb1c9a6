#include "traces/timeline/timeline.h"

#include <algorithm>
#include <array>
#include <cassert>
#include <numeric>

namespace shardscope::timeline {

static_assert(static_cast<int>(FlowReason::Data) == static_cast<int>(core::EdgeReason::Data));
static_assert(static_cast<int>(FlowReason::StreamOrder) == static_cast<int>(core::EdgeReason::StreamOrder));
static_assert(static_cast<int>(FlowReason::EventWait) == static_cast<int>(core::EdgeReason::EventWait));
static_assert(static_cast<int>(FlowReason::MemoryLimit) == static_cast<int>(core::EdgeReason::MemoryLimit));
static_assert(static_cast<int>(FlowReason::Communicator) == static_cast<int>(core::EdgeReason::Communicator));

StringId Strings::intern(std::string_view text) {
    if (const auto known = m_ids.find(text); known != m_ids.end()) return known->second;
    const auto entry = m_ids.emplace(text, static_cast<StringId>(m_texts.size())).first;
    m_texts.push_back(&entry->first);
    return entry->second;
}

Strings::Strings(const Strings& other) : m_ids(other.m_ids), m_texts(other.m_texts.size()) {
    for (const auto& [text, id] : m_ids) m_texts[id] = &text;
}

Strings& Strings::operator=(const Strings& other) {
    return *this = Strings(other);
}

std::string_view nameOf(Activity activity) {
    static constexpr std::array<std::string_view, kActivities> kNames = {
        "other",        "kernels",         "gather copy-in", "copy-out",       "reduce copy-in", "reduce copy-out",
        "divide",       "add gradient",    "optimizer step", "all-gather",     "reduce-scatter", "all-reduce",
        "all-to-all",   "broadcast",       "send",           "receive",        "memory copy",    "host work",
        "data loading", "synchronisation", "keep slice",     "cast parameters"};
    return kNames[static_cast<std::size_t>(activity)];
}

std::string_view nameOf(FlowReason reason) {
    static constexpr std::array<std::string_view, 7> kNames = {
        "data", "stream order", "event wait", "memory limit", "communicator", "launch", "peer"};
    return kNames[static_cast<std::size_t>(reason)];
}

FlowReason flowReasonOf(core::EdgeReason reason) {
    return static_cast<FlowReason>(reason);
}

Activity activityOf(core::OpKind kind) {
    switch (kind) {
        case core::OpKind::Compute: return Activity::Kernels;
        case core::OpKind::GatherCopyIn: return Activity::GatherCopyIn;
        case core::OpKind::AllGather: return Activity::AllGather;
        case core::OpKind::CopyOut: return Activity::CopyOut;
        case core::OpKind::BucketCopyIn:
        case core::OpKind::ReduceCopyIn: return Activity::ReduceCopyIn;
        case core::OpKind::PreDivide:
        case core::OpKind::PostDivide: return Activity::Divide;
        case core::OpKind::ReduceScatter: return Activity::ReduceScatter;
        case core::OpKind::BucketCopyOut:
        case core::OpKind::ReduceCopyOut: return Activity::ReduceCopyOut;
        case core::OpKind::AllReduce: return Activity::AllReduce;
        case core::OpKind::Send: return Activity::Send;
        case core::OpKind::Receive: return Activity::Receive;
        case core::OpKind::CastParameters: return Activity::CastParameters;
        case core::OpKind::KeepSlice: return Activity::KeepSlice;
        case core::OpKind::AddPartial:
        case core::OpKind::KeepGradients:
        case core::OpKind::AddGradient: return Activity::AddGradient;
        case core::OpKind::GradientNorm:
        case core::OpKind::ScaleGradients:
        case core::OpKind::OptimizerStep: return Activity::OptimizerStep;
        case core::OpKind::CopyToDevice:
        case core::OpKind::CopyToHost: return Activity::MemoryCopy;
    }
    return Activity::Other;
}

bool isCopy(Activity activity) {
    switch (activity) {
        case Activity::GatherCopyIn:
        case Activity::CopyOut:
        case Activity::ReduceCopyIn:
        case Activity::ReduceCopyOut:
        case Activity::Divide:
        case Activity::MemoryCopy:
        case Activity::CastParameters:
        case Activity::KeepSlice: return true;
        default: return false;
    }
}

SpanKind spanKindOf(core::OpKind kind, core::StreamKind stream) {
    switch (kind) {
        case core::OpKind::AllGather:
        case core::OpKind::ReduceScatter:
        case core::OpKind::AllReduce: return SpanKind::Collective;
        case core::OpKind::Send:
        case core::OpKind::Receive: return SpanKind::PointToPoint;
        default: break;
    }
    if (stream == core::StreamKind::Host) return SpanKind::Host;
    return stream == core::StreamKind::Compute ? SpanKind::Compute : SpanKind::Copy;
}

std::uint32_t append(Timeline& timeline, const SpanRow& row) {
    assert(row.start <= row.end && row.lane < timeline.lanes.size());
    Spans& s = timeline.spans;
    const std::uint32_t index = static_cast<std::uint32_t>(s.size());
    s.lane.push_back(row.lane);
    s.start.push_back(row.start);
    s.end.push_back(row.end);
    s.transferStart.push_back(row.transferStart == kNotIssued ? row.start : row.transferStart);
    s.name.push_back(row.name);
    s.unit.push_back(row.unit);
    s.kind.push_back(static_cast<std::uint8_t>(row.kind));
    s.phase.push_back(static_cast<std::uint8_t>(row.phase));
    s.activity.push_back(static_cast<std::uint8_t>(row.activity));
    s.microBatch.push_back(row.microBatch);
    s.op.push_back(row.op);
    s.bytes.push_back(row.bytes);
    s.dtype.push_back(row.dtype);
    s.group.push_back(row.group);
    s.issued.push_back(row.issued);
    return index;
}

namespace {

template <class T>
void permute(std::vector<T>& column, const std::vector<std::uint32_t>& order) {
    std::vector<T> sorted(column.size());
    for (std::size_t i = 0; i < order.size(); ++i) sorted[i] = column[order[i]];
    column = std::move(sorted);
}

}  // namespace

void arrange(Timeline& timeline) {
    Spans& s = timeline.spans;
    const auto before = [&](std::uint32_t a, std::uint32_t b) {
        if (s.lane[a] != s.lane[b]) return s.lane[a] < s.lane[b];
        if (s.start[a] != s.start[b]) return s.start[a] < s.start[b];
        return s.end[a] < s.end[b];
    };
    std::vector<std::uint32_t> order(s.size());
    std::iota(order.begin(), order.end(), 0u);
    if (!std::is_sorted(order.begin(), order.end(), before)) {
        std::stable_sort(order.begin(), order.end(), before);
        permute(s.lane, order);
        permute(s.start, order);
        permute(s.end, order);
        permute(s.transferStart, order);
        permute(s.name, order);
        permute(s.unit, order);
        permute(s.kind, order);
        permute(s.phase, order);
        permute(s.activity, order);
        permute(s.microBatch, order);
        permute(s.op, order);
        permute(s.bytes, order);
        permute(s.dtype, order);
        permute(s.group, order);
        permute(s.issued, order);
        std::vector<std::uint32_t> place(order.size());
        for (std::uint32_t i = 0; i < order.size(); ++i) place[order[i]] = i;
        for (Flow& flow : timeline.flows) {
            flow.from = place[flow.from];
            flow.to = place[flow.to];
        }
    }
    std::vector<std::int64_t> lastEnd(timeline.ranks.size(), 0);
    for (std::size_t i = 0; i < s.size(); ++i) {
        std::int64_t& last = lastEnd[timeline.lanes[s.lane[i]].rankIndex];
        last = std::max(last, s.end[i]);
    }
    for (std::size_t r = 0; r < timeline.ranks.size(); ++r) {
        timeline.end = std::max({timeline.end, lastEnd[r], timeline.ranks[r].stepEnd});
    }
    for (RankRow& rank : timeline.ranks) {
        if (rank.stepEnd == 0) rank.stepEnd = timeline.end;
    }
}

std::vector<SpanRange> spansOfLanes(const Timeline& timeline) {
    std::vector<SpanRange> ranges(timeline.lanes.size());
    const std::vector<std::uint32_t>& lane = timeline.spans.lane;
    for (std::uint32_t i = 0; i < lane.size();) {
        std::uint32_t end = i + 1;
        while (end < lane.size() && lane[end] == lane[i]) ++end;
        assert(ranges[lane[i]].end == 0 && "spans of a lane are contiguous");
        ranges[lane[i]] = {i, end};
        i = end;
    }
    return ranges;
}

}  // namespace shardscope::timeline
