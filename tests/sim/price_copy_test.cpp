// Copies beside collectives: the bytes they move (framework semantics 1.8) and what those take.

#include "sim/price/copy_price.h"

#include <gtest/gtest.h>

#include "core/graph/build.h"
#include "sim/price/price_graph.h"
#include "tests/checkers/support/recorded_case.h"

namespace shardscope::sim {
namespace {

using core::DType;
using core::OpKind;

struct Traffic {
    std::int64_t read = 0, written = 0, launches = 0;
    friend bool operator==(const Traffic&, const Traffic&) = default;
    friend void PrintTo(const Traffic& t, std::ostream* os) {
        *os << t.read << " read, " << t.written << " written, " << t.launches << " launches";
    }
};

constexpr std::int64_t kRanks = 4;

core::StepGraph graphOf(const core::Precision& precision) {
    checkers::ToySizes sizes;
    sizes.model.d = 7;  // padded: no dimension of 7 divides by 4
    core::Plan plan;
    plan.mesh.dpShard = kRanks;
    plan.precision = precision;
    plan.fsdp.reshardAfterForward = {core::Reshard::Kind::True, 0};
    return *core::buildStepGraph(*checkers::toyModel(sizes, precision.compute()), plan);
}

/// Of the first op of the kind and of the first unit.
Traffic trafficOf(const core::StepGraph& graph, OpKind kind) {
    for (const core::Op& op : graph.ops)
        if (op.kind == kind && op.unit == core::UnitId(std::size_t{0}))
            return {op.read.value, op.written.value, op.launches};
    ADD_FAILURE() << "no " << core::nameOf(kind);
    return {};
}

TEST(CopyTraffic, IsThatOfTheTableForBf16AndFp32Reduction) {
    const core::StepGraph graph = graphOf({DType::F32, DType::BF16, DType::F32});
    const std::int64_t own = graph.units[0].elements, padded = graph.units[0].paddedElements;
    ASSERT_GT(padded, own);
    // Cast and copy into the slot; copy-out; reduce-scatter copy-in; the sharded gradients are views.
    EXPECT_EQ(trafficOf(graph, OpKind::GatherCopyIn),
              (Traffic{(4 + 2) * padded / kRanks, (2 + 2) * padded / kRanks, 2}));
    EXPECT_EQ(trafficOf(graph, OpKind::CopyOut), (Traffic{2 * padded, 2 * padded, 1}));
    EXPECT_EQ(trafficOf(graph, OpKind::ReduceCopyIn), (Traffic{2 * own, 4 * padded, 1}));
    EXPECT_EQ(trafficOf(graph, OpKind::ReduceCopyOut), (Traffic{0, 0, 0}));
}

TEST(CopyTraffic, WithoutMixedPrecisionTheShardIsTheSource) {
    const core::StepGraph graph = graphOf({});
    const std::int64_t own = graph.units[0].elements, padded = graph.units[0].paddedElements;
    EXPECT_EQ(trafficOf(graph, OpKind::GatherCopyIn), (Traffic{4 * padded / kRanks, 4 * padded / kRanks, 1}));
    EXPECT_EQ(trafficOf(graph, OpKind::CopyOut), (Traffic{4 * padded, 4 * padded, 1}));
    EXPECT_EQ(trafficOf(graph, OpKind::ReduceCopyIn), (Traffic{4 * own, 4 * padded, 1}));
    EXPECT_EQ(trafficOf(graph, OpKind::ReduceCopyOut), (Traffic{0, 0, 0}));
}

TEST(CopyTraffic, AReductionInBf16IsCastBackToFp32) {
    const core::StepGraph graph = graphOf({DType::F32, DType::BF16, DType::BF16});
    const std::int64_t padded = graph.units[0].paddedElements;
    EXPECT_EQ(trafficOf(graph, OpKind::ReduceCopyOut), (Traffic{2 * padded / kRanks, 4 * padded / kRanks, 1}));
}

TEST(CopyPrice, IsTwoMicrosecondsALaunchAndTheTrafficAtTheAchievableRate) {
    const core::Cluster cluster = core::makeCluster("a100-sxm-80gb", "", 1).value();
    const GpuRates rates = ratesOf(cluster.gpu, {});
    const double rate = 0.91 * 2039e9;  // cost model facts 4.2, Ampere
    EXPECT_NEAR(priceCopy(2e9, 1, rates).seconds, 2e-6 + 2e9 / rate, 1e-9);
    EXPECT_NEAR(priceCopy(2e9, 3, rates).seconds, 3 * 2e-6 + 2e9 / rate, 1e-9);
    EXPECT_EQ(priceCopy(0, 1, rates).seconds, 0);
}

TEST(CopyPrice, EveryCopyOfAStepIsPricedByItsTraffic) {
    const core::StepGraph graph = graphOf({DType::F32, DType::BF16, DType::BF16});
    checkers::ToySizes sizes;
    sizes.model.d = 7;
    const core::Cluster cluster = core::makeCluster("h100-sxm", "", 1).value();
    const Prices prices = priceGraph(graph, *checkers::toyModel(sizes, DType::BF16), cluster);
    const GpuRates rates = ratesOf(cluster.gpu, {});
    int copies = 0;
    for (std::size_t i = 0; i < graph.ops.size(); ++i) {
        const core::Op& op = graph.ops[i];
        if (op.kind != OpKind::GatherCopyIn && op.kind != OpKind::CopyOut && op.kind != OpKind::ReduceCopyIn &&
            op.kind != OpKind::ReduceCopyOut)
            continue;
        ++copies;
        const double traffic = static_cast<double>(op.read.value + op.written.value);
        EXPECT_EQ(prices.duration[i], core::fromSeconds(priceCopy(traffic, op.launches, rates).seconds).ns);
    }
    EXPECT_GT(copies, 20);
}

}  // namespace
}  // namespace shardscope::sim
