#pragma once

// What the CPU's kernels may use of the processor: what it has, and what DNNL_MAX_CPU_ISA leaves oneDNN of it.

namespace shardscope::runtime::cpu {

/// AVX2 with fused multiply-adds.
[[nodiscard]] bool hasAvx2();
/// What oneDNN calls avx512_core: AVX-512 F, BW, DQ and VL.
[[nodiscard]] bool hasAvx512();

}  // namespace shardscope::runtime::cpu
