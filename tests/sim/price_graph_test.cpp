#include "sim/price/price_graph.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "core/graph/graph_builder.h"
#include "core/model/vit.h"
#include "sim/price/kernel_price.h"
#include "sim/price/repricer.h"

namespace shardscope::sim {
namespace {

using core::DType;
using core::OpKind;

core::Model smallVit(DType dtype = DType::BF16) {
    core::VitSpec spec;
    spec.imageSize = 32;
    spec.patchSize = 8;
    spec.layers = 3;
    spec.heads = 4;
    spec.hidden = 256;
    spec.mlp = 512;
    core::Workload workload;
    workload.batch = 4;
    workload.dtype = dtype;
    return core::buildVit(spec, workload).value();
}

core::Cluster clusterOf(const char* gpu, const char* node = "", std::int64_t nodes = 1) {
    return core::makeCluster(gpu, node, nodes).value();
}

core::Op computeOf(const core::Model& model, std::size_t layer, bool backward, std::uint32_t first,
                   std::uint32_t count) {
    core::Op op;
    op.phase = backward ? core::Phase::Backward : core::Phase::Forward;
    op.kernels = {core::LayerId(layer), first, count, backward};
    op.launches = static_cast<std::uint16_t>(count);
    (void)model;
    return op;
}

std::uint32_t kernelCount(const core::Model& model, std::size_t layer, bool backward) {
    const core::Program& program = model.programOf(model.layers[layer]);
    return static_cast<std::uint32_t>((backward ? program.backward : program.forward).size());
}

/// One class of `ranks`: every layer forward, then backward, with a gather before and a scatter after, and an
/// optimizer.
core::StepGraph stepOf(const core::Model& model, std::int64_t ranks) {
    core::Plan plan;
    plan.mesh.dpShard = ranks;
    core::GraphBuilder builder(plan);
    const std::uint8_t compute = builder.addStream(core::StreamKind::Compute);
    const std::uint8_t gather = builder.addStream(core::StreamKind::AllGather);
    const std::uint8_t scatter = builder.addStream(core::StreamKind::ReduceScatter);
    core::Group group;
    group.size = ranks;
    const core::GroupId shard = builder.addGroup(group);
    core::RankClass rankClass;
    rankClass.multiplicity = ranks;
    builder.beginClass(rankClass);
    const auto collective = [&](OpKind kind, std::uint8_t stream) {
        core::Op op;
        op.kind = kind;
        op.stream = stream;
        op.group = shard;
        op.bytes = {8 << 20};
        builder.addOp(op);
    };
    const auto traffic = [&](OpKind kind, std::uint8_t stream, std::uint16_t launches) {
        core::Op op;
        op.kind = kind;
        op.stream = stream;
        op.read = op.written = {4 << 20};
        op.launches = launches;
        builder.addOp(op);
    };
    for (bool backward : {false, true})
        for (std::size_t l = 0; l < model.layers.size(); ++l) {
            const std::size_t layer = backward ? model.layers.size() - 1 - l : l;
            collective(OpKind::AllGather, gather);
            traffic(OpKind::CopyOut, compute, 1);
            core::Op op = computeOf(model, layer, backward, 0, kernelCount(model, layer, backward));
            op.stream = compute;
            builder.addOp(op);
            if (backward) {
                traffic(OpKind::ReduceCopyIn, compute, 2);
                collective(OpKind::ReduceScatter, scatter);
            }
        }
    traffic(OpKind::OptimizerStep, compute, 3);
    auto graph = builder.freeze();
    EXPECT_TRUE(graph) << (graph ? "" : describe(graph.error()));
    return std::move(*graph);
}

TEST(PriceGraph, AComputeOpTakesTheSumOfItsKernelsAndRangesAddUp) {
    const core::Model model = smallVit();
    const core::Cluster cluster = clusterOf("h100-sxm");
    const GpuRates rates = ratesOf(cluster.gpu, {});
    const std::size_t layer = 1;
    const core::Program& program = model.programOf(model.layers[layer]);
    core::StepGraph graph;
    graph.classes.push_back({});
    const std::uint32_t count = kernelCount(model, layer, false), cut = count / 3;
    graph.ops = {computeOf(model, layer, false, 0, count), computeOf(model, layer, false, 0, cut),
                 computeOf(model, layer, false, cut, count - cut), computeOf(model, layer, true, 1, 1)};
    for (core::Op& op : graph.ops) op.rankClass = core::ClassId(std::size_t{0});
    graph.classes[0].opEnd = 4;
    const Prices prices = priceGraph(graph, model, cluster);
    std::int64_t sum = 0;
    for (const core::Kernel& kernel : program.forward)
        sum += core::fromSeconds(priceKernel(kernel, operandType(program, kernel), rates).seconds).ns;
    EXPECT_GT(sum, 0);
    EXPECT_EQ(prices.duration[0], sum);
    EXPECT_EQ(prices.duration[1] + prices.duration[2], sum);
    const core::Kernel& second = program.backward[1];
    EXPECT_EQ(prices.duration[3],
              core::fromSeconds(priceKernel(second, operandType(program, second), rates).seconds).ns);
}

// The host issues a kernel every `launch`, the device runs them in order, each no earlier than it is issued. The
// release of an op must make one block of its duration end when the last of its kernels ends.
TEST(PriceGraph, ReleaseMakesLaunchBoundOpsEndWhenTheirLastKernelEnds) {
    const core::Model model = smallVit();
    const core::Cluster cluster = clusterOf("h100-sxm");
    for (double launch : {0.0, 1e-6, 4e-6, 8e-6, 50e-6}) {
        PriceKnobs knobs;
        knobs.hostLaunch = launch;
        const GpuRates rates = ratesOf(cluster.gpu, knobs);
        core::StepGraph graph;
        graph.classes.push_back({});
        for (bool backward : {false, true})
            for (std::size_t l = 0; l < model.layers.size(); ++l)
                graph.ops.push_back(computeOf(model, l, backward, 0, kernelCount(model, l, backward)));
        for (core::Op& op : graph.ops) op.rankClass = core::ClassId(std::size_t{0});
        graph.classes[0].opEnd = static_cast<std::uint32_t>(graph.ops.size());
        const Prices prices = priceGraph(graph, model, cluster, knobs);

        std::int64_t host = 0, device = 0, engine = 0;
        const std::int64_t step = core::fromSeconds(launch).ns;
        for (std::size_t i = 0; i < graph.ops.size(); ++i) {
            const core::KernelRange& range = graph.ops[i].kernels;
            const core::Program& program = model.programOf(model.layers[range.layer.index()]);
            for (const core::Kernel& kernel : range.backward ? program.backward : program.forward) {
                host += step;
                device = std::max(device, host) +
                         core::fromSeconds(priceKernel(kernel, operandType(program, kernel), rates).seconds).ns;
            }
            engine = std::max(engine, prices.release[i]) + prices.duration[i];
            EXPECT_EQ(engine, device) << "op " << i << ", launch " << launch;
        }
    }
}

TEST(PriceGraph, TheHostIssuesInOrderAndAnInfiniteHostAtOnce) {
    const core::Model model = smallVit();
    const core::StepGraph graph = stepOf(model, 8);
    const core::Cluster cluster = clusterOf("a100-sxm-80gb");
    PriceKnobs knobs;
    const Prices prices = priceGraph(graph, model, cluster, knobs);
    ASSERT_EQ(prices.duration.size(), graph.ops.size());
    EXPECT_GT(prices.release.back(), 0);
    for (std::size_t i = 0; i < graph.ops.size(); ++i) {
        EXPECT_GT(prices.duration[i], 0) << i;
        EXPECT_GT(prices.release[i], 0) << i;
    }
    knobs.infiniteHost = true;
    const Prices infinite = priceGraph(graph, model, cluster, knobs);
    EXPECT_EQ(infinite.duration, prices.duration);
    EXPECT_EQ(std::count(infinite.release.begin(), infinite.release.end(), 0),
              static_cast<std::ptrdiff_t>(graph.ops.size()));
}

TEST(PriceGraph, FreeThingsTakeNoTimeAndLeaveTheRestAlone) {
    const core::Model model = smallVit();
    const core::StepGraph graph = stepOf(model, 8);
    const core::Cluster cluster = clusterOf("a100-sxm-80gb");
    const Prices prices = priceGraph(graph, model, cluster);
    PriceKnobs knobs;
    knobs.freeCommunication = knobs.freeCopies = knobs.freeLoss = knobs.freeOptimizer = knobs.noOverlapSlowdown = true;
    const Prices free = priceGraph(graph, model, cluster, knobs);
    EXPECT_EQ(free.slowNum, free.slowDen);
    EXPECT_GT(prices.slowNum, prices.slowDen);
    EXPECT_EQ(prices.slowDen, 1000);
    for (std::size_t i = 0; i < graph.ops.size(); ++i) {
        const core::Op& op = graph.ops[i];
        const bool loss =
            op.kind == OpKind::Compute && model.layers[op.kernels.layer.index()].kind == core::LayerKind::Loss;
        if (op.kind == OpKind::Compute && !loss)
            EXPECT_EQ(free.duration[i], prices.duration[i]);
        else
            EXPECT_EQ(free.duration[i], 0) << nameOf(op.kind);
    }
}

TEST(PriceGraph, MoreBytesSlowerLinksAndMoreNodesAreNeverFaster) {
    const core::Model model = smallVit();
    core::StepGraph graph = stepOf(model, 16);
    core::Cluster cluster = clusterOf("h100-sxm", "dgx-h100", 2);
    const Prices prices = priceGraph(graph, model, cluster);
    const auto notFaster = [&](const Prices& other, const char* what) {
        for (std::size_t i = 0; i < graph.ops.size(); ++i)
            EXPECT_GE(other.duration[i], prices.duration[i]) << what << ", " << nameOf(graph.ops[i].kind);
    };
    core::Cluster slower = cluster;
    slower.node.networkBandwidth.value /= 4;
    notFaster(priceGraph(graph, model, slower), "network");
    slower = cluster;
    slower.gpu.memoryBandwidth.value /= 2;
    notFaster(priceGraph(graph, model, slower), "memory");
    slower = cluster;
    slower.gpu.bf16Flops.value /= 2;
    notFaster(priceGraph(graph, model, slower), "peak");
    for (core::Op& op : graph.ops) {
        op.bytes = op.bytes * 3;
        op.read = op.read * 2;
    }
    notFaster(priceGraph(graph, model, cluster), "bytes");
}

TEST(Repricer, GivesTheSamePricesAgainAndAgainAndPricesEqualOpsOnce) {
    const core::Model model = smallVit();
    const core::StepGraph graph = stepOf(model, 8);
    const core::Cluster first = clusterOf("h100-sxm"), second = clusterOf("v100-sxm-32gb");
    Repricer repricer(graph, model);
    // Blocks share one program: embedding, block, norm and head, loss and back, with one gather, one scatter, two
    // copies.
    EXPECT_LT(repricer.distinctCosts(), graph.ops.size() + 60);
    Prices prices;
    for (const core::Cluster* cluster : {&first, &second, &first}) {
        repricer.price(*cluster, {}, prices);
        const Prices fresh = priceGraph(graph, model, *cluster);
        EXPECT_EQ(prices.duration, fresh.duration);
        EXPECT_EQ(prices.release, fresh.release);
        EXPECT_EQ(prices.links, fresh.links);
        EXPECT_EQ(prices.slowNum, fresh.slowNum);
    }
}

TEST(PriceGraph, LinksTellWhichLevelATransferOccupies) {
    const core::Model model = smallVit();
    const core::StepGraph graph = stepOf(model, 8);
    EXPECT_EQ(priceGraph(graph, model, clusterOf("h100-sxm")).links.at(0), kLinkBit);
    const core::StepGraph wide = stepOf(model, 16);
    EXPECT_NE(priceGraph(wide, model, clusterOf("h100-sxm", "dgx-h100", 2)).links.at(0) & kNetworkBit, 0u);
    EXPECT_EQ(priceGraph(stepOf(model, 1), model, clusterOf("h100-sxm")).links.at(0), 0u);
}

TEST(PriceGraph, LowConfidenceValuesAreNamedAndOnlyThoseInUse) {
    const core::Model model = smallVit();
    const auto mentions = [](const Prices& prices, const std::string& what) {
        return std::any_of(prices.caveats.begin(), prices.caveats.end(),
                           [&](const std::string& caveat) { return caveat.find(what) != std::string::npos; });
    };
    const Prices known = priceGraph(stepOf(model, 8), model, clusterOf("h100-sxm"));
    // What is known of no GPU is all that is left on the best known one.
    EXPECT_EQ(known.caveats.size(), 3u);
    for (const char* words : {"beside a transfer takes 1.27 x", "NCCL's buffers", "CUDA context"})
        EXPECT_TRUE(mentions(known, words)) << words;
    const Prices alone = priceGraph(stepOf(model, 1), model, clusterOf("a100-sxm-80gb"));
    EXPECT_TRUE(alone.caveats.empty()) << alone.caveats.front();
    const Prices box = priceGraph(stepOf(model, 8), model, clusterOf("rtx-4090"));
    EXPECT_TRUE(mentions(box, "pcie-host"));
    EXPECT_TRUE(mentions(box, "attention on"));
    EXPECT_FALSE(mentions(box, "network"));
    EXPECT_TRUE(mentions(priceGraph(stepOf(model, 16), model, clusterOf("rtx-4090", "", 2)), "network"));
    EXPECT_FALSE(mentions(priceGraph(stepOf(model, 1), model, clusterOf("rtx-4090")), "pcie-host"));
    // Constants that a GPU has from another one of its family.
    const std::pair<const char*, const char*> borrowed[] = {
        {"a10g", "A100"}, {"rtx-3090", "A100"}, {"rtx-5090", "B200"}, {"h200-sxm", "H100"}, {"b300-sxm", "B200"}};
    for (const auto& [gpu, from] : borrowed) {
        const Prices prices = priceGraph(stepOf(model, 1), model, clusterOf(gpu));
        EXPECT_TRUE(mentions(prices, std::string("constants of ") + from)) << gpu;
    }
    for (const char* gpu : {"a100-pcie-80gb", "h100-nvl", "b200-sxm"})
        EXPECT_FALSE(mentions(priceGraph(stepOf(model, 1), model, clusterOf(gpu)), "constants of")) << gpu;
}

TEST(PriceGraph, AttentionWithoutFiguresOfItsOwnIsNamed) {
    using Kind = core::Workload::AttentionKind;
    const auto said = [](const char* gpu, Kind kind, const char* words = "no figures of it there") {
        core::Workload workload;
        workload.dtype = core::DType::BF16;
        workload.attention = kind;
        const core::Model model = core::buildVit(core::namedVit("vit_tiny").value(), workload).value();
        const Prices prices = priceGraph(stepOf(model, 1), model, clusterOf(gpu));
        return std::any_of(prices.caveats.begin(), prices.caveats.end(),
                           [words](const std::string& caveat) { return caveat.find(words) != std::string::npos; });
    };
    EXPECT_TRUE(said("a100-sxm-80gb", Kind::Flash3, "written for Hopper"));
    EXPECT_FALSE(said("h100-sxm", Kind::Flash3, "written for Hopper"));
    EXPECT_FALSE(said("h100-sxm", Kind::Flash) || said("h100-sxm", Kind::Flash1) || said("h100-sxm", Kind::Flash3));
    EXPECT_FALSE(said("h100-sxm", Kind::Cudnn) || said("h100-sxm", Kind::Math));
    EXPECT_TRUE(said("h100-sxm", Kind::Efficient));
    EXPECT_FALSE(said("a100-sxm-80gb", Kind::Efficient));
    EXPECT_TRUE(said("b200-sxm", Kind::Flash));
    EXPECT_FALSE(said("b200-sxm", Kind::Cudnn));
}

TEST(PriceGraph, ADtypeWithoutUnitsIsNamed) {
    core::Model model = smallVit();
    const auto said = [&](const char* gpu, core::DType dtype) {
        model.workload.dtype = dtype;
        const Prices prices = priceGraph(stepOf(model, 1), model, clusterOf(gpu));
        return std::any_of(prices.caveats.begin(), prices.caveats.end(), [](const std::string& caveat) {
            return caveat.find("priced at the fp32 rate") != std::string::npos;
        });
    };
    for (const char* gpu : {"t4", "v100-sxm-16gb"}) {
        EXPECT_TRUE(said(gpu, core::DType::BF16)) << gpu;
        EXPECT_FALSE(said(gpu, core::DType::F16)) << gpu;
        EXPECT_FALSE(said(gpu, core::DType::F32)) << gpu;
    }
    EXPECT_FALSE(said("a100-sxm-80gb", core::DType::BF16));
}

TEST(PriceGraph, UtilisationAtTheComputeBoundIsOne) {
    const core::Model model = smallVit();
    const core::StepGraph graph = stepOf(model, 1);
    const core::Cluster cluster = clusterOf("h100-sxm");
    const double flops = modelFlops(graph, model);
    // Attention's backward recomputes the scores: one of its five products is no model FLOP.
    double recomputed = 0;
    for (const core::Layer& layer : model.layers)
        for (const core::Kernel& kernel : model.programOf(layer).backward)
            if (kernel.kind == core::KernelKind::AttentionGrad)
                recomputed += static_cast<double>(kernel.flops.value) / 5;
    EXPECT_GT(recomputed, 0);
    EXPECT_NEAR(
        flops, static_cast<double>(core::forwardFlops(model).value + core::backwardFlops(model).value) - recomputed, 1);
    const core::Duration bound = core::fromSeconds(flops / 989e12);
    EXPECT_NEAR(modelFlopsUtilisation(graph, model, cluster, bound), 1, 1e-3);
    EXPECT_EQ(modelFlopsUtilisation(graph, model, cluster, {0}), 0);
    EXPECT_DOUBLE_EQ(modelFlops(stepOf(model, 8), model), 8 * flops);
}

TEST(PriceGraph, LayerSecondsAreForwardAndBackwardOfEachLayer) {
    const core::Model model = smallVit();
    const core::Cluster cluster = clusterOf("a100-sxm-80gb");
    const std::vector<double> seconds = layerSeconds(model, cluster);
    ASSERT_EQ(seconds.size(), model.layers.size());
    EXPECT_DOUBLE_EQ(seconds[1], seconds[2]);  // blocks are alike
    for (double s : seconds) EXPECT_GT(s, 0);
}

TEST(DeviceReserve, HoldsAContextAndTheBuffersOfEveryCommunicator) {
    const core::Model model = smallVit();
    const core::Cluster cluster = clusterOf("h100-sxm");
    const auto alone = deviceReserves(stepOf(model, 1), cluster), eight = deviceReserves(stepOf(model, 8), cluster);
    ASSERT_EQ(alone.size(), 1u);
    EXPECT_EQ(alone[0].communication.value, 0);
    EXPECT_EQ(alone[0].context.value, 512ll << 20);
    EXPECT_EQ(alone[0].usable.value, static_cast<std::int64_t>(79.1 * 1024 * 1024 * 1024));
    // 1.0 to 1.5 GiB for a large communicator is the suggested default (cost model facts 3).
    EXPECT_GE(eight[0].communication.value, 1000ll << 20);
    EXPECT_LE(eight[0].communication.value, 1536ll << 20);
}

TEST(ExplainPrice, PutsNumbersAndSourcesIntoWords) {
    const core::Model model = smallVit();
    const core::StepGraph graph = stepOf(model, 8);
    const core::Cluster cluster = clusterOf("h100-sxm");
    for (std::size_t i = 0; i < graph.ops.size(); ++i) {
        const std::string text = explainPrice(graph, model, cluster, {}, core::OpId(i));
        EXPECT_NE(text.find("us"), std::string::npos) << text;
        if (graph.ops[i].kind == OpKind::AllGather) {
            EXPECT_NE(text.find("8.00 MiB over 8 ranks"), std::string::npos) << text;
            EXPECT_NE(text.find("high confidence"), std::string::npos) << text;
        }
        if (graph.ops[i].kind == OpKind::Compute) {
            EXPECT_NE(text.find("TFLOPS"), std::string::npos) << text;
        }
    }
    PriceKnobs knobs;
    knobs.freeCommunication = true;
    EXPECT_NE(explainPrice(graph, model, cluster, knobs, core::OpId(std::size_t{0})).find("free by a knob"),
              std::string::npos);
}

}  // namespace
}  // namespace shardscope::sim
