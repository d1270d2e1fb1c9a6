#include "sim/engine/static_order.h"

#include <algorithm>

namespace shardscope::sim {

StaticOrder orderOf(const core::StepGraph& graph, const Wiring& wiring) {
    const auto ops = static_cast<std::uint32_t>(graph.ops.size());
    // Key of an op: 2 x (compute ops that it depends on, itself counted); a compute op comes before what depends on it.
    std::vector<std::uint32_t> after(ops), key(ops);
    std::uint32_t computes = 0;
    for (std::uint32_t op = 0; op < ops; ++op) {
        std::uint32_t depends = 0;
        for (const std::uint32_t from : wiring.waitsOf(op)) depends = std::max(depends, after[from]);
        if (wiring.queueBefore[op] != kNoOp) depends = std::max(depends, after[wiring.queueBefore[op]]);
        const bool compute = wiring.role[op] == OpRole::Compute;
        after[op] = compute ? ++computes : depends;
        key[op] = 2 * after[op] + (compute ? 0 : 1);
    }
    // Counting sort: stable, so that ops of one key stay in issue order.
    std::vector<std::uint32_t> place(2 * std::size_t{computes} + 3);
    for (const std::uint32_t k : key) ++place[k + 1];
    for (std::size_t k = 1; k < place.size(); ++k) place[k] += place[k - 1];

    StaticOrder order;
    order.steps.resize(ops);
    std::vector<std::uint32_t> stepOf(ops);
    for (std::uint32_t op = 0; op < ops; ++op) {
        stepOf[op] = place[key[op]]++;
        order.steps[stepOf[op]].op = op;
    }
    std::vector<std::uint32_t> laneOf(graph.streams.size(), StaticOrder::kNever);
    for (std::uint32_t s = 0; s < ops; ++s) {
        StaticOrder::Step& step = order.steps[s];
        step.role = wiring.role[step.op];
        step.waitBegin = static_cast<std::uint32_t>(order.waits.size());
        for (const std::uint32_t from : wiring.waitsOf(step.op)) {
            order.waits.push_back(stepOf[from]);
            if (step.role != OpRole::Transfer) order.steps[stepOf[from]].lastUse = s;
        }
        step.waitEnd = static_cast<std::uint32_t>(order.waits.size());
        step.firstWaits = {s, s};
        const auto waits = order.waitsOf(step);
        std::copy_n(waits.begin(), std::min(waits.size(), step.firstWaits.size()), step.firstWaits.begin());
        switch (step.role) {
            case OpRole::Compute:
                step.number = static_cast<std::uint32_t>(order.compute.size());
                order.compute.push_back(s);
                break;
            case OpRole::Transfer:
                step.number = static_cast<std::uint32_t>(order.transfer.size());
                order.transfer.push_back(s);
                break;
            case OpRole::Copy: {
                std::uint32_t& lane = laneOf[graph.ops[step.op].stream];
                if (lane == StaticOrder::kNever) {
                    lane = static_cast<std::uint32_t>(order.copies.size());
                    order.copies.emplace_back();
                }
                step.number = lane;
                order.copies[lane].push_back(s);
                break;
            }
        }
    }
    return order;
}

}  // namespace shardscope::sim
