#include "core/model/size_check.h"

#include <string>

namespace shardscope::core {

Result<void> checkSizes(std::string_view where,
                        std::initializer_list<std::pair<std::string_view, std::int64_t>> sizes) {
    for (const auto& [name, value] : sizes) {
        if (value >= 1 && value <= kLargestSize) continue;
        return fail(ErrorCode::Input,
                    std::string(name) + " is " + std::to_string(value) + ", expected a whole number from 1 to 2^31",
                    std::string(where), "correct this size");
    }
    return {};
}

Result<void> checkLayers(std::string_view where, std::string_view blocks, std::int64_t count) {
    if (count <= kMostLayers) return {};
    return fail(
        ErrorCode::Input,
        std::string(blocks) + " is " + std::to_string(count) + ", expected at most " + std::to_string(kMostLayers),
        std::string(where), "every block is simulated; describe a model of fewer, wider blocks");
}

Result<void> checkWorkload(const Workload& workload) {
    SHARDSCOPE_TRY(checkSizes("training", {{"batch size", workload.batch}}));
    if (workload.sequence != 0) SHARDSCOPE_TRY(checkSizes("training", {{"sequence length", workload.sequence}}));
    return {};
}

}  // namespace shardscope::core
