#pragma once

// The loops of the CPU's kernels that oneDNN is not used for, over contiguous float32 rows. They are compiled for
// any processor and, on x86-64, for AVX2 and for AVX-512 (runtime/cpu/vectors); which of them runs is decided by what
// the processor has (runtime/cpu/instruction_sets.h).

#include <cstdint>
#include <vector>

namespace shardscope::runtime::cpu {

struct NormRows {
    std::int64_t rows = 0, width = 0;
    double epsilon = 0;
};

/// What Adam does to every element (framework semantics 8.2), its corrections taken together.
struct AdamFactors {
    float decay = 0;   ///< of the gradient, L2
    float shrink = 0;  ///< of the parameter, decoupled: learning rate times weight decay
    float fresh1 = 0;  ///< 1 - beta1
    float beta2 = 0, fresh2 = 0;
    float rate = 0;  ///< learning rate / correction 1
    float root = 1;  ///< square root of correction 2
    float epsilon = 0;
};

/// Scores of one head, and what surrounds them. Rows may lie apart, by `row` floats.
struct HeadShape {
    std::int64_t queries = 0, keys = 0, width = 0;
    bool causal = false;
    float scale = 1;
};
struct HeadRows {
    const float* data = nullptr;
    std::int64_t row = 0;
};
struct HeadTarget {
    float* data = nullptr;
    std::int64_t row = 0;
};
struct HeadGradients {
    HeadRows dout, out;
    const float* logsumexp = nullptr;
    HeadTarget dq, dk, dv;
    bool add = false;  ///< dk and dv hold what other heads of queries have added
};

struct Loops {
    void (*layerNorm)(const NormRows&, const float* x, const float* weight, const float* bias, float* y, float* means,
                      float* rstds);
    /// `scratch`: 2 x width, zero
    void (*layerNormGrad)(const NormRows&, const float* dy, const float* x, const float* means, const float* rstds,
                          const float* weight, float* dx, float* dweight, float* dbias, double* scratch);
    /// sum = a + b; `sum` may be either
    void (*add)(const float* a, const float* b, float* sum, std::int64_t count);
    /// sum = x + added on every row of `columns`; `sum` may be x
    void (*addToRows)(const float* x, const float* added, float* sum, std::int64_t rows, std::int64_t columns);
    /// Adds the sums of the columns of [rows, columns] to `sums`; eight rows at a time are added up in float.
    void (*columnSums)(const float* values, std::int64_t rows, std::int64_t columns, double* sums);
    void (*adam)(const AdamFactors&, float* parameter, const float* gradient, float* first, float* second,
                 std::int64_t count);
    void (*widen)(const std::uint16_t* bfloats, float* to, std::int64_t count);
    void (*narrow)(const float* from, std::uint16_t* bfloats, std::int64_t count);
    /// Floats that a head needs beside its operands; its gradient needs twice as many.
    std::int64_t (*headScratch)(const HeadShape&);
    void (*head)(const HeadShape&, HeadRows q, HeadRows k, HeadRows v, HeadTarget out, float* logsumexp,
                 float* scratch);
    void (*headGrad)(const HeadShape&, HeadRows q, HeadRows k, HeadRows v, const HeadGradients&, float* scratch);
};

/// All that are compiled and that this processor runs, the best of them last.
[[nodiscard]] std::vector<const Loops*> runnableLoops();
/// The best of them.
[[nodiscard]] const Loops& loops();

namespace baseline {
[[nodiscard]] const Loops& compiledLoops();
}
namespace avx2 {
[[nodiscard]] const Loops& compiledLoops();
}
namespace avx512 {
[[nodiscard]] const Loops& compiledLoops();
}

}  // namespace shardscope::runtime::cpu
