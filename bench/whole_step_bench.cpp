// From a model and a plan to a step: what a face does for one answer, without reading files and drawing. Llama shapes
// under FSDP on H100 nodes.

#include <benchmark/benchmark.h>

#include "bench/clocks.h"
#include "core/cluster/cluster.h"
#include "core/graph/build.h"
#include "core/model/named_decoders.h"
#include "sim/memory/step_memory.h"
#include "sim/price/price_graph.h"
#include "sim/price/repricer.h"
#include "sim/run/simulate.h"
#include "sim/run/to_timeline.h"

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

// A knob changes that needs new prices only: prices, step, five times, memory, timeline. Targets for 80 layers: 5 ms
// folded, 20 ms with 1,024 clocks.
void knobToReport(benchmark::State& state, bool ownClocks) {
    const auto model = llama("llama-3.1-70b", 80);
    const auto graph = core::buildStepGraph(model, fsdp(1024)).value();
    const auto cluster = h100s(1024);
    const auto prepared = sim::PreparedStep::prepare(graph).value();
    const auto options = ownClocks ? bench::randomClocks(1024, true) : sim::RunOptions();
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
        benchmark::DoNotOptimize(sim::hostOrderMemory(graph, model, core::ClassId(0)));
    }
    state.counters["ops"] = static_cast<double>(graph.ops.size());
}
BENCHMARK_CAPTURE(knobToReport, identical_ranks, false)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(knobToReport, own_clocks, true)->Unit(benchmark::kMillisecond);

// Another plan: the graph is built anew.
void planToReport(benchmark::State& state) {
    const auto model = llama("llama-3.1-70b", 80);
    const auto cluster = h100s(1024);
    for (auto _ : state) {
        const auto graph = core::buildStepGraph(model, fsdp(1024)).value();
        const auto prices = sim::priceGraph(graph, model, cluster);
        const auto result = sim::simulate(graph, prices).value();
        benchmark::DoNotOptimize(sim::toTimeline(graph, model, prices, result));
        benchmark::DoNotOptimize(sim::hostOrderMemory(graph, model, core::ClassId(0)));
    }
}
BENCHMARK(planToReport)->Unit(benchmark::kMillisecond);

// Llama-3.1-405B over 16,384 identical ranks, from the shapes of its configuration. Target: 20 ms.
void llama405b(benchmark::State& state) {
    for (auto _ : state) {
        const auto model = llama("llama-3.1-405b", 126);
        const auto graph = core::buildStepGraph(model, fsdp(16384)).value();
        const auto prices = sim::priceGraph(graph, model, h100s(16384));
        const auto result = sim::simulate(graph, prices).value();
        benchmark::DoNotOptimize(sim::toTimeline(graph, model, prices, result));
        benchmark::DoNotOptimize(sim::hostOrderMemory(graph, model, core::ClassId(0)));
    }
}
BENCHMARK(llama405b)->Unit(benchmark::kMillisecond);

}  // namespace
