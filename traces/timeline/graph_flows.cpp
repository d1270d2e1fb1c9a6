#include "traces/timeline/graph_flows.h"

#include <algorithm>
#include <unordered_map>

#include "core/graph/graph_checks.h"

namespace shardscope::timeline {

namespace {

struct Member {
    std::size_t row;
    std::uint32_t op;
};

/// Members of one transfer among the ranks at hand: ops with one match number at one coordinate, or ranks of one group.
std::vector<std::vector<Member>> transfersAmong(const core::StepGraph& graph, std::span<const RankOps> ranks) {
    std::vector<std::int64_t> first;  // rank of each class
    std::int64_t firstOfClass = 0;
    for (const core::RankClass& rankClass : graph.classes) {
        first.push_back(firstOfClass);
        firstOfClass += rankClass.multiplicity;
    }
    std::unordered_map<std::uint64_t, std::size_t> place;
    std::vector<std::vector<Member>> transfers;
    for (std::size_t row = 0; row < ranks.size(); ++row) {
        const core::RankClass& rankClass = graph.classes[ranks[row].rankClass.index()];
        const std::int64_t coordinate = ranks[row].rank - first[ranks[row].rankClass.index()];
        for (std::uint32_t id = rankClass.opBegin; id < rankClass.opEnd; ++id) {
            const core::Op& op = graph.ops[id];
            if (!core::isTransfer(op.kind)) continue;
            if (ranks[row].span[id - rankClass.opBegin] == kNoIndex) continue;
            const core::Group& group = graph.groups[op.group.index()];
            const bool matched = op.match != core::kNoMatch;
            const std::int64_t stride = std::max<std::int64_t>(group.stride, 1);
            const std::int64_t base =
                matched ? coordinate
                        : coordinate - coordinate / stride % std::max<std::int64_t>(group.size, 1) * stride;
            const std::uint64_t key = (static_cast<std::uint64_t>(matched) << 63) |
                                      (static_cast<std::uint64_t>(matched ? op.match : id) << 31) |
                                      static_cast<std::uint64_t>(base);
            const auto [at, isNew] = place.try_emplace(key, transfers.size());
            if (isNew) transfers.emplace_back();
            transfers[at->second].push_back({row, id});
        }
    }
    return transfers;
}

}  // namespace

void addGraphFlows(const core::StepGraph& graph, std::span<const RankOps> ranks, bool all, Timeline& timeline) {
    const auto spanOf = [&](std::size_t row, std::uint32_t op) {
        return ranks[row].span[op - graph.classes[ranks[row].rankClass.index()].opBegin];
    };
    for (std::size_t row = 0; row < ranks.size(); ++row) {
        const core::RankClass& rankClass = graph.classes[ranks[row].rankClass.index()];
        for (std::uint32_t op = rankClass.opBegin; op < rankClass.opEnd; ++op)
            for (const core::Edge& edge : graph.waitsOf(core::OpId(op))) {
                if (edge.reason == core::EdgeReason::StreamOrder) continue;
                const std::uint32_t from = spanOf(row, edge.from.value), to = spanOf(row, op);
                if (from != kNoIndex && to != kNoIndex) timeline.flows.push_back({from, to, flowReasonOf(edge.reason)});
            }
    }
    for (const std::vector<Member>& members : transfersAmong(graph, ranks)) {
        if (members.size() < 2) continue;
        const auto span = [&](const Member& member) { return spanOf(member.row, member.op); };
        const auto arrival = [&](const Member& member) { return timeline.spans.start[span(member)]; };
        auto from = std::ranges::find_if(
            members, [&](const Member& member) { return graph.ops[member.op].kind == core::OpKind::Send; });
        if (from == members.end()) {
            from = std::ranges::max_element(members, {}, arrival);
            if (!all && arrival(*from) != timeline.spans.transferStart[span(*from)]) continue;
        }
        for (auto to = members.begin(); to != members.end(); ++to)
            if (to != from) timeline.flows.push_back({span(*from), span(*to), FlowReason::Peer});
    }
}

}  // namespace shardscope::timeline
