#pragma once

// Random step graphs of one class, with prices: compute, gathers, reductions, copies on two streams and host work, each
// op waiting for a few earlier ones; many durations are zero or equal, so that instants coincide.

#include <random>
#include <vector>

#include "tests/sim/graph_by_hand.h"

namespace shardscope::tests {

struct RandomGraph {
    core::StepGraph graph;
    sim::Prices prices;
};

struct RandomGraphShape {
    std::int64_t ranks = 1;
    std::uint32_t communicators = 1;
    bool hostTimes = true;
};

inline RandomGraph randomGraph(std::mt19937_64& random, const RandomGraphShape& shape) {
    const auto below = [&](std::int64_t n) {
        return static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(n));
    };
    GraphByHand g;
    const std::uint8_t streams[] = {g.stream(core::StreamKind::Compute), g.stream(core::StreamKind::AllGather),
                                    g.stream(core::StreamKind::ReduceScatter),
                                    g.stream(core::StreamKind::AllGatherCopyIn),
                                    g.stream(core::StreamKind::AllGatherCopyIn, "another")};
    std::vector<core::GroupId> groups;
    for (std::uint32_t c = 0; c < shape.communicators; ++c)
        groups.push_back(g.group(shape.ranks, c, static_cast<std::uint32_t>(below(4))));
    g.beginClass(shape.ranks);
    const std::int64_t ops = 1 + below(80), scale = below(2) == 0 ? 12 : 100'000;
    const std::int64_t waits = below(4);
    std::vector<core::OpId> all;
    std::int64_t issued = 0;
    for (std::int64_t i = 0; i < ops; ++i) {
        std::vector<core::OpId> from;
        for (std::int64_t w = 0; w < waits && !all.empty(); ++w)
            from.push_back(all[all.size() - 1 - static_cast<std::size_t>(below(std::min<std::int64_t>(i, 9)))]);
        const std::int64_t duration = below(4) == 0 ? 0 : below(scale);
        if (shape.hostTimes && below(3) == 0) issued += below(scale);
        const std::int64_t what = below(10);
        const core::GroupId group = groups[static_cast<std::size_t>(below(shape.communicators))];
        if (what < 4)
            all.push_back(g.op(core::OpKind::Compute, streams[0], duration, from, {}, issued));
        else if (what < 6)
            all.push_back(g.op(core::OpKind::AllGather, streams[1], duration, from, group, issued));
        else if (what < 7)
            all.push_back(g.op(core::OpKind::ReduceScatter, streams[2], duration, from, group, issued));
        else if (what < 8)
            all.push_back(g.op(core::OpKind::GatherCopyIn, streams[3], duration, from, {}, issued));
        else if (what < 9)
            all.push_back(g.op(core::OpKind::ReduceCopyOut, streams[2], duration, from, {}, issued));
        else
            all.push_back(g.op(core::OpKind::KeepSlice, streams[4], duration, from, {}, issued));
    }
    constexpr std::int32_t kSlow[][2] = {{1, 1}, {1100, 1000}, {7, 5}, {3, 1}, {1731, 1000}};
    const auto& slow = kSlow[below(5)];
    g.prices.slowNum = slow[0];
    g.prices.slowDen = slow[1];
    RandomGraph result;
    result.graph = g.freeze();
    result.prices = g.prices;
    return result;
}

}  // namespace shardscope::tests
