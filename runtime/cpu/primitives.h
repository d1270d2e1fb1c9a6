#pragma once

// oneDNN's primitives that a device has made, by what they compute and on how much. For any thread, one at a time.

#include <compare>
#include <memory>
#include <string_view>

#include "core/base/dtype.h"
#include "core/base/result.h"
#include "runtime/device/device.h"

namespace shardscope::runtime::cpu {

/// c[m,n] = a[m,k] b[k,n] + bias[n], row-major without gaps, all of one dtype; an operand that is stored transposed is
/// [k,m] or [n,k].
struct MatrixProduct {
    std::int64_t m = 0, n = 0, k = 0;
    bool transposeA = false, transposeB = false, bias = false;
    core::DType dtype = core::DType::F32;
    auto operator<=>(const MatrixProduct&) const = default;
};

/// Whether oneDNN has products of bfloat16 here: they need AVX-512, which DNNL_MAX_CPU_ISA may hide.
[[nodiscard]] bool multipliesBfloat16();

/// What oneDNN's status says: it has computed `what`, it has no kernel for it (false), or it has failed.
[[nodiscard]] core::Result<bool> outcomeOf(int status, std::string_view what);

/// Each is false where oneDNN has no kernel for what is asked.
class Primitives {
public:
    Primitives();
    Primitives(const Primitives&) = delete;
    Primitives& operator=(const Primitives&) = delete;
    ~Primitives();

    /// y = GELU(x), exact form, of `count` floats; dx = dy GELU'(x).
    [[nodiscard]] core::Result<bool> gelu(const float* x, float* y, std::int64_t count);
    [[nodiscard]] core::Result<bool> geluGrad(const float* dy, const float* x, float* dx, std::int64_t count);
    /// `bias` is null where the product has none.
    [[nodiscard]] core::Result<bool> multiply(const MatrixProduct& product, const std::byte* a, const std::byte* b,
                                              const std::byte* bias, std::byte* c);

private:
    struct Made;
    std::unique_ptr<Made> m_made;
};

}  // namespace shardscope::runtime::cpu
