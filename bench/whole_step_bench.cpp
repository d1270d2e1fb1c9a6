// From a model's file or a changed knob to a finished report: what a face does for one answer. Llama shapes under FSDP
// on H100 nodes.

#include <benchmark/benchmark.h>

#include <string>

#include "bench/clocks.h"
#include "cli/face/load.h"
#include "cli/face/report.h"
#include "core/graph/build.h"
#include "core/model/named_decoders.h"
#include "sim/price/price_graph.h"
#include "sim/price/repricer.h"
#include "sim/run/simulate.h"
#include "sim/run/to_timeline.h"
#include "traces/timeline/causes.h"
#include "traces/timeline/compute_work.h"

namespace {

using namespace shardscope;

core::Model llama(std::string_view name, std::int64_t layers) {
    core::DecoderSpec spec = core::namedDecoder(name).value();
    spec.layers = layers;
    core::Workload workload;
    workload.sequence = 8192;
    workload.dtype = core::DType::BF16;
    return core::buildModel(spec, workload).value();
}

core::Plan fsdp(std::int64_t ranks) {
    core::Plan plan;
    plan.mesh.dpShard = ranks;
    plan.precision.param = core::DType::BF16;
    plan.precision.reduce = core::DType::F32;
    return plan;
}

core::Cluster h100s(std::int64_t ranks) {
    return core::makeCluster("h100-sxm", "", ranks / 8).value();
}

// Target: 10 us for 32 layers.
void repriceAndRun(benchmark::State& state) {
    const auto model = llama("llama-3.1-8b", state.range(0));
    const auto graph = core::buildStepGraph(model, fsdp(1024)).value();
    const auto cluster = h100s(1024);
    const auto prepared = sim::PreparedStep::prepare(graph).value();
    sim::Repricer repricer(graph, model);
    sim::Prices prices;
    sim::PriceKnobs knobs;
    double share = 0.4;
    for (auto _ : state) {
        knobs.computeShare = share = share < 0.6 ? share + 0.001 : 0.4;
        repricer.price(cluster, knobs, prices);
        benchmark::DoNotOptimize(prepared.run(prices));
    }
    state.counters["ops"] = static_cast<double>(graph.ops.size());
}
BENCHMARK(repriceAndRun)->Arg(32)->Unit(benchmark::kMicrosecond);

cli::Loaded loaded(const std::string& input, std::int64_t ranks) {
    const std::vector<std::string> settings{"cluster.gpu=h100-sxm", "training.seq_len=8192",
                                            "parallelism.data_parallel_shard_degree=" + std::to_string(ranks)};
    return cli::load(input, settings).value();
}

std::string finishedReport(const cli::Loaded& from) {
    const auto resolved = core::resolve(from.scenario, from.inputs, std::vector<std::string>{"fsdp"}).value();
    return cli::textReport(cli::evaluate(resolved, from.source).value());
}

// One knob changes, and everything is done anew: model, graph, prices, step, five times, causes, memory in both views,
// timeline, text. Target for 1,024 identical ranks and 80 layers: 5 ms.
void knobToReport(benchmark::State& state) {
    cli::Loaded from = loaded("llama-3.1-70b", 1024);
    std::int64_t sequence = 4096;
    for (auto _ : state) {
        from.scenario.training.seqLen = sequence = sequence < 8192 ? sequence + 8 : 4096;
        benchmark::DoNotOptimize(finishedReport(from));
    }
}
BENCHMARK(knobToReport)->Unit(benchmark::kMillisecond);

// A knob changes that needs new prices only, every rank with a clock of its own: prices, step, five times and peak
// memory of every rank, timeline and causes of the chosen ones, memory. Target for 1,024 clocks and 80 layers: 20 ms.
void knobToReportOwnClocks(benchmark::State& state) {
    const auto model = llama("llama-3.1-70b", 80);
    const auto graph = core::buildStepGraph(model, fsdp(1024)).value();
    const auto cluster = h100s(1024);
    const auto prepared = sim::PreparedStep::prepare(graph).value();
    const auto options = bench::randomClocks(1024, true);
    sim::Repricer repricer(graph, model);
    sim::Prices prices;
    sim::PriceKnobs knobs;
    double share = 0.4;
    for (auto _ : state) {
        knobs.computeShare = share = share < 0.6 ? share + 0.001 : 0.4;
        repricer.price(cluster, knobs, prices);
        const auto result = prepared.run(prices, options).value();
        const auto line = sim::toTimeline(graph, model, prices, result, options);
        benchmark::DoNotOptimize(timeline::breakdownOf(line));
        benchmark::DoNotOptimize(timeline::computeWorkOf(line));
        const timeline::CauseFinder finder(line);
        for (std::uint32_t row = 0; row < line.ranks.size(); ++row) benchmark::DoNotOptimize(finder.totalsOf(row));
        benchmark::DoNotOptimize(sim::hostOrderMemory(graph, model, core::ClassId(0)));
    }
    state.counters["ops"] = static_cast<double>(graph.ops.size());
}
BENCHMARK(knobToReportOwnClocks)->Unit(benchmark::kMillisecond);

// Llama-3.1-405B over 16,384 identical ranks, from its config.json to the text of the report. Target: 20 ms.
void llama405b(benchmark::State& state) {
    for (auto _ : state)
        benchmark::DoNotOptimize(
            finishedReport(loaded(SHARDSCOPE_SOURCE_DIR "/bench/llama_3_1_405b/config.json", 16384)));
}
BENCHMARK(llama405b)->Unit(benchmark::kMillisecond);

}  // namespace
