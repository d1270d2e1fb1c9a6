#include <gtest/gtest.h>

#include <cmath>

#include "cli/face/backtest.h"
#include "cli/face/report.h"
#include "cli/face/run_scenario.h"

namespace shardscope::cli {
namespace {

const std::string kColumns =
    "model,layers,hidden,heads,kv_heads,ffn,vocab,seq,gpu,gpu_mem_gb,n_gpus,gpus_per_node,internode,strategy,zero_"
    "stage,"
    "shard_degree,tp,pp,precision,reduce_dtype,optimizer,ac_mode,compile,attn,micro_bs,grad_accum,global_bs_seqs,"
    "framework,tags,quality,params_b,step_time_s,tokens_s_gpu,tokens_s_total,samples_s_total,peak_mem_gib,mem_metric,"
    "fits,"
    "source_id\n";

/// A small run with cells replaced by name.
std::string rowWith(const std::vector<std::pair<std::string, std::string>>& changes) {
    std::vector<std::pair<std::string, std::string>> cells{{"model", "GPT small"},
                                                           {"layers", "2"},
                                                           {"hidden", "256"},
                                                           {"heads", "4"},
                                                           {"kv_heads", "4"},
                                                           {"ffn", "1024"},
                                                           {"vocab", "50257"},
                                                           {"seq", "512"},
                                                           {"gpu", "H100-SXM"},
                                                           {"gpu_mem_gb", "80"},
                                                           {"n_gpus", "16"},
                                                           {"gpus_per_node", "8"},
                                                           {"strategy", "FSDP"},
                                                           {"zero_stage", "3"},
                                                           {"tp", "1"},
                                                           {"pp", "1"},
                                                           {"precision", "bf16"},
                                                           {"reduce_dtype", "fp32"},
                                                           {"optimizer", "AdamW"},
                                                           {"ac_mode", "none"},
                                                           {"compile", "no"},
                                                           {"attn", "flash"},
                                                           {"micro_bs", "2"},
                                                           {"grad_accum", "1"},
                                                           {"global_bs_seqs", "32"},
                                                           {"step_time_s", "0.5"},
                                                           {"fits", "Y"},
                                                           {"source_id", "here"},
                                                           {"quality", "A"}};
    std::vector<std::pair<std::string, std::string>> all = cells;
    all.insert(all.end(), changes.begin(), changes.end());
    std::string row;
    std::string_view columns(kColumns);
    columns.remove_suffix(1);
    while (true) {
        const std::size_t end = std::min(columns.find(','), columns.size());
        std::string value;
        for (const auto& [name, given] : all)
            if (name == columns.substr(0, end)) value = given;
        row += value;
        if (end == columns.size()) return row + "\n";
        row += ",";
        columns.remove_prefix(end + 1);
    }
}

CsvTable tableOf(const std::string& rows) {
    auto table = parseCsv(kColumns + rows, "runs.csv");
    EXPECT_TRUE(table) << core::describe(table.error());
    return table ? std::move(*table) : CsvTable{};
}

RunSetup setupWith(const std::vector<std::pair<std::string, std::string>>& changes) {
    const CsvTable table = tableOf(rowWith(changes));
    auto setup = setupOfRun(CsvRow(table, 0));
    EXPECT_TRUE(setup) << core::describe(setup.error());
    return setup ? std::move(*setup) : RunSetup{};
}

TEST(BacktestRuns, ARunIsTheSimulationOfItsScenario) {
    const CsvTable table = tableOf(
        rowWith({}) +
        rowWith({{"step_time_s", ""}, {"tokens_s_gpu", "1000"}, {"peak_mem_gib", "2"}, {"mem_metric", "peak active"}}));
    const auto backtest = replayRuns(table);
    ASSERT_TRUE(backtest) << core::describe(backtest.error());
    const RunSetup setup = setupWith({});
    EXPECT_EQ(setup.reason, "");
    const auto resolved = core::resolve(setup.scenario, setup.inputs);
    ASSERT_TRUE(resolved) << core::describe(resolved.error());
    EXPECT_EQ(resolved->cluster.ranks(), 16);
    EXPECT_EQ(resolved->globalBatch, 32);
    const auto report = evaluate(*resolved, "");
    ASSERT_TRUE(report);
    const PlanReport& plan = report->plans.front();
    const double seconds = static_cast<double>(plan.stepNs) * 1e-9;
    const ReplayedRow &time = backtest->rows[0], &rate = backtest->rows[1];
    ASSERT_EQ(time.reason, "");
    ASSERT_EQ(rate.reason, "");
    EXPECT_DOUBLE_EQ(time.predicted, seconds);
    EXPECT_DOUBLE_EQ(time.error(), std::log(seconds / 0.5));
    EXPECT_EQ(rate.quantity, "tokens/s/GPU");
    EXPECT_NEAR(rate.predicted, 2 * 512 / seconds, 1e-6);
    EXPECT_EQ(rate.memoryMetric, "allocated");
    EXPECT_DOUBLE_EQ(rate.predictedMemory,
                     static_cast<double>(plan.tightest().memory.step.hostOrder.total.value) / 1073741824.0);
    EXPECT_TRUE(time.predictedFits.value_or(false));
    // One MFU for both rows: what time alone gives is off by the ratio of the two.
    ASSERT_EQ(backtest->constants.size(), 1u);
    const double mfu = plan.mfu * seconds / 0.5;
    const double other = plan.mfu * seconds * 1000 / (2 * 512);
    EXPECT_NEAR(backtest->constants.front().second, std::max(mfu, other), 1e-9);
}

TEST(BacktestRuns, ColumnsBecomeKnobs) {
    using core::DType;
    const RunSetup plain = setupWith({});
    EXPECT_EQ(plain.scenario.parallelism.strategy, "fsdp");
    EXPECT_EQ(plain.scenario.parallelism.shardDegree, 16);
    EXPECT_EQ(plain.scenario.precision.param, DType::BF16);
    EXPECT_EQ(plain.scenario.precision.original, DType::F32);

    const RunSetup hybrid = setupWith({{"strategy", "HSDP"}, {"zero_stage", "2"}, {"ac_mode", "full (per block)"}});
    EXPECT_EQ(hybrid.scenario.parallelism.shardDegree, 8);
    EXPECT_EQ(hybrid.scenario.parallelism.replicateDegree, 2);
    EXPECT_EQ(hybrid.scenario.parallelism.reshard.word, "never");
    EXPECT_EQ(hybrid.scenario.training.checkpoint, "full");

    const RunSetup volta = setupWith({{"gpu", "V100-SXM2"},
                                      {"gpu_mem_gb", "16"},
                                      {"strategy", "DP"},
                                      {"zero_stage", ""},
                                      {"precision", "fp16 (amp)"},
                                      {"grad_accum", "4"},
                                      {"global_bs_seqs", ""}});
    EXPECT_EQ(volta.reason, "");
    EXPECT_EQ(volta.scenario.parallelism.strategy, "ddp");
    EXPECT_EQ(volta.scenario.cluster.gpu.text, "v100-sxm-16gb");
    EXPECT_EQ(volta.scenario.precision.param, DType::F16);
    EXPECT_EQ(volta.scenario.training.globalBatchSize, 2 * 16 * 4);

    const RunSetup narrow = setupWith({{"precision", "bf16 (all states)"},
                                       {"n_gpus", "1"},
                                       {"strategy", "single"},
                                       {"global_bs_seqs", "2"},
                                       {"zero_stage", ""}});
    EXPECT_EQ(narrow.scenario.parallelism.strategy, "single");
    EXPECT_EQ(narrow.scenario.precision.original, DType::BF16);
    EXPECT_FALSE(narrow.scenario.precision.param);

    const RunSetup named = setupWith({{"model", "Llama-3.1-8B"},
                                      {"layers", "4"},
                                      {"hidden", ""},
                                      {"heads", ""},
                                      {"kv_heads", ""},
                                      {"ffn", ""},
                                      {"vocab", ""}});
    const auto& spec = std::get<core::DecoderSpec>(named.inputs.model);
    EXPECT_EQ(named.reason, "");
    EXPECT_EQ(spec.layers, 4);
    EXPECT_EQ(spec.hidden, 4096);
    EXPECT_EQ(spec.kvHeads, 8);
}

// llm-foundry's mpt yamls ask for the fused loss and nn.GELU by default, its gpu extra installed flash-attn 1;
// Megatron-LM fuses bias and GELU by default and asks for --use-flash-attn.
TEST(BacktestRuns, ABlankIsFilledWithWhatTheStackRunsByDefault) {
    const auto specOf = [](const RunSetup& setup) { return std::get<core::DecoderSpec>(setup.inputs.model); };
    const RunSetup foundry = setupWith({{"model", "MPT-1b"}, {"framework", "Composer/FSDP1"}});
    EXPECT_EQ(foundry.scenario.model.attention, "flash1");
    EXPECT_TRUE(specOf(foundry).fusedGelu && specOf(foundry).fusedLoss);
    const RunSetup megatron = setupWith({{"framework", "Megatron-DeepSpeed"}, {"attn", ""}});
    EXPECT_EQ(megatron.scenario.model.attention, "eager");
    EXPECT_TRUE(specOf(megatron).fusedGelu && !specOf(megatron).fusedLoss);
    EXPECT_EQ(setupWith({{"framework", "Megatron-LM"}}).scenario.model.attention, "flash");
    const RunSetup other = setupWith({{"attn", ""}});
    EXPECT_EQ(other.scenario.model.attention, "flash");
    EXPECT_FALSE(specOf(other).fusedGelu || specOf(other).fusedLoss);
    EXPECT_EQ(setupWith({{"gpu", "V100-SXM2"}, {"precision", "fp16"}, {"attn", ""}}).scenario.model.attention, "eager");
}

// pytorch/torchtitan, benchmarks/llama3_h100_202412_torchtitan.md: 96 GB of HBM2e at 2.4 TB/s, a peak between SXM and
// NVL.
TEST(BacktestRuns, TheH100OfHbm2eHasRatesOfItsOwn) {
    const RunSetup setup = setupWith({{"gpu", "H100-SXM"}, {"gpu_mem_gb", "96"}});
    ASSERT_EQ(setup.reason, "");
    const auto resolved = core::resolve(setup.scenario, setup.inputs);
    ASSERT_TRUE(resolved) << core::describe(resolved.error());
    EXPECT_EQ(resolved->cluster.gpu.memoryBandwidth.value, 2.4e12);
    EXPECT_GT(resolved->cluster.gpu.bf16Flops.value, 835e12);
    EXPECT_LT(resolved->cluster.gpu.bf16Flops.value, 989e12);
    EXPECT_EQ(resolved->cluster.gpu.memory.value, 96 * 1073741824.0);
}

TEST(BacktestRuns, WhatIsNotModelledSaysWhy) {
    const struct {
        std::vector<std::pair<std::string, std::string>> changes;
        const char* words;
    } cases[] = {{{{"tp", "2"}}, "tensor parallelism"},
                 {{{"pp", "4"}}, "pipeline"},
                 {{{"tags", "core;lora"}}, "LoRA"},
                 {{{"tags", "moe"}}, "mixture"},
                 {{{"strategy", "ZeRO-3"}}, "ZeRO"},
                 {{{"strategy", "DP"}, {"zero_stage", "1"}}, "ZeRO"},
                 {{{"precision", "amp_fp8"}}, "fp8"},
                 {{{"compile", "yes"}}, "compiled"},
                 {{{"optimizer", "Muon"}}, "Muon"},
                 {{{"gpu", "RTX A6000"}}, "RTX A6000"},
                 {{{"ac_mode", "selective"}}, "selective"},
                 {{{"micro_bs", ""}}, "micro-batch"},
                 {{{"seq", ""}}, "sequence"},
                 {{{"layers", ""}}, "shape"},
                 {{{"model", "BERT"}}, "no form"},
                 {{{"quality", "C"}}, "quality C"},
                 {{{"tags", "core;legacy-table"}}, "superseded"},
                 {{{"n_gpus", "12"}}, "whole nodes"},
                 {{{"shard_degree", "3"}}, "does not divide"},
                 {{{"strategy", ""}, {"zero_stage", ""}}, "strategy is not given"},
                 {{{"strategy", "PP (1F1B)"}, {"zero_stage", ""}}, "strategy PP"}};
    for (const auto& one : cases) {
        const RunSetup setup = setupWith(one.changes);
        EXPECT_NE(setup.reason.find(one.words), std::string::npos) << one.words << ": " << setup.reason;
    }
}

TEST(BacktestRuns, RefusalsOfTheSimulatorAndOtherModelsAreReasonsToo) {
    const auto backtest = replayRuns(
        tableOf(rowWith({{"params_b", "70"}}) + rowWith({{"global_bs_seqs", "33"}}) + rowWith({{"step_time_s", ""}})));
    ASSERT_TRUE(backtest) << core::describe(backtest.error());
    EXPECT_NE(backtest->rows[0].reason.find("stated number of parameters"), std::string::npos);
    EXPECT_NE(backtest->rows[1].reason.find("refused by the simulator"), std::string::npos);
    EXPECT_NE(backtest->rows[2].reason.find("FLOP rate"), std::string::npos);
}

TEST(BacktestRuns, RecallCountsRunsThatRanOutOfMemory) {
    const std::vector<std::pair<std::string, std::string>> large{
        {"layers", "80"}, {"hidden", "8192"},       {"heads", "64"}, {"kv_heads", "64"}, {"ffn", "32768"},
        {"n_gpus", "8"},  {"global_bs_seqs", "16"}, {"fits", "OOM"}, {"step_time_s", ""}};
    const auto backtest = replayRuns(tableOf(rowWith({}) + rowWith(large) + rowWith({{"fits", "OOM"}})));
    ASSERT_TRUE(backtest) << core::describe(backtest.error());
    const std::string text = backtestText(*backtest);
    EXPECT_NE(text.find("ran: 1 predicted to fit, 0 not; out of memory: 1 predicted, 1 not"), std::string::npos)
        << text;
    EXPECT_NE(text.find("(recall): 50 %"), std::string::npos) << text;
}

TEST(BacktestRuns, AWrongCellEndsWithItsPlaceHoweverTheRowWouldEnd) {
    const auto wrong = replayRuns(tableOf(rowWith({{"tp", "2"}, {"layers", "many"}})));
    ASSERT_FALSE(wrong);
    EXPECT_EQ(wrong.error().where, "runs.csv:2 column \"layers\"");
    for (const char* huge : {"1e300", "-1", "99999999999"})
        EXPECT_FALSE(replayRuns(tableOf(rowWith({{"micro_bs", huge}})))) << huge;
    EXPECT_TRUE(replayRuns(tableOf(rowWith({{"micro_bs", "1073741824"}, {"grad_accum", "1073741824"}}))));
}

TEST(BacktestRuns, NetworkRatesAreReadFromTheirTexts) {
    EXPECT_EQ(networkRateCalled("400Gb/s per node", 8), 50e9);
    EXPECT_EQ(networkRateCalled("400Gb/s RDMA per GPU", 8), 400e9);
    EXPECT_EQ(networkRateCalled("8x200Gb/s HDR IB", 8), 200e9);
    EXPECT_EQ(networkRateCalled("2Tb/s RoCE per node", 8), 250e9);
    EXPECT_EQ(networkRateCalled("IB 100Gb/s per node", 8), 12.5e9);
    for (const char* none : {"", "InfiniBand", "Omni-Path (JZ)", "Gb/s per node", "Slingshot 200Gb/s"})
        EXPECT_FALSE(networkRateCalled(none, 8)) << none;
}

}  // namespace
}  // namespace shardscope::cli
