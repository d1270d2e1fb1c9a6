#pragma once

// Loops over rows and elements. Compiled without contraction to fused multiply-adds: an element's result must not
// depend on whether it lies in a register's full width or in what is left over, or shards of different sizes would
// differ.

#include "runtime/cpu/loops.h"
#include "runtime/cpu/vectors/lanes.h"

namespace shardscope::runtime::cpu::SHARDSCOPE_VECTORS {

void layerNorm(const NormRows& of, const float* x, const float* weight, const float* bias, float* y, float* means,
               float* rstds);
void layerNormGrad(const NormRows& of, const float* dy, const float* x, const float* means, const float* rstds,
                   const float* weight, float* dx, float* dweight, float* dbias, double* scratch);
void add(const float* a, const float* b, float* sum, std::int64_t count);
void addToRows(const float* x, const float* added, float* sum, std::int64_t rows, std::int64_t columns);
void columnSums(const float* values, std::int64_t rows, std::int64_t columns, double* sums);
void adam(const AdamFactors& by, float* parameter, const float* gradient, float* first, float* second,
          std::int64_t count);
void widen(const std::uint16_t* bfloats, float* to, std::int64_t count);
void narrow(const float* from, std::uint16_t* bfloats, std::int64_t count);

}  // namespace shardscope::runtime::cpu::SHARDSCOPE_VECTORS
