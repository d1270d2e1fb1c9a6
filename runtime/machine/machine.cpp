#include "runtime/machine/machine.h"

#include <dlfcn.h>
#include <fmt/format.h>
#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <fstream>

#include "runtime/cuda/cuda_probe.h"

namespace shardscope::runtime {
namespace {

void readProcessor(Machine& machine) {
    machine.processor = "unknown";
    std::ifstream file("/proc/cpuinfo");
    for (std::string line; std::getline(file, line);) {
        if (line.starts_with("model name")) {
            if (const auto colon = line.find(": "); colon != std::string::npos)
                machine.processor = line.substr(colon + 2);
        } else if (line.starts_with("flags")) {
            machine.avx512 = line.find(" avx512f") != std::string::npos;
            machine.amx = line.find(" amx_tile") != std::string::npos;
            break;
        }
    }
    cpu_set_t allowed;
    if (sched_getaffinity(0, sizeof allowed, &allowed) == 0) machine.cores = CPU_COUNT(&allowed);
    const long pages = sysconf(_SC_PHYS_PAGES), pageSize = sysconf(_SC_PAGE_SIZE);
    if (pages > 0 && pageSize > 0) machine.memory = {static_cast<std::int64_t>(pages) * pageSize};
}

/// CUDA writes 13.0 as 13000, CUPTI's number is its own.
std::string cudaVersion(int version) {
    return fmt::format("{}.{}", version / 1000, version % 1000 / 10);
}

/// NCCL writes 2.28.3 as 22803 from 2.9 on.
std::string ncclVersion(int version) {
    return fmt::format("{}.{}.{}", version / 10000, version % 10000 / 100, version % 100);
}

/// A handle is kept open on purpose: the CUDA runtime cannot be unloaded safely.
void* openCudaPart(const std::string& programFolder, Machine& machine) {
    std::vector<std::string> candidates;
    if (const char* file = std::getenv("SHARDSCOPE_CUDA_LIBRARY")) candidates.emplace_back(file);
    for (const char* place : {"/libshardscope_cuda.so", "/../lib/libshardscope_cuda.so"})
        candidates.push_back(programFolder + place);
    for (const std::string& file : candidates) {
        if (access(file.c_str(), R_OK) != 0) continue;
        if (void* handle = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL)) {
            machine.cudaLibrary = file;
            return handle;
        }
        const char* why = dlerror();
        machine.cudaProblem = fmt::format("{} cannot be opened: {}", file, why ? why : "no reason given");
    }
    if (machine.cudaProblem.empty())
        machine.cudaProblem = machine.cudaBuilt
                                  ? "libshardscope_cuda.so does not lie beside the program"
                                  : "this build has no CUDA part (no toolkit was found when it was built)";
    return nullptr;
}

void probeCuda(const std::string& programFolder, Machine& machine) {
#ifdef SHARDSCOPE_CUDA_BUILT
    machine.cudaBuilt = true;
#endif
    void* handle = openCudaPart(programFolder, machine);
    if (handle == nullptr) return;
    const auto probeFunction = reinterpret_cast<ShardscopeProbeCuda>(dlsym(handle, "shardscopeProbeCuda"));
    if (probeFunction == nullptr) {
        machine.cudaProblem = machine.cudaLibrary + " has no probe: it belongs to another version";
        return;
    }
    ShardscopeCudaProbe probe{};
    std::array<ShardscopeGpu, 32> gpus{};
    probeFunction(&probe, gpus.data(), gpus.size());
    machine.cudaRuntime = cudaVersion(probe.runtimeVersion);
    if (probe.driverVersion > 0) machine.cudaDriver = cudaVersion(probe.driverVersion);
    if (probe.ncclVersion > 0) machine.nccl = ncclVersion(probe.ncclVersion);
    if (probe.cuptiVersion > 0) machine.cupti = std::to_string(probe.cuptiVersion);
    machine.cudaProblem = probe.problem;
    const int described = std::min<int>(probe.gpuCount, static_cast<int>(gpus.size()));
    for (int i = 0; i < described; ++i) {
        const ShardscopeGpu& gpu = gpus[static_cast<std::size_t>(i)];
        machine.gpus.push_back({gpu.name,
                                fmt::format("{}.{}", gpu.major, gpu.minor),
                                gpu.multiprocessors,
                                {static_cast<std::int64_t>(gpu.memoryBytes)},
                                fmt::format("{:04x}:{:02x}:{:02x}", gpu.pciDomain, gpu.pciBus, gpu.pciDevice)});
    }
}

}  // namespace

Machine inspectMachine(const std::string& programFolder) {
    Machine machine;
    readProcessor(machine);
    probeCuda(programFolder, machine);
    return machine;
}

}  // namespace shardscope::runtime
