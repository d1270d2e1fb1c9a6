#include "sim/engine/transfers.h"

#include <algorithm>
#include <string>
#include <tuple>
#include <unordered_map>

namespace shardscope::sim {

using core::ErrorCode;
using core::fail;

namespace {

struct Seat {
    std::uint32_t meeting = 0;  // match number or op
    bool matched = false;
    std::int64_t coordinate = 0;  // what the members have in common
    TransferMembers::Member member;
};

std::string placeOf(const core::StepGraph& graph, std::uint32_t op) {
    return "op " + std::to_string(op) + " of " + graph.classes[graph.ops[op].rankClass.index()].name;
}

}  // namespace

core::Result<TransferMembers> findMembers(const core::StepGraph& graph, std::span<const Instance> instances,
                                          std::span<const std::size_t> firstSlot) {
    std::vector<Seat> seats;
    std::unordered_map<std::uint32_t, std::uint32_t> opsOfMatch;
    for (const core::Op& op : graph.ops)
        if (isTransfer(op.kind) && op.match != core::kNoMatch) ++opsOfMatch[op.match];
    for (std::size_t i = 0; i < instances.size(); ++i) {
        const core::RankClass& rankClass = graph.classes[instances[i].rankClass.index()];
        for (std::uint32_t op = rankClass.opBegin; op < rankClass.opEnd; ++op) {
            const core::Op& o = graph.ops[op];
            if (!isTransfer(o.kind)) continue;
            Seat seat;
            seat.member = {static_cast<std::uint32_t>(i), op,
                           static_cast<std::uint32_t>(firstSlot[i] + op - rankClass.opBegin)};
            seat.matched = o.match != core::kNoMatch;
            seat.meeting = seat.matched ? o.match : op;
            seat.coordinate = instances[i].coordinate;
            if (!seat.matched) {
                const core::Group& group = graph.groups[o.group.index()];
                const std::int64_t stride = std::max<std::int64_t>(group.stride, 1);
                const std::int64_t size = std::max<std::int64_t>(group.size, 1);
                seat.coordinate -= seat.coordinate / stride % size * stride;
            }
            seats.push_back(seat);
        }
    }
    std::sort(seats.begin(), seats.end(), [](const Seat& a, const Seat& b) {
        return std::tuple(a.matched, a.meeting, a.coordinate, a.member.instance, a.member.op) <
               std::tuple(b.matched, b.meeting, b.coordinate, b.member.instance, b.member.op);
    });

    TransferMembers result;
    result.transferOf.assign(firstSlot.back(), kNoOp);
    for (std::size_t i = 0; i < seats.size();) {
        std::size_t end = i;
        std::int64_t ranks = 0;
        while (end < seats.size() && seats[end].matched == seats[i].matched && seats[end].meeting == seats[i].meeting &&
               seats[end].coordinate == seats[i].coordinate) {
            const Seat& seat = seats[end++];
            ranks += instances[seat.member.instance].multiplicity;
            result.transferOf[seat.member.slot] = static_cast<std::uint32_t>(result.memberBegin.size());
        }
        const core::Op& op = graph.ops[seats[i].member.op];
        const core::RankClass& rankClass = graph.classes[op.rankClass.index()];
        const auto members = static_cast<std::int64_t>(end - i);
        if (seats[i].matched) {
            if (members != opsOfMatch[op.match])
                return fail(ErrorCode::Input, "a transfer between classes of which not every end is simulated",
                            placeOf(graph, seats[i].member.op),
                            "simulate classes that meet alike: all folded or rank by rank");
        } else {
            const std::int64_t size = graph.groups[op.group.index()].size;
            const bool folded = members == 1 && ranks == rankClass.multiplicity;
            if (!folded && ranks != size)
                return fail(ErrorCode::Input,
                            "a group of " + std::to_string(size) + " ranks of which " + std::to_string(ranks) +
                                " are simulated",
                            placeOf(graph, seats[i].member.op), "simulate a class as one instance or rank by rank");
        }
        result.memberBegin.push_back(static_cast<std::uint32_t>(result.members.size()));
        for (; i < end; ++i) result.members.push_back(seats[i].member);
    }
    result.memberBegin.push_back(static_cast<std::uint32_t>(result.members.size()));
    return result;
}

}  // namespace shardscope::sim
