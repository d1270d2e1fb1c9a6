#include "sim/price/collective_price.h"

#include <gtest/gtest.h>

#include <cmath>

namespace shardscope::sim {
namespace {

constexpr double kMebi = 1024.0 * 1024.0;

core::Cluster clusterOf(const char* gpu, const char* node, std::int64_t nodes, std::int64_t perNode = 0) {
    return core::makeCluster(gpu, node, nodes, perNode).value();
}

double seconds(const core::Cluster& cluster, CollectiveKind kind, double bytes, std::int64_t ranks,
               std::int64_t stride = 1) {
    const Placement placement = placementOf(cluster, 0, ranks * stride, ranks, stride);
    return priceCollective(kind, bytes, pathOf(cluster, placement)).seconds;
}

struct Published {
    double mebibytes, microseconds;
};

/// Cost model facts 9: sites differ by about 10 % at large sizes and 25 % at middle ones; the model is held to no less.
double tolerance(double mebibytes) {
    return mebibytes >= 128 ? 0.1 : 0.28;
}

// nccl-tests, 8 x H100, bf16 (file 42648468160): all-gather and reduce-scatter, out of place.
TEST(CollectivePrice, IsNearPublishedTimesInsideAnH100Node) {
    const core::Cluster cluster = clusterOf("h100-sxm", "dgx-h100", 1);
    const auto ratio = [&](CollectiveKind kind, const Published& row) {
        return seconds(cluster, kind, row.mebibytes * kMebi, 8) / (row.microseconds * 1e-6);
    };
    for (const Published& row : {Published{16, 73}, {64, 211}, {256, 730}, {1024, 2734}, {8192, 21025}})
        EXPECT_NEAR(ratio(CollectiveKind::AllGather, row), 1, tolerance(row.mebibytes)) << row.mebibytes;
    for (const Published& row : {Published{16, 75}, {64, 205}, {256, 726}, {1024, 2758}, {8192, 20940}})
        EXPECT_NEAR(ratio(CollectiveKind::ReduceScatter, row), 1, tolerance(row.mebibytes)) << row.mebibytes;
}

// GoogleCloudPlatform/cluster-toolkit, A3-Ultra and A3-Mega, all-gather over 2 x 8 GPUs.
TEST(CollectivePrice, IsNearPublishedTimesOverTwoNodes) {
    const auto ratio = [](const core::Cluster& cluster, const Published& row) {
        return seconds(cluster, CollectiveKind::AllGather, row.mebibytes * kMebi, 16) / (row.microseconds * 1e-6);
    };
    const core::Cluster ultra = clusterOf("h200-sxm", "a3-ultragpu", 2);
    for (const Published& row : {Published{1, 80}, {16, 123}, {128, 495}, {1024, 3106}, {8192, 24489}})
        EXPECT_NEAR(ratio(ultra, row), 1, tolerance(row.mebibytes)) << row.mebibytes;
    const core::Cluster mega = clusterOf("h100-sxm", "a3-megagpu", 2);
    for (const Published& row : {Published{16, 198}, {128, 807}, {1024, 5531}, {8192, 42669}})
        EXPECT_NEAR(ratio(mega, row), 1, tolerance(row.mebibytes)) << row.mebibytes;
}

// nccl-tests all-reduces, out of place, of which the switches add up those of 16 MiB and more: 8 x H100 (file
// 42648468160), 8 x H200 (stas00/ml-engineering@744d01e1), 8 x B200 (file 60744093665).
TEST(CollectivePrice, AllReducesInsideANodeAreNearPublishedTimes) {
    const auto ratio = [](const char* gpu, const char* node, const Published& row) {
        return seconds(clusterOf(gpu, node, 1), CollectiveKind::AllReduce, row.mebibytes * kMebi, 8) /
               (row.microseconds * 1e-6);
    };
    for (const Published& row : {Published{16, 125.9}, {64, 328.4}, {256, 1090.5}, {1024, 4022.4}, {4096, 15736}})
        EXPECT_NEAR(ratio("h100-sxm", "dgx-h100", row), 1, tolerance(row.mebibytes)) << row.mebibytes;
    for (const Published& row : {Published{32, 212.9}, {128, 584.4}, {2048, 8010.1}})
        EXPECT_NEAR(ratio("h200-sxm", "dgx-h200", row), 1, tolerance(row.mebibytes)) << row.mebibytes;
    for (const Published& row : {Published{32, 169.7}, {128, 394.6}, {2048, 4605.3}, {8192, 17919.9}})
        EXPECT_NEAR(ratio("b200-sxm", "dgx-b200", row), 1, tolerance(row.mebibytes)) << row.mebibytes;
}

// All-reduces over 2 x 8 GPUs: A100, RoCE 16 x 100G (oci-hpc-oke@14340fb) and EFA 4 x 100G of p4de
// (awsome-distributed-training@8cb3dc4e), H100 over InfiniBand (nccl-tests issue 309). A byte crosses the network once
// each way, so that p4de passes its NICs' 50 GB/s.
TEST(CollectivePrice, AllReducesOverTwoNodesAreNearPublishedTimes) {
    const auto ratio = [](const core::Cluster& cluster, const Published& row) {
        return seconds(cluster, CollectiveKind::AllReduce, row.mebibytes * kMebi, 16) / (row.microseconds * 1e-6);
    };
    const core::Cluster oci = clusterOf("a100-sxm-40gb", "oci-a100", 2), p4de = clusterOf("a100-sxm-80gb", "p4de", 2);
    for (const Published& row : {Published{2, 99.2}, {8, 174.3}, {32, 452.3}, {2048, 18289}, {8192, 67689}})
        EXPECT_NEAR(ratio(oci, row), 1, row.mebibytes >= 128 ? 0.15 : 0.45) << row.mebibytes;
    for (const Published& row : {Published{512, 13552}, {2048, 51406}})
        EXPECT_NEAR(ratio(p4de, row), 1, 0.2) << row.mebibytes;
    const core::Cluster h100 = clusterOf("h100-sxm", "dgx-h100", 2);
    for (const Published& row : {Published{32, 267.9}, {128, 748.3}, {2048, 8729.8}, {8192, 34381}})
        EXPECT_NEAR(ratio(h100, row), 1, row.mebibytes >= 128 ? 0.15 : 0.3) << row.mebibytes;
}

// XLA's shipped table (Intel-tensorflow/xla@756478bb), 72 GB200 of one NVLink domain.
TEST(CollectivePrice, AnNvlinkRackIsOneDomain) {
    const core::Cluster rack = clusterOf("gb200", "gb200-nvl72", 18);
    const Placement placement = placementOf(rack, 0, 72, 72, 1);
    EXPECT_EQ(placement.domains, 1);
    EXPECT_EQ(pathOf(rack, placement).links, kLinkBit);
}

TEST(CollectivePrice, MoreBytesAndMoreRanksAreNeverFasterAndNoRankSendsBeyondItsLink) {
    for (const char* node :
         {"dgx-h100", "dgx-a100", "p4d", "g5", "dgx-1v", "pcie4-box", "oci-mi300x", "gb200-nvl72", "a3-highgpu"}) {
        const core::Cluster cluster = core::makeCluster({}, node, 64).value();
        for (CollectiveKind kind :
             {CollectiveKind::AllGather, CollectiveKind::ReduceScatter, CollectiveKind::AllReduce}) {
            double before = 0;
            for (double bytes = 64; bytes < 1e11; bytes *= 1.5) {
                const double here = seconds(cluster, kind, bytes, 8);
                EXPECT_GT(here, before) << node << " " << bytes;
                EXPECT_GE(here, bytes * 7 / 8 / std::max(cluster.node.linkBandwidth.value, 1.0)) << node;
                before = here;
            }
            for (double bytes : {1e4, 1e6, 1e8, 1e10}) {
                // Switches add up faster for more GPUs: 363 GB/s of 4 x H200 are 242 of the buffer, 473 of 8 are 270.
                if (kind == CollectiveKind::AllReduce &&
                    pathOf(cluster, placementOf(cluster, 0, 8, 8, 1)).switchBus > 0)
                    break;
                before = 0;
                for (std::int64_t ranks = 1; ranks <= cluster.ranks(); ranks *= 2) {
                    const double here = seconds(cluster, kind, bytes, ranks);
                    EXPECT_GE(here, before) << node << " " << bytes << " " << ranks;
                    before = here;
                }
            }
        }
    }
}

TEST(CollectivePrice, AnAllReduceCostsAtLeastAReduceScatterAndAtMostTwoPasses) {
    const core::Cluster cluster = clusterOf("a100-sxm-80gb", "dgx-a100", 4);
    for (double bytes : {1e5, 1e7, 1e9})
        for (std::int64_t ranks : {2, 8, 32}) {
            const double scatter = seconds(cluster, CollectiveKind::ReduceScatter, bytes, ranks);
            const double reduce = seconds(cluster, CollectiveKind::AllReduce, bytes, ranks);
            // Small ones over several nodes take a tree, of which the latency does not grow with every rank.
            if (bytes >= 1e7 || ranks <= 8) {
                EXPECT_GT(reduce, scatter);
            }
            EXPECT_LE(reduce, 2 * scatter);
        }
}

TEST(CollectivePrice, EveryRankSendsTheRingsVolume) {
    const core::Cluster cluster = clusterOf("a100-sxm-80gb", "dgx-a100", 1);
    const CollectivePath path = pathOf(cluster, placementOf(cluster, 0, 4, 4, 1));
    EXPECT_DOUBLE_EQ(priceCollective(CollectiveKind::AllGather, 1000, path).volume, 750);
    EXPECT_DOUBLE_EQ(priceCollective(CollectiveKind::AllReduce, 1000, path).volume, 1500);
    EXPECT_EQ(priceCollective(CollectiveKind::AllGather, 1000, pathOf(cluster, {})).seconds, 0);
}

TEST(CollectivePrice, GroupsThatShareANodesNetworkDivideIt) {
    // 16 ranks on two nodes: one group of 16, or eight groups of two with a member on each node.
    const core::Cluster cluster = clusterOf("h100-sxm", "dgx-h100", 2);
    const CollectivePath whole = pathOf(cluster, placementOf(cluster, 0, 16, 16, 1));
    const CollectivePath pairs = pathOf(cluster, placementOf(cluster, 0, 16, 2, 8));
    EXPECT_EQ(pairs.placement.perDomain, 1);
    EXPECT_NEAR(pairs.bus, whole.networkBus / 8, 1);
    EXPECT_EQ(pairs.links, kNetworkBit);
    EXPECT_NE(whole.links & kNetworkBit, 0u);
}

TEST(Placement, TheLeastFavourableGroupCounts) {
    const core::Cluster cluster = clusterOf("h100-sxm", "dgx-h100", 3);
    EXPECT_EQ(placementOf(cluster, 0, 24, 8, 1), (Placement{8, 1, 8}));
    EXPECT_EQ(placementOf(cluster, 0, 24, 24, 1), (Placement{24, 3, 8}));
    EXPECT_EQ(placementOf(cluster, 0, 24, 6, 1), (Placement{6, 2, 3}));  // ranks 6 to 11 straddle two nodes
    EXPECT_EQ(placementOf(cluster, 4, 8, 8, 1), (Placement{8, 2, 4}));   // a stage that begins in the middle of a node
    EXPECT_EQ(placementOf(cluster, 0, 24, 3, 8), (Placement{3, 3, 1}));
    EXPECT_EQ(placementOf(cluster, 0, 8, 2, 4), (Placement{2, 1, 2}));
    EXPECT_EQ(placementOf(cluster, 0, 8, 1, 1), (Placement{1, 1, 1}));
}

TEST(MessagePrice, TheNetworkIsSlowerThanTheLinkAndSendersShareIt) {
    const core::Cluster cluster = clusterOf("a100-sxm-40gb", "p4d", 2);
    const double bytes = 64 * kMebi;
    const double inside = priceMessage(cluster, {2, 1, 2}, bytes, 1).seconds;
    const double outside = priceMessage(cluster, {2, 2, 1}, bytes, 1).seconds;
    const double shared = priceMessage(cluster, {2, 2, 1}, bytes, 8).seconds;
    EXPECT_GT(outside, 5 * inside);
    EXPECT_GT(shared, outside);
    // One message rides one of the four 100 Gb NICs: 12.5 GB/s.
    EXPECT_GE(outside, bytes / 12.5e9);
    EXPECT_EQ(priceMessage(cluster, {2, 1, 2}, 0, 1).seconds, 0);
}

}  // namespace
}  // namespace shardscope::sim
