#include "runtime/executor/rank_map.h"

namespace shardscope::runtime {

std::vector<std::int64_t> RankMap::membersOf(const core::Group& group) const {
    const std::int64_t first = rank - rank / group.stride % group.size * group.stride;
    std::vector<std::int64_t> members;
    for (std::int64_t i = 0; i < group.size; ++i) members.push_back(first + i * group.stride);
    return members;
}

}  // namespace shardscope::runtime
