#include "sim/engine/clocks.h"

#include <algorithm>
#include <string>

namespace shardscope::sim {

using core::ErrorCode;
using core::fail;

std::vector<Instance> foldedInstances(const core::StepGraph& graph) {
    std::vector<Instance> instances;
    for (std::size_t c = 0; c < graph.classes.size(); ++c)
        instances.push_back({core::ClassId(c), 0, graph.classes[c].multiplicity});
    return instances;
}

std::vector<Instance> allInstances(const core::StepGraph& graph) {
    std::vector<Instance> instances;
    for (std::size_t c = 0; c < graph.classes.size(); ++c)
        for (std::int64_t rank = 0; rank < graph.classes[c].multiplicity; ++rank)
            instances.push_back({core::ClassId(c), rank, 1});
    return instances;
}

core::Result<void> checkClocks(const core::StepGraph& graph, const Prices& prices, std::int64_t largestOffset,
                               std::int64_t largestPpm) {
    const std::size_t ops = graph.ops.size();
    if (prices.duration.size() != ops || prices.release.size() != ops)
        return fail(
            ErrorCode::Input,
            "prices for " + std::to_string(prices.duration.size()) + " ops, the graph has " + std::to_string(ops),
            "price table");
    if (!prices.links.empty() && prices.links.size() != graph.groups.size())
        return fail(ErrorCode::Input,
                    "links for " + std::to_string(prices.links.size()) + " groups, the graph has " +
                        std::to_string(graph.groups.size()),
                    "price table");
    if (prices.slowDen < 1 || prices.slowNum < prices.slowDen || prices.slowNum > 1'000'000)
        return fail(ErrorCode::Input,
                    "a slow-down of " + std::to_string(prices.slowNum) + "/" + std::to_string(prices.slowDen) +
                        ", expected at least 1 with terms up to 1000000",
                    "price table");
    if (largestOffset < 0 || largestPpm < 1 || largestPpm > 1'000 * kNominalPpm)
        return fail(ErrorCode::Input, "a start offset below 0 or a compute speed outside 1 .. 1000000000 ppm",
                    "clocks");
    // Worst case: everything one after another, at the slowest speed, all transfers sharing one link.
    std::int64_t durations = 0, releases = 0;  // all of them, bit by bit: at most twice the largest
    for (std::size_t i = 0; i < ops; ++i) durations |= prices.duration[i];
    for (std::size_t i = 0; i < ops; ++i) releases |= prices.release[i];
    if ((durations | releases) < 0) {
        std::size_t op = 0;
        while (prices.duration[op] >= 0 && prices.release[op] >= 0) ++op;
        return fail(ErrorCode::Input, "a negative duration or release time", "op " + std::to_string(op));
    }
    const auto tooLong = [&](std::int64_t duration, std::int64_t release) {
        const double sum = static_cast<double>(largestOffset) + static_cast<double>(release) +
                           static_cast<double>(duration) * static_cast<double>(ops);
        const double slowest = static_cast<double>(largestPpm) / static_cast<double>(kNominalPpm) *
                               (static_cast<double>(prices.slowNum) / static_cast<double>(prices.slowDen));
        const double work = static_cast<double>(duration) * static_cast<double>(largestPpm) *
                            std::max(1.0, static_cast<double>(prices.slowNum) / static_cast<double>(kNominalPpm));
        return sum * std::max(1.0, slowest) > 4e18 || work > 4e18;
    };
    if (tooLong(durations, releases) && tooLong(*std::max_element(prices.duration.begin(), prices.duration.end()),
                                                *std::max_element(prices.release.begin(), prices.release.end())))
        return fail(ErrorCode::Input, "durations that add up to more than 64-bit nanoseconds hold", "price table",
                    "an op of more than an hour is a mistake in the sizes or in the hardware's rates");
    return {};
}

}  // namespace shardscope::sim
