#pragma once

// What this machine can do: what `shardscope doctor` tells.

#include <cstdint>
#include <string>
#include <vector>

#include "core/base/quantities.h"

namespace shardscope::runtime {

struct Gpu {
    std::string name;
    std::string capability;  ///< "9.0"
    int multiprocessors = 0;
    core::Bytes memory;
    std::string pci;  ///< "0000:3b:00"
};

struct Machine {
    std::string processor;  ///< as the kernel names it; "unknown" if it does not
    int cores = 0;          ///< that this process may use
    core::Bytes memory;     ///< physical; 0 if unknown
    bool avx512 = false, amx = false;

    bool cudaBuilt = false;   ///< this build has a CUDA part
    std::string cudaLibrary;  ///< the file that was opened; empty if none could be
    std::string cudaRuntime;  ///< "13.0"
    std::string cudaDriver;   ///< empty: no driver
    std::string nccl, cupti;  ///< versions; empty: built without
    std::string cudaProblem;  ///< why no GPU can be used; empty if one can
    std::vector<Gpu> gpus;
};

/// Looks at this machine. `programFolder` is where the running program lies: the CUDA part is looked for beside it, in
/// ../lib of it, and in the folder that SHARDSCOPE_CUDA_LIBRARY names as a file.
[[nodiscard]] Machine inspectMachine(const std::string& programFolder);

}  // namespace shardscope::runtime
