#pragma once

// The C interface between the program and libshardscope_cuda.so. Fixed-size structs, so that the two can be built
// apart.

#include <stddef.h>
#include <stdint.h>

extern "C" {

struct ShardscopeGpu {
    char name[256];
    int32_t major, minor;  // compute capability
    int32_t multiprocessors;
    int32_t pciDomain, pciBus, pciDevice;
    uint64_t memoryBytes;
};

struct ShardscopeCudaProbe {
    int32_t runtimeVersion;  // 13000 for 13.0
    int32_t driverVersion;   // 0: no driver
    int32_t ncclVersion;     // 0: built without NCCL
    uint32_t cuptiVersion;   // 0: built without CUPTI
    int32_t gpuCount;        // GPUs of this machine, at most `capacity` of them described
    char problem[512];       // why there is no GPU to use; empty if there is one
};

// Fills `probe` and up to `capacity` entries of `gpus`. Never fails: what is missing is told in `problem`.
using ShardscopeProbeCuda = void (*)(struct ShardscopeCudaProbe* probe, struct ShardscopeGpu* gpus, size_t capacity);
void shardscopeProbeCuda(struct ShardscopeCudaProbe* probe, struct ShardscopeGpu* gpus, size_t capacity);
}
