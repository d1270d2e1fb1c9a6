#pragma once

// Small step graphs written by hand, with the price of every op beside it.

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "core/graph/graph_builder.h"
#include "sim/engine/event_engine.h"

namespace shardscope::tests {

class GraphByHand {
public:
    core::GraphBuilder builder;
    sim::Prices prices;

    std::uint8_t stream(core::StreamKind kind, std::string name = {}) {
        return builder.addStream(kind, std::move(name));
    }

    core::GroupId group(std::int64_t size, std::uint32_t communicator = 0, std::uint32_t links = 0,
                        std::int64_t stride = 1) {
        core::Group g;
        g.size = size;
        g.stride = stride;
        g.communicator = communicator;
        prices.links.push_back(links);
        return builder.addGroup(g);
    }

    void beginClass(std::int64_t ranks, std::string name = "all ranks") {
        core::RankClass c;
        c.name = std::move(name);
        c.multiplicity = ranks;
        c.stage = m_stage++;
        builder.beginClass(c);
    }

    core::OpId op(core::OpKind kind, std::uint8_t stream, std::int64_t duration,
                  const std::vector<core::OpId>& waits = {}, core::GroupId group = {}, std::int64_t release = 0,
                  std::uint32_t match = 0xffffffffu) {
        core::Op o;
        o.kind = kind;
        o.stream = stream;
        o.group = group;
        o.match = match;
        for (const core::OpId wait : waits) builder.waitOp(stream, wait);
        prices.duration.push_back(duration);
        prices.release.push_back(release);
        return builder.addOp(o);
    }

    /// Freezes the graph; fails the test where that is an error.
    core::StepGraph freeze() {
        auto graph = builder.freeze();
        EXPECT_TRUE(graph.has_value()) << (graph ? "" : core::describe(graph.error()));
        return graph ? std::move(*graph) : core::StepGraph();
    }

private:
    std::int64_t m_stage = 0;
};

inline sim::EventRun runEvents(const core::StepGraph& graph, const sim::Prices& prices,
                               const std::vector<sim::Instance>& instances) {
    const auto wiring = sim::wire(graph);
    EXPECT_TRUE(wiring.has_value()) << (wiring ? "" : core::describe(wiring.error()));
    if (!wiring) return {};
    auto run = sim::runEvents(graph, *wiring, prices, instances);
    EXPECT_TRUE(run.has_value()) << (run ? "" : core::describe(run.error()));
    return run ? std::move(*run) : sim::EventRun();
}

}  // namespace shardscope::tests
