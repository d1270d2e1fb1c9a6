#pragma once

#include <string_view>

namespace shardscope::core {

/// Whether the module or parameter of that full name is `outer` or lies in it: "blocks.3.fc1.weight" in "blocks.3", not
/// in "blocks.30".
[[nodiscard]] inline bool liesIn(std::string_view name, std::string_view outer) {
    return name.starts_with(outer) && (name.size() == outer.size() || name[outer.size()] == '.');
}

}  // namespace shardscope::core
