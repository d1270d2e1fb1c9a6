#pragma once

#include <string>
#include <string_view>

namespace shardscope::core {

/// Whether the module or parameter of that full name is `outer` or lies in it: "blocks.3.fc1.weight" in "blocks.3", not
/// in "blocks.30".
[[nodiscard]] inline bool liesIn(std::string_view name, std::string_view outer) {
    return name.starts_with(outer) && (name.size() == outer.size() || name[outer.size()] == '.');
}

/// Puts "a.b" in place of `full`, whose memory serves again; either part may be empty.
inline const std::string& joinNames(std::string& full, std::string_view a, std::string_view b) {
    full = a;
    if (!a.empty() && !b.empty()) full += '.';
    return full += b;
}

/// "a.b"
[[nodiscard]] inline std::string joinNames(std::string_view a, std::string_view b) {
    std::string full;
    full.reserve(a.size() + 1 + b.size());
    joinNames(full, a, b);
    return full;
}

}  // namespace shardscope::core
