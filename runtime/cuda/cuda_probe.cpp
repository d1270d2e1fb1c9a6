#include "runtime/cuda/cuda_probe.h"

#include <cuda_runtime_api.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstring>

#ifdef SHARDSCOPE_NCCL
#include <nccl.h>
#endif
#ifdef SHARDSCOPE_CUPTI
#include <cupti.h>
#endif

namespace {

template <std::size_t N>
void copyText(char (&to)[N], const char* from) {
    std::snprintf(to, N, "%s", from);
}

}  // namespace

extern "C" void shardscopeProbeCuda(ShardscopeCudaProbe* probe, ShardscopeGpu* gpus, size_t capacity) {
    *probe = ShardscopeCudaProbe{};
    cudaRuntimeGetVersion(&probe->runtimeVersion);
    cudaDriverGetVersion(&probe->driverVersion);
#ifdef SHARDSCOPE_NCCL
    int nccl = 0;
    if (ncclGetVersion(&nccl) == ncclSuccess) probe->ncclVersion = nccl;
#endif
#ifdef SHARDSCOPE_CUPTI
    std::uint32_t cupti = 0;
    if (cuptiGetVersion(&cupti) == CUPTI_SUCCESS) probe->cuptiVersion = cupti;
#endif
    int count = 0;
    if (const cudaError_t status = cudaGetDeviceCount(&count); status != cudaSuccess) {
        copyText(probe->problem, cudaGetErrorString(status));
        return;
    }
    if (count == 0) copyText(probe->problem, "the driver reports no GPU");
    probe->gpuCount = count;
    for (int i = 0; i < std::min<int>(count, static_cast<int>(capacity)); ++i) {
        cudaDeviceProp properties{};
        if (cudaGetDeviceProperties(&properties, i) != cudaSuccess) continue;
        ShardscopeGpu& gpu = gpus[i];
        gpu = ShardscopeGpu{};
        copyText(gpu.name, properties.name);
        gpu.major = properties.major;
        gpu.minor = properties.minor;
        gpu.multiprocessors = properties.multiProcessorCount;
        gpu.pciDomain = properties.pciDomainID;
        gpu.pciBus = properties.pciBusID;
        gpu.pciDevice = properties.pciDeviceID;
        gpu.memoryBytes = properties.totalGlobalMem;
    }
}
