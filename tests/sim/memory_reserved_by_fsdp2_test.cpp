// What PyTorch's caching allocator reserves for FSDP2 (framework semantics 1.6, rule D, and section 6's "reserved"),
// and what a device holds when the host runs ahead. Units here are larger than a shared segment (20 MiB), so that each
// of their buffers has a segment of its own.

#include <gtest/gtest.h>

#include <functional>

#include "core/graph/build.h"
#include "sim/memory/host_order_walk.h"
#include "sim/memory/step_memory.h"
#include "sim/run/simulate.h"
#include "tests/checkers/support/recorded_case.h"

namespace shardscope {
namespace {

using namespace core;
using enum MemoryCategory;

constexpr std::int64_t kMiB = std::int64_t{1} << 20;

std::int64_t segmentOf(std::int64_t bytes) {
    return (bytes + 2 * kMiB - 1) / (2 * kMiB) * (2 * kMiB);  // of a request of 10 MiB and more
}

struct Large {
    Model model;
    StepGraph graph;
    std::int64_t unit = 0;  ///< bytes of a gathered unit
};

/// 3 blocks of 12.6 million parameters. Shards and the root are below 1 MiB: they come from the small pools.
Large largeToy(const Precision& precision, Reshard::Kind reshard) {
    Large made;
    checkers::ToySizes sizes;
    sizes.model = {.blocks = 3, .d = 512, .h = 12'288};
    Plan plan;
    plan.mesh.dpShard = 64;
    plan.precision = precision;
    plan.fsdp.reshardAfterForward = {reshard, 0};
    made.model = *checkers::toyModel(sizes, precision.compute());
    made.graph = *buildStepGraph(made.model, plan);
    made.unit = made.graph.units.front().paddedElements * sizeOf(precision.compute());
    EXPECT_GT(made.unit, 20 * kMiB);
    return made;
}

std::uint8_t streamOf(const StepGraph& graph, StreamKind kind) {
    for (std::size_t s = 0; s < graph.streams.size(); ++s)
        if (graph.streams[s].kind == kind) return static_cast<std::uint8_t>(s);
    ADD_FAILURE() << "no stream " << nameOf(kind);
    return 0;
}

struct Reserved {
    std::int64_t copyIn = 0, compute = 0;  ///< large segments
};

Reserved reservedFrom(const Large& toy, const sim::CachingAllocator& allocator) {
    return {allocator.reservedOf(streamOf(toy.graph, StreamKind::AllGatherCopyIn), true).value,
            allocator.reservedOf(streamOf(toy.graph, StreamKind::Compute), true).value};
}

/// Beyond what the step began with.
Reserved inForward(const Large& toy) {
    sim::HostOrderWalk walk(toy.graph, ClassId(0));
    const Reserved start = reservedFrom(toy, walk.allocator());
    while (const HostAction* action = walk.next())
        if (action->kind == HostActionKind::Mark && action->mark == Mark::LossBackward) {
            const Reserved end = reservedFrom(toy, walk.allocator());
            return {end.copyIn - start.copyIn, end.compute - start.compute};
        }
    ADD_FAILURE() << "no backward";
    return {};
}

const Precision kMixed{DType::F32, DType::BF16, DType::F32};

TEST(MemoryReserved, ForwardTakesTwoGatherBuffersAndOneUnit) {
    for (const Precision& precision : {kMixed, Precision{}}) {
        const Large toy = largeToy(precision, Reshard::Kind::True);
        const Reserved reserved = inForward(toy);
        EXPECT_EQ(reserved.copyIn, 2 * segmentOf(toy.unit));
        EXPECT_EQ(reserved.compute, segmentOf(toy.unit));
    }
}

TEST(MemoryReserved, WithoutReshardForwardTakesTwoGatherBuffersAndEveryUnit) {
    const Large toy = largeToy(kMixed, Reshard::Kind::False);
    const Reserved reserved = inForward(toy);
    EXPECT_EQ(reserved.copyIn, 2 * segmentOf(toy.unit));
    EXPECT_EQ(reserved.compute, 3 * segmentOf(toy.unit));
}

TEST(MemoryReserved, BackwardNeedsNoGatherBufferMore) {
    for (const auto reshard : {Reshard::Kind::True, Reshard::Kind::False}) {
        const Large toy = largeToy(kMixed, reshard);
        sim::HostOrderWalk walk(toy.graph, ClassId(0));
        while (walk.next() != nullptr) {
        }
        EXPECT_EQ(reservedFrom(toy, walk.allocator()).copyIn, 2 * segmentOf(toy.unit));
        EXPECT_EQ(walk.allocator().reserved(), sim::hostOrderMemory(toy.graph, toy.model, ClassId(0)).reserved);
    }
}

// 1.6: gather buffers come from the copy-in stream's pool, unsharded parameters and reduce-scatter inputs from the
// compute pool, reduce-scatter outputs from the reduce-scatter stream's.
TEST(MemoryReserved, EachKindOfBufferHasThePoolOfTheStreamThatAllocatesIt) {
    const Large toy = largeToy({DType::F32, DType::BF16, DType::BF16}, Reshard::Kind::True);
    std::map<MemoryCategory, int> seen;
    for (const Block& block : toy.graph.blocks) {
        const StreamKind pool = toy.graph.streams[block.pool].kind;
        ++seen[block.category];
        switch (block.category) {
            case GatherBuffers: EXPECT_EQ(pool, StreamKind::AllGatherCopyIn); break;
            case UnshardedParameters:
            case UnshardedGradients:
            case Activations: EXPECT_EQ(pool, StreamKind::Compute); break;
            case ShardedGradients: EXPECT_EQ(pool, StreamKind::ReduceScatter); break;
            case ReduceBuffers: {
                const Unit& unit = toy.graph.units[block.unit.index()];
                const bool input = block.bytes.value == unit.paddedElements * 2;
                EXPECT_EQ(pool, input ? StreamKind::Compute : StreamKind::ReduceScatter);
                break;
            }
            default: break;
        }
    }
    for (const MemoryCategory category : {GatherBuffers, UnshardedParameters, ShardedGradients, ReduceBuffers})
        EXPECT_GT(seen[category], 0) << nameOf(category);
}

// Section 6, single fp32: 16 bytes a parameter; segments round up, and this model's activations are small.
TEST(MemoryReserved, ASingleFp32RankReservesSixteenBytesAParameter) {
    checkers::ToySizes sizes;
    sizes.model = {.blocks = 3, .d = 512, .h = 12'288};
    const Model model = *checkers::toyModel(sizes);
    Plan plan;
    plan.policy = UnitPolicy::None;
    const StepGraph graph = *buildStepGraph(model, plan);
    const std::int64_t reserved = sim::hostOrderMemory(graph, model, ClassId(0)).reserved.value;
    EXPECT_GE(reserved, 16 * parameterCount(model));
    EXPECT_LE(reserved, 17 * parameterCount(model));
}

// 1.6, forward steady state: three units in use on the device when the host runs ahead and gathers are not late.
TEST(MemoryInUse, ForwardHoldsThreeUnitsWhenTheHostRunsAhead) {
    const Large toy = largeToy({}, Reshard::Kind::True);
    sim::Prices prices;
    for (const Op& op : toy.graph.ops)
        prices.duration.push_back(op.kind == OpKind::Compute ? 100 : op.kind == OpKind::AllGather ? 10 : 1);
    prices.release.assign(toy.graph.ops.size(), 0);
    const sim::StepResult result = *sim::simulate(toy.graph, prices);
    std::int64_t loss = result.step;
    for (std::size_t i = 0; i < toy.graph.ops.size(); ++i)
        if (toy.graph.ops[i].kind == OpKind::Compute && toy.graph.ops[i].kernels.backward)
            loss = std::min(loss, result.ranks[0].at.start[i]);

    sim::StepMemory memory = sim::hostOrderMemory(toy.graph, toy.model, ClassId(0));
    std::vector<timeline::Counter> counters;
    timeline::Strings strings;
    sim::addDeviceTimeMemory(toy.graph, toy.model, ClassId(0),
                             {result.ranks[0].at.start, result.ranks[0].at.end, result.step}, memory, &counters,
                             &strings);
    std::map<std::int64_t, std::map<std::string, std::int64_t>> changes;
    for (const timeline::Counter& counter : counters)
        for (std::size_t i = 0; i < counter.time.size(); ++i)
            changes[counter.time[i]][std::string(strings[counter.name])] = counter.value[i];
    std::map<std::string, std::int64_t> now;
    std::int64_t most = 0;
    for (const auto& [time, values] : changes) {
        if (time >= loss) break;
        for (const auto& [name, value] : values) now[name] = value;
        most = std::max(most, now["gather buffers"] + now["unsharded parameters"]);
    }
    const std::int64_t root = toy.graph.units.back().paddedElements * 4;
    EXPECT_EQ(most, 3 * toy.unit + root);
}

}  // namespace
}  // namespace shardscope
