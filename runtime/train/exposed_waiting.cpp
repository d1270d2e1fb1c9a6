#include "runtime/train/exposed_waiting.h"

#include <algorithm>
#include <vector>

namespace shardscope::runtime {

std::int64_t exposedWaiting(const core::StepGraph& graph, const StepOutcome& outcome) {
    struct Edge {
        std::int64_t at;
        int busy, waiting;  // how many more from here on
    };
    std::vector<Edge> edges;
    edges.reserve(outcome.times.size() * 3);
    for (const OpTimes& times : outcome.times) {
        const core::Op& op = graph.ops[times.op.index()];
        const bool transfers = op.group.valid();
        if (!transfers && graph.streams[op.stream].kind == core::StreamKind::Host) continue;
        const std::int64_t busy = transfers ? std::clamp(times.transferStart, times.start, times.end) : times.start;
        if (busy > times.start) {
            edges.push_back({times.start, 0, 1});
            edges.push_back({busy, 0, -1});
        }
        edges.push_back({busy, 1, 0});
        edges.push_back({times.end, -1, 0});
    }
    std::sort(edges.begin(), edges.end(), [](const Edge& a, const Edge& b) { return a.at < b.at; });
    std::int64_t sum = 0, since = 0;
    int busy = 0, waiting = 0;
    for (const Edge& edge : edges) {
        if (busy == 0 && waiting > 0) sum += edge.at - since;
        busy += edge.busy;
        waiting += edge.waiting;
        since = edge.at;
    }
    return sum;
}

}  // namespace shardscope::runtime
