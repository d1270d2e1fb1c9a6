#pragma once

// Replays a stream program: the operations that PyTorch's FSDP2 enqueued, with their streams, waits and events, as the
// recordings list them ("schedules.jsonl", field stream_program). It becomes a step graph with given durations.

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "core/base/document.h"
#include "core/graph/graph_builder.h"
#include "sim/engine/event_engine.h"
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
    core::RankClass all;
    all.name = "all ranks";
    builder.beginClass(all);
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

inline std::int64_t nsOf(const core::Document* milliseconds) {
    return milliseconds == nullptr ? -1 : std::llround(milliseconds->number() * 1e6);
}

inline std::string rowOf(const std::string& operation, const std::string& unit, std::int64_t start, std::int64_t end) {
    return operation + " " + unit + " " + std::to_string(start) + " " + std::to_string(end);
}

/// Where the replay of a stream program departs from its recorded timeline; empty if nowhere.
inline std::string replayDifference(const core::Document& timeline, const core::Document& program,
                                    const core::Document& defaults, const core::Document& durations) {
    const auto replay = replayGraph(program, ReplayDurations(defaults, durations));
    if (!replay) return core::describe(replay.error());
    const core::StepGraph& graph = replay->graph;
    const auto wiring = sim::wire(graph);
    if (!wiring) return core::describe(wiring.error());
    const auto run = sim::runEvents(graph, *wiring, replay->prices, sim::foldedInstances(graph));
    if (!run) return core::describe(run.error());

    std::int64_t busy = 0;
    std::vector<std::string> rows;
    for (std::size_t i = 0; i < graph.ops.size(); ++i) {
        const std::int64_t start = run->times.transferStart[i], end = run->times.end[i];
        if (wiring->role[i] == sim::OpRole::Compute) busy += end - start;
        if (replay->prices.duration[i] > 0) rows.push_back(rowOf(replay->operation[i], replay->unit[i], start, end));
    }
    const auto expect = [&](const char* name, std::int64_t found) -> std::string {
        const std::int64_t expected = nsOf(timeline.find(name));
        if (expected == found) return {};
        return std::string(name) + " " + std::to_string(found) + " ns, expected " + std::to_string(expected);
    };
    for (const std::string& difference :
         {expect("makespan", run->end), expect("compute_busy", busy), expect("exposed", run->end - busy)})
        if (!difference.empty()) return difference;
    const core::Document* ops = timeline.find("ops");
    if (ops == nullptr) return {};
    for (std::size_t i = 0; i < std::max(rows.size(), ops->items.size()); ++i) {
        std::string expected = "nothing", found = i < rows.size() ? rows[i] : "nothing";
        if (i < ops->items.size() && ops->items[i].items.size() == 4) {
            const auto& row = ops->items[i].items;
            expected = rowOf(row[0].text, row[1].text, nsOf(&row[2]), nsOf(&row[3]));
        }
        if (expected != found) return "operation " + std::to_string(i) + ": " + found + ", expected " + expected;
    }
    return {};
}

}  // namespace shardscope::tests
