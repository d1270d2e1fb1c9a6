#include "cli/face/backtest.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <filesystem>

#include "cli/command/command.h"
#include "cli/face/files.h"
#include "cli/face/hardware_names.h"
#include "core/cluster/cluster.h"
#include "sim/price/collective_price.h"
#include "sim/price/kernel_price.h"

namespace shardscope::cli {
namespace {

CsvTable tableOf(const std::string& bytes) {
    auto table = parseCsv(bytes, "m.csv");
    EXPECT_TRUE(table) << core::describe(table.error());
    return table ? std::move(*table) : CsvTable{};
}

const std::string kCollectives =
    "gpu,nodes,gpus_per_node,network,collective,bytes,time_us,in_place,split,flags,source\n";

TEST(Backtest, EveryNamedPresetExists) {
    for (const char* name : {"H100-SXM", "H100-PCIe", "H200-SXM", "H200-NVL", "H800-SXM", "B200-SXM", "B200 (DGX)",
                             "B300-SXM", "GB200", "GB300", "A100", "A100-SXM4-40GB", "A100-PCIe", "V100-SXM2",
                             "V100-PCIE-16GB", "RTX4090", "RTX3090", "A10G"}) {
        const auto preset = gpuPresetCalled(name);
        ASSERT_TRUE(preset) << name;
        EXPECT_TRUE(core::gpuPreset(*preset)) << *preset;
    }
    for (const char* name :
         {"(p5.48xlarge)", "(p4de.24xlarge)", "(p4d.24xlarge, EKS)", "(DGX-1V)", "(DGX A100)", "a3-highgpu-8g",
          "a3-megagpu-8g", "a3-ultragpu-8g", "BM.GPU4.8", "BM.GPU.H100.8", "Dell XE9680", "no P2P"}) {
        const auto preset = nodePresetCalled(name);
        ASSERT_TRUE(preset) << name;
        EXPECT_TRUE(core::nodePreset(*preset)) << *preset;
    }
    EXPECT_EQ(gpuPresetCalled("A100", 40), "a100-sxm-40gb");
    EXPECT_EQ(gpuPresetCalled("A100", 0), "a100-sxm-80gb");
    EXPECT_EQ(gpuPresetCalled("V100-SXM2", 16), "v100-sxm-16gb");
    EXPECT_FALSE(gpuPresetCalled("MI355X"));
    EXPECT_FALSE(nodePresetCalled("IB HDR"));
}

TEST(Backtest, ACollectiveIsPricedAsTheSimulatorPricesIt) {
    const CsvTable table = tableOf(kCollectives + "H100-SXM,2,8,(p5.48xlarge),all_gather,67108864,500,0,calib,,a@b\n");
    const auto backtest = replayCollectives(table);
    ASSERT_TRUE(backtest) << core::describe(backtest.error());
    const auto cluster = core::makeCluster("h100-sxm", "p5", 2, 8);
    ASSERT_TRUE(cluster);
    const auto path = sim::pathOf(*cluster, sim::placementOf(*cluster, 0, 16, 16, 1));
    const ReplayedRow& row = backtest->rows.front();
    EXPECT_EQ(row.reason, "");
    EXPECT_EQ(row.source, "a");
    EXPECT_DOUBLE_EQ(row.measured, 500e-6);
    EXPECT_DOUBLE_EQ(row.predicted, sim::priceCollective(sim::CollectiveKind::AllGather, 67108864, path).seconds);
    EXPECT_DOUBLE_EQ(row.error(), std::log(row.predicted / row.measured));
    // One row: the constant fits it exactly, 64 MiB x 15/16 in 500 us.
    EXPECT_NEAR(row.constantError(), 0, 1e-12);
    ASSERT_EQ(backtest->constants.size(), 1u);
    EXPECT_NEAR(backtest->constants.front().second, 67108864.0 * 15 / 16 / 500e-6, 1);
}

TEST(Backtest, RowsThatCannotBeExpressedSayWhy) {
    const CsvTable table = tableOf(kCollectives +
                                   "H100-SXM,1,8,,alltoall,1024,9,0,calib,,\n"
                                   "MI355X,1,8,,all_reduce,1024,9,0,calib,,\n"
                                   "H100-SXM,2,8,IB HDR,all_reduce,1024,9,0,calib,,\n"
                                   "H100-SXM,1,8,,all_reduce,1024,9,1,calib,,\n"
                                   "H100-SXM,1,8,,all_reduce,1024,9,0,context,,\n"
                                   "H100-SXM,1,8,,all_reduce,1024,9,0,calib,bf16; outlier,\n"
                                   "H100-SXM,1,8,,all_reduce,1024,,0,calib,,\n"
                                   "H100-SXM,1,16,,all_reduce,1024,9,0,calib,,\n"
                                   "H100-SXM,1,1,,all_reduce,1024,9,0,calib,,\n"
                                   "H100-SXM,,8,,all_reduce,1024,9,0,calib,,\n"
                                   "H100-SXM,1,8,,all_reduce,1024,9,0,calib,,\n");
    const auto backtest = replayCollectives(table);
    ASSERT_TRUE(backtest) << core::describe(backtest.error());
    const char* words[] = {"alltoall", "MI355X",    "IB HDR",  "in place",  "context", "outlier",
                           "neither",  "has fewer", "one GPU", "not given", ""};
    ASSERT_EQ(backtest->rows.size(), std::size(words));
    for (std::size_t i = 0; i < std::size(words); ++i) {
        EXPECT_NE(backtest->rows[i].reason.find(words[i]), std::string::npos) << i << backtest->rows[i].reason;
        EXPECT_EQ(backtest->rows[i].replayed(), i + 1 == std::size(words)) << i;
    }
    const std::string text = backtestText(*backtest);
    EXPECT_NE(text.find("11 rows, 1 replayed"), std::string::npos) << text;
    EXPECT_NE(text.find("no preset for the GPU MI355X"), std::string::npos) << text;
}

TEST(Backtest, SourcesThatWeighTheSameLeanAsTheyDoOneByOne) {
    // Two rows, far slower than priced: the simulator is too fast, below 0, also where each source counts once.
    const auto backtest =
        replayCollectives(tableOf(kCollectives + "H100-SXM,1,8,,all_reduce,1048576,90000,0,calib,,a\n"
                                                 "H100-SXM,1,8,,all_reduce,1048576,90000,0,calib,,b\n"));
    ASSERT_TRUE(backtest) << core::describe(backtest.error());
    const core::Document document = backtestDocument({*backtest});
    const core::Document& once = *document.find("backtests")->items.at(0).find("each_source_once")->find("simulated");
    EXPECT_EQ(once.find("count")->integer, 2);
    EXPECT_LT(once.find("signed_median")->real, -1);
    EXPECT_DOUBLE_EQ(once.find("median")->real, -once.find("signed_median")->real);
}

TEST(Backtest, ProductsAndAttentionArePricedByTheirShapes) {
    const auto gemm =
        replayGemm(tableOf("gpu,dtype,kind,batch,m,n,k,tflops,time_us,flags\n"
                           "H100-SXM,bf16,gemm,,4096,4096,4096,,180,burst\n"
                           "B200-SXM,bf16,gemm,1,4096,4096,4096,1000,,sustained loop\n"
                           "B200-SXM,fp8,gemm,1,4096,4096,4096,1000,,\n"));
    ASSERT_TRUE(gemm) << core::describe(gemm.error());
    const double flops = 2.0 * 4096 * 4096 * 4096;
    EXPECT_DOUBLE_EQ(gemm->rows[0].measured, 180e-6);
    EXPECT_DOUBLE_EQ(gemm->rows[1].measured, flops / 1e15);
    EXPECT_NE(gemm->rows[2].reason.find("fp8"), std::string::npos);
    for (const bool sustained : {false, true}) {
        core::Gpu gpu = core::gpuPreset(sustained ? "b200-sxm" : "h100-sxm").value();
        if (!sustained) gpu.sustainedShare.value = 1;
        const auto priced =
            sim::priceGemm(1, 4096, 4096, 4096, true, 2.0 * 3 * 4096 * 4096, core::DType::BF16, sim::ratesOf(gpu, {}));
        EXPECT_DOUBLE_EQ(gemm->rows[sustained].predicted, priced.seconds);
    }
    ASSERT_EQ(gemm->defaults.size(), 2u);
    EXPECT_EQ(gemm->defaults[0].rows, 1);

    const auto attention =
        replayAttention(tableOf("gpu,impl,dtype,pass,causal,head_dim_qk,head_dim_v,seq,batch,heads,tflops,time_us\n"
                                "H100-SXM,FA3,fp16,fwd,1,128,128,4096,4,16,579,\n"
                                "H100-SXM,FA3,fp16,bwd,1,128,128,4096,4,16,400,\n"
                                "H100-SXM,FA3,fp16,fwd+bwd,1,128,128,4096,4,16,450,\n"
                                "H100-SXM,PyTorch-math,fp16,fwd,1,128,128,4096,4,16,40,\n"));
    ASSERT_TRUE(attention) << core::describe(attention.error());
    // 2 b h s^2 d of a causal forward (cost model facts 4.4).
    EXPECT_NEAR(attention->rows[0].measured, 2.0 * 4 * 16 * 4096 * 4096 * 128 / 579e12, 1e-12);
    EXPECT_NEAR(attention->rows[1].measured, 5.0 * 4 * 16 * 4096 * 4096 * 128 / 400e12, 1e-12);
    EXPECT_DOUBLE_EQ(attention->rows[2].predicted, attention->rows[0].predicted + attention->rows[1].predicted);
    EXPECT_NE(attention->rows[3].reason.find("not fused"), std::string::npos);
}

TEST(Backtest, SummariesAndConstantsAreMedians) {
    const ErrorSummary summary = summaryOf({-3, 1, 2, -0.5, 0.1});
    EXPECT_EQ(summary.count, 5u);
    EXPECT_EQ(summary.median, 1);
    EXPECT_EQ(summary.p90, 3);
    EXPECT_EQ(summary.signedMedian, 0.1);

    Backtest backtest;
    for (const double time : {1.0, 2.0, 4.0}) {
        ReplayedRow row;
        row.quantity = "time";
        row.measured = row.predicted = time;
        row.work = 1;
        backtest.rows.push_back(row);
        row.rate = true;  // the same as a rate of its own group: 1/s
        row.measured = 1 / time;
        row.constantGroup = "rates";
        backtest.rows.push_back(row);
    }
    fitConstants(backtest);
    ASSERT_EQ(backtest.constants.size(), 2u);
    EXPECT_EQ(backtest.constants[0].second, 0.5);
    EXPECT_EQ(backtest.constants[1].second, 0.5);
    for (std::size_t i = 0; i < 6; i += 2) {
        EXPECT_EQ(backtest.rows[i].constant, 2);
        EXPECT_EQ(backtest.rows[i + 1].constant, 0.5);
        EXPECT_NEAR(backtest.rows[i].constantError(), backtest.rows[i + 1].constantError(), 1e-12);
    }
    EXPECT_NEAR(backtest.rows[0].constantError(), std::log(2), 1e-12) << "too slow is above 0";
}

TEST(Backtest, AWrongCellNamesItsPlace) {
    const auto wrong = replayCollectives(tableOf(kCollectives + "H100-SXM,1,8,,all_reduce,1024,fast,0,calib,,\n"));
    ASSERT_FALSE(wrong);
    EXPECT_EQ(wrong.error().where, "m.csv:2 column \"time_us\"");
    const auto missing = replayGemm(tableOf("gpu,m,n,k,dtype\nx,1,1,1,bf16\n"));
    ASSERT_FALSE(missing);
    EXPECT_EQ(missing.error().where, "m.csv:1");
}

TEST(Backtest, PrintsTheExampleAsTablesJsonAndCsv) {
    Arguments arguments;
    EXPECT_EQ(runBacktest(arguments, {}).error().code, core::ErrorCode::Usage);
    arguments.collectives = {SHARDSCOPE_SOURCE_DIR "/examples/measured/all_reduce_8xa100.csv"};
    const auto printed = [&] {
        testing::internal::CaptureStdout();
        const auto ran = runBacktest(arguments, {});
        std::string text = testing::internal::GetCapturedStdout();
        EXPECT_TRUE(ran) << core::describe(ran.error());
        return text;
    };
    EXPECT_NE(printed().find("20 rows, 20 replayed"), std::string::npos);
    const auto folder = std::filesystem::temp_directory_path() / fmt::format("backtest_{}", ::getpid());
    std::filesystem::create_directory(folder);
    const std::string picture = folder / "scatter.svg", table = folder / "rows.csv";
    arguments.outputs = {picture, table};
    printed();
    const auto svg = readFile(picture);
    ASSERT_TRUE(svg) << core::describe(svg.error());
    std::size_t marks = 0;
    for (std::size_t at = svg->find("fill=\"none\""); at != std::string::npos; at = svg->find("fill=\"none\"", at + 1))
        ++marks;
    EXPECT_EQ(marks, 20u + 1u) << "a mark a row, and one in the legend";
    EXPECT_NE(svg->find("stas00/ml-engineering (20)"), std::string::npos);
    const auto rows = readFile(table);
    ASSERT_TRUE(rows);
    EXPECT_EQ(std::count(rows->begin(), rows->end(), '\n'), 21);
    std::filesystem::remove_all(folder);
    arguments.outputs = {"trace.json"};
    EXPECT_EQ(runBacktest(arguments, {}).error().code, core::ErrorCode::Usage);
    arguments.outputs.clear();
    arguments.csv = true;
    const std::string csv = printed();
    const auto again = parseCsv(csv, "out.csv");
    ASSERT_TRUE(again) << core::describe(again.error());
    EXPECT_EQ(again->rows.size(), 20u);
    EXPECT_EQ(CsvRow(*again, 0).text("line"), "2");
    EXPECT_EQ(again->columns.back(), "reason");
    arguments.json = true;
    EXPECT_EQ(runBacktest(arguments, {}).error().code, core::ErrorCode::Usage);
    arguments.csv = false;
    const auto document = core::parseJson(printed(), "out.json");
    ASSERT_TRUE(document) << core::describe(document.error());
    const core::Document& one = document->find("backtests")->items.front();
    EXPECT_EQ(one.find("all")->find("simulated")->find("count")->integer, 20);
    EXPECT_EQ(one.find("by")->find("GPU")->items.front().find("name")->text, "A100-SXM4-80GB");
}

}  // namespace
}  // namespace shardscope::cli
