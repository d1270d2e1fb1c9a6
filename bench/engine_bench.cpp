// The FSDP step of 161 ops a rank: every rank with its own clock, and folded into one.

#include <benchmark/benchmark.h>

#include "bench/clocks.h"
#include "bench/fsdp_step.h"
#include "sim/engine/event_engine.h"
#include "sim/run/simulate.h"

namespace {

using namespace shardscope;

// Contention on; five times of every rank, instants of four. `stragglers`: speeds differ too, so that no two ranks
// agree.
void ownClocks(benchmark::State& state, bool stragglers) {
    const std::int64_t ranks = state.range(0);
    const auto step = bench::fsdpStep(ranks);
    const auto prepared = sim::PreparedStep::prepare(step.graph).value();
    const auto options = bench::randomClocks(ranks, stragglers);
    for (auto _ : state) benchmark::DoNotOptimize(prepared.run(step.prices, options));
    const auto rankOps = static_cast<double>(ranks) * static_cast<double>(step.graph.ops.size());
    state.counters["per rank-op"] =
        benchmark::Counter(rankOps, benchmark::Counter::kIsIterationInvariantRate | benchmark::Counter::kInvert);
}
BENCHMARK_CAPTURE(ownClocks, offsets, false)->Arg(64)->Arg(4096)->Arg(65536)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(ownClocks, offsets_and_speeds, true)->Arg(64)->Arg(4096)->Arg(65536)->Unit(benchmark::kMillisecond);

void folded(benchmark::State& state) {
    const auto step = bench::fsdpStep(512);
    const auto prepared = sim::PreparedStep::prepare(step.graph).value();
    for (auto _ : state) benchmark::DoNotOptimize(prepared.run(step.prices));
}
BENCHMARK(folded)->Unit(benchmark::kMicrosecond);

void foldedEventEngine(benchmark::State& state) {
    const auto step = bench::fsdpStep(512);
    const auto wiring = sim::wire(step.graph).value();
    const auto instances = sim::foldedInstances(step.graph);
    for (auto _ : state) benchmark::DoNotOptimize(sim::runEvents(step.graph, wiring, step.prices, instances));
}
BENCHMARK(foldedEventEngine)->Unit(benchmark::kMicrosecond);

void eventEngineRankByRank(benchmark::State& state) {
    const auto step = bench::fsdpStep(state.range(0));
    const auto wiring = sim::wire(step.graph).value();
    const auto options = bench::randomClocks(state.range(0), true);
    auto instances = sim::allInstances(step.graph);
    for (std::size_t r = 0; r < instances.size(); ++r) {
        instances[r].offset = options.offsets[r];
        instances[r].computePpm = options.computePpm[r];
    }
    for (auto _ : state) benchmark::DoNotOptimize(sim::runEvents(step.graph, wiring, step.prices, instances));
}
BENCHMARK(eventEngineRankByRank)->Arg(64)->Unit(benchmark::kMillisecond);

void prepare(benchmark::State& state) {
    const auto step = bench::fsdpStep(512);
    for (auto _ : state) benchmark::DoNotOptimize(sim::PreparedStep::prepare(step.graph));
}
BENCHMARK(prepare)->Unit(benchmark::kMicrosecond);

}  // namespace
