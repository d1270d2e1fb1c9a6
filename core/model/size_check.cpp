#include "core/model/size_check.h"

#include <string>

namespace shardscope::core {

Result<void> checkSizes(std::string_view where,
                        std::initializer_list<std::pair<std::string_view, std::int64_t>> sizes) {
    for (const auto& [name, value] : sizes) {
        if (value >= 1 && value <= kLargestSize) continue;
        return fail(ErrorCode::Input,
                    std::string(name) + " is " + std::to_string(value) + ", expected a whole number from 1 to 2^40",
                    std::string(where));
    }
    return {};
}

Result<void> checkWorkload(const Workload& workload) {
    SHARDSCOPE_TRY(checkSizes("training", {{"batch size", workload.batch}}));
    if (workload.sequence != 0) SHARDSCOPE_TRY(checkSizes("training", {{"sequence length", workload.sequence}}));
    return {};
}

}  // namespace shardscope::core
