#pragma once

// Replays a stream program: the operations that PyTorch's FSDP2 enqueued, with their streams, waits and events, as the
// recordings list them ("schedules.jsonl", field stream_program). It becomes a step graph with given durations.

#include <cmath>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "core/base/document.h"
#include "core/graph/graph_builder.h"
#include "sim/price/prices.h"

namespace shardscope::tests {

struct StreamProgram {
    core::StepGraph graph;
    sim::Prices prices;
    std::vector<std::string> operation, unit;  // by op
};

/// Durations of the recordings' replay, in milliseconds: "a", "r", "f", "b", "co", "ci", "ar" of blocks and small_* of
/// others.
class ReplayDurations {
public:
    ReplayDurations(const core::Document& defaults, const core::Document& set) : m_defaults(defaults), m_set(set) {}

    /// Nanoseconds of an operation of a unit; `leaf`: no other unit lies inside the unit.
    [[nodiscard]] std::int64_t of(const std::string& operation, const std::string& unit, bool leaf) const {
        const bool block = unit.starts_with("blocks.");
        if (operation == "ag") return ns(block ? "a" : "small_ag");
        if (operation == "rs") return ns(block ? "r" : "small_rs");
        if (operation == "ar") return ns(block ? "ar" : "small_ar");
        if (operation == "copy_out") return ns(block ? "co" : "small_copy");
        if (operation == "rs_copy_in") return ns(block ? "ci" : "small_copy");
        if (operation == "fwd_end") return block ? (leaf ? ns("f") : 0) : ns(unit + "_forward");
        if (operation == "bwd_end") return block && leaf ? ns("b") : 0;
        if (operation == "bwd_begin") return block ? 0 : ns(unit + "_backward");
        if (operation == "re_stop" || operation == "re_end") return block && leaf ? ns("f") : 0;  // recompute = f
        return 0;
    }

private:
    [[nodiscard]] std::int64_t ns(const std::string& key) const {
        const core::Document* value = m_set.find(key);
        if (value == nullptr) value = m_defaults.find(key);
        if (value == nullptr || !value->isNumber()) return 0;
        return std::llround(value->number() * 1e6);
    }
    const core::Document& m_defaults;
    const core::Document& m_set;
};

inline core::OpKind replayKindOf(const std::string& operation) {
    if (operation == "ag") return core::OpKind::AllGather;
    if (operation == "rs") return core::OpKind::ReduceScatter;
    if (operation == "ar") return core::OpKind::AllReduce;
    if (operation == "copy_in") return core::OpKind::GatherCopyIn;
    if (operation == "copy_out") return core::OpKind::CopyOut;
    if (operation == "rs_copy_in") return core::OpKind::ReduceCopyIn;
    return core::OpKind::Compute;
}

inline core::StreamKind replayStreamOf(const std::string& name) {
    if (name.starts_with("ag_copy_in")) return core::StreamKind::AllGatherCopyIn;
    if (name.starts_with("ag")) return core::StreamKind::AllGather;
    if (name.starts_with("rs")) return core::StreamKind::ReduceScatter;
    if (name.starts_with("ar")) return core::StreamKind::AllReduce;
    return core::StreamKind::Compute;
}

/// Every stream is a queue; waits hold the next operation of the waiting stream; an event name stands for its latest
/// record; one queue per communicator.
inline core::Result<StreamProgram> replayGraph(const core::Document& program, const ReplayDurations& durations) {
    StreamProgram result;
    core::GraphBuilder builder;
    std::map<std::string, std::uint8_t> streams;
    std::map<std::string, core::GroupId> groups;
    std::map<std::string, core::GraphBuilder::Moment> events;
    std::set<std::string> units;
    const auto text = [](const core::Document& entry, std::size_t i) {
        return i < entry.items.size() ? entry.items[i].text : std::string();
    };
    const auto streamOf = [&](const std::string& name) {
        const auto found = streams.find(name);
        return found != streams.end() ? found->second : streams[name] = builder.addStream(replayStreamOf(name), name);
    };
    for (const core::Document& entry : program.items) {
        streamOf(text(entry, 1));
        if (text(entry, 0) == "wait_stream") streamOf(text(entry, 2));
        if (text(entry, 0) == "fwd_end" || text(entry, 0) == "ag") units.insert(text(entry, 2));
    }
    builder.beginClass({.name = "all ranks"});
    const auto isLeaf = [&](const std::string& unit) {
        const auto next = units.upper_bound(unit + ".");
        return next == units.end() || !next->starts_with(unit + ".");
    };
    for (const core::Document& entry : program.items) {
        const std::string what = text(entry, 0), third = text(entry, 2);
        const std::uint8_t stream = streamOf(text(entry, 1));
        if (what == "wait_stream") {
            builder.waitStream(stream, streamOf(third));
        } else if (what == "record") {
            events[third] = builder.record(stream);
        } else if (what == "wait_event") {
            const auto event = events.find(third);
            if (event == events.end())
                return core::fail(core::ErrorCode::Input,
                                  "a wait for the event " + third + ", which was never recorded", "stream program");
            builder.waitMoment(stream, event->second);
        } else {
            const std::int64_t duration = durations.of(what, third, isLeaf(third));
            core::Op op;
            op.kind = replayKindOf(what);
            if (duration == 0 && op.kind == core::OpKind::Compute) continue;  // an event, not an operation
            op.stream = stream;
            if (what == "ag" || what == "rs" || what == "ar") {
                const std::string communicator = text(entry, 3);
                if (!groups.contains(communicator)) {
                    core::Group group;
                    group.communicator = static_cast<std::uint32_t>(groups.size());
                    group.name = communicator;
                    groups[communicator] = builder.addGroup(group);
                }
                op.group = groups[communicator];
            }
            builder.addOp(op);
            result.prices.duration.push_back(duration);
            result.operation.push_back(what);
            result.unit.push_back(third);
        }
    }
    SHARDSCOPE_ASSIGN(result.graph, builder.freeze());
    result.prices.release.assign(result.graph.ops.size(), 0);
    return result;
}

}  // namespace shardscope::tests
