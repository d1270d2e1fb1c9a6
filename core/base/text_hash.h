#pragma once

// For unordered containers that are keyed by names and asked with views of them.

#include <cstddef>
#include <functional>
#include <string_view>

namespace shardscope::core {

struct TextHash {
    using is_transparent = void;
    std::size_t operator()(std::string_view text) const { return std::hash<std::string_view>()(text); }
};

}  // namespace shardscope::core
