#pragma once

// Runs a one-class graph through both engines and through the timeline's breakdown, and compares everything.

#include <gtest/gtest.h>

#include <vector>

#include "sim/engine/clock_engine.h"
#include "sim/run/breakdown_of_run.h"
#include "tests/sim/graph_by_hand.h"

namespace shardscope::tests {

struct OwnClocks {
    std::vector<std::int64_t> offset, ppm;
    explicit OwnClocks(std::size_t ranks) : offset(ranks, 0), ppm(ranks, sim::kNominalPpm) {}
    [[nodiscard]] sim::Clocks view() const { return {static_cast<std::int64_t>(offset.size()), offset, ppm}; }
};

inline void expectEnginesAgree(const core::StepGraph& graph, const sim::Prices& prices, const OwnClocks& clocks) {
    const auto wiring = sim::wire(graph);
    ASSERT_TRUE(wiring.has_value());
    const auto ranks = static_cast<std::int64_t>(clocks.offset.size());
    ASSERT_EQ(sim::ClockEngine::refusal(graph, *wiring, ranks), "");
    auto instances = ranks == 1 ? sim::foldedInstances(graph) : sim::allInstances(graph);
    for (std::size_t r = 0; r < instances.size(); ++r) {
        instances[r].offset = clocks.offset[r];
        instances[r].computePpm = clocks.ppm[r];
    }
    const auto events = runEvents(graph, prices, instances);
    const auto expected = sim::breakdownOfRun(graph, *wiring, instances, events);
    const sim::ClockEngine engine(graph, *wiring);
    const auto run = engine.run(prices, clocks.view());
    ASSERT_EQ(run.end, events.end);
    ASSERT_EQ(run.breakdown.size(), instances.size());
    for (std::size_t r = 0; r < instances.size(); ++r) {
        const auto times = engine.replay(run, prices, clocks.view(), static_cast<std::int64_t>(r));
        const auto reference = events.timesOf(r);
        ASSERT_EQ(times.start, reference.start) << "rank " << r;
        ASSERT_EQ(times.transferStart, reference.transferStart) << "rank " << r;
        ASSERT_EQ(times.end, reference.end) << "rank " << r;
        const auto& b = run.breakdown[r];
        ASSERT_EQ(b.compute + b.transfer + b.copy + b.waiting + b.idle, b.step);
        ASSERT_TRUE(b == expected[r]) << "rank " << r << ": " << b.compute << " " << b.transfer << " " << b.copy << " "
                                      << b.waiting << " " << b.idle << " total " << b.totalTransfer << " "
                                      << b.totalCopy << ", expected " << expected[r].compute << " "
                                      << expected[r].transfer << " " << expected[r].copy << " " << expected[r].waiting
                                      << " " << expected[r].idle << " total " << expected[r].totalTransfer << " "
                                      << expected[r].totalCopy;
    }
}

}  // namespace shardscope::tests
