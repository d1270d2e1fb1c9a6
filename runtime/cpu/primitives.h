#pragma once

// oneDNN's primitives that a device has made, by what they compute and on how much. For any thread, one at a time.

#include <map>
#include <memory>

#include "core/base/result.h"
#include "runtime/device/device.h"

namespace shardscope::runtime::cpu {

class Primitives {
public:
    Primitives();
    Primitives(const Primitives&) = delete;
    Primitives& operator=(const Primitives&) = delete;
    ~Primitives();

    /// y = GELU(x), exact form, of `count` floats; dx = dy GELU'(x).
    [[nodiscard]] core::Result<void> gelu(const float* x, float* y, std::int64_t count);
    [[nodiscard]] core::Result<void> geluGrad(const float* dy, const float* x, float* dx, std::int64_t count);

private:
    struct Made;
    std::unique_ptr<Made> m_made;
};

}  // namespace shardscope::runtime::cpu
