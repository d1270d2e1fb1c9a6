// Reading what users bring: the time must grow with the size, not with its square.

#include <benchmark/benchmark.h>

#include <string>

#include "core/model/safetensors.h"
#include "core/model/shapes_model.h"

namespace {

using namespace shardscope;

/// The header of a file with so many 2 x 2 tensors, 60 of them in a block.
std::string headerOf(std::int64_t tensors) {
    std::string json = "{";
    for (std::int64_t i = 0; i < tensors; ++i)
        json += (i > 0 ? "," : "") + ("\"blocks." + std::to_string(i / 60) + ".t" + std::to_string(i % 60)) +
                R"(.weight":{"dtype":"F32","shape":[2,2],"data_offsets":[)" + std::to_string(16 * i) + "," +
                std::to_string(16 * i + 16) + "]}";
    json += "}";
    std::string bytes;
    for (int i = 0; i < 8; ++i) bytes += static_cast<char>(json.size() >> (8 * i) & 0xff);
    return bytes + json;
}

void safetensorsToModel(benchmark::State& state) {
    const std::string bytes = headerOf(state.range(0));
    const auto size = static_cast<std::int64_t>(bytes.size()) + 16 * state.range(0);
    for (auto _ : state) {
        const auto header = core::parseSafetensorsHeader(bytes, size, "bench.safetensors").value();
        const auto spec = core::shapesFromSafetensors("bench", {header}, nullptr).value();
        benchmark::DoNotOptimize(core::buildFromShapes(spec, {}));
    }
    state.SetComplexityN(state.range(0));
}
BENCHMARK(safetensorsToModel)->RangeMultiplier(4)->Range(1 << 10, 1 << 16)->Unit(benchmark::kMillisecond)->Complexity();

}  // namespace
