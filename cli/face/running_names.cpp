#include "cli/face/running_names.h"

#include <fmt/format.h>

namespace shardscope::cli {

namespace {

/// Where the last number of a name stands: [first, end); npos where there is none.
std::pair<std::size_t, std::size_t> lastNumber(const std::string& name) {
    const std::size_t last = name.find_last_of("0123456789");
    if (last == std::string::npos) return {std::string::npos, std::string::npos};
    std::size_t first = last;
    while (first > 0 && name[first - 1] >= '0' && name[first - 1] <= '9') --first;
    return {first, last + 1};
}

}  // namespace

bool follows(const std::string& before, const std::string& after) {
    const auto [first, end] = lastNumber(before);
    if (first == std::string::npos || end - first > 9) return false;
    const int number = std::stoi(before.substr(first, end - first));
    return after == before.substr(0, first) + std::to_string(number + 1) + before.substr(end);
}

std::string runningName(const std::vector<std::string>& names) {
    if (names.size() < 3) return "";
    const auto [first, end] = lastNumber(names[0]);
    if (first == std::string::npos) return "";
    for (std::size_t i = 0; i < names.size(); ++i)
        if (names[i] != names[0].substr(0, first) + std::to_string(i) + names[0].substr(end)) return "";
    return names[0].substr(0, first) + "{i}" + names[0].substr(end);
}

std::pair<std::string, std::size_t> runningFrom(const std::vector<std::string>& names, std::size_t first) {
    std::pair<std::string, std::size_t> longest{"", 1};
    const auto begin = names.begin() + static_cast<std::ptrdiff_t>(first);
    for (std::size_t n = 3; first + n <= names.size(); ++n) {
        std::string more = runningName({begin, begin + static_cast<std::ptrdiff_t>(n)});
        if (more.empty()) break;
        longest = {std::move(more), n};
    }
    return longest;
}

std::string submodule(const std::string& name) {
    return fmt::format("model.get_submodule({}\"{}\")", name.find('{') == std::string::npos ? "" : "f", name);
}

}  // namespace shardscope::cli
