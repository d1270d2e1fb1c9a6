#include "core/plan/autocast.h"

#include <fmt/format.h>

namespace shardscope::core {

Result<void> checkAutocast(const Precision& precision) {
    if (precision.original == DType::F32 && sizeOf(precision.compute()) < sizeOf(DType::F32)) return {};
    return fail(ErrorCode::Input,
                fmt::format("found true with parameters in {} and products in {}, expected float32 and a shorter one",
                            nameOf(precision.original), nameOf(precision.compute())),
                "[precision] autocast", "set dtype = \"float32\" and mixed_precision_param = \"bfloat16\"");
}

}  // namespace shardscope::core
