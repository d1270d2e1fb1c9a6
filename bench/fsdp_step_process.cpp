// The FSDP step with a clock of its own for every rank, as a whole process: the time of the simulation and the largest
// resident memory of the process.
//
//     fsdp_step_process RANKS [speeds]

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <fstream>
#include <string>

#include "bench/clocks.h"
#include "bench/fsdp_step.h"
#include "sim/run/simulate.h"

namespace {

long peakKilobytes() {
    std::ifstream status("/proc/self/status");
    for (std::string line; std::getline(status, line);)
        if (line.starts_with("VmHWM:")) return std::strtol(line.c_str() + 6, nullptr, 10);
    return -1;
}

}  // namespace

int main(int argc, char** argv) {
    using namespace shardscope;
    const std::int64_t ranks = argc > 1 ? std::strtoll(argv[1], nullptr, 10) : 0;
    if (ranks < 1 || ranks > (1 << 24)) {
        std::fprintf(stderr, "usage: fsdp_step_process RANKS [speeds]\n");
        return 2;
    }
    const bool speeds = argc > 2 && std::strcmp(argv[2], "speeds") == 0;
    const auto begin = std::chrono::steady_clock::now();
    const std::clock_t cpuBegin = std::clock();
    const auto step = bench::fsdpStep(ranks);
    const auto result = sim::simulate(step.graph, step.prices, bench::randomClocks(ranks, speeds));
    const std::clock_t cpuEnd = std::clock();
    const auto end = std::chrono::steady_clock::now();
    if (!result) {
        std::fprintf(stderr, "%s\n", core::describe(result.error()).c_str());
        return 1;
    }
    std::int64_t waits = 0;
    for (const auto& rank : result->breakdown) waits += rank.gpuWaits();
    std::printf("%lld ranks, step %lld ns, mean wait %lld ns, %.2f ms (CPU %.2f), VmHWM %.1f MiB\n",
                static_cast<long long>(ranks), static_cast<long long>(result->step),
                static_cast<long long>(waits / ranks), std::chrono::duration<double, std::milli>(end - begin).count(),
                1e3 * static_cast<double>(cpuEnd - cpuBegin) / CLOCKS_PER_SEC,
                static_cast<double>(peakKilobytes()) / 1024.0);
}
