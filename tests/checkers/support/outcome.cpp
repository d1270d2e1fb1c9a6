#include "tests/checkers/support/outcome.h"

#include <fmt/format.h>

#include <charconv>
#include <string_view>

namespace shardscope::checkers {

namespace {

constexpr std::string_view kLimit = "--left-out-at-most";

std::optional<int> countOf(std::string_view word) {
    int value = 0;
    const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
    if (error != std::errc{} || end != word.data() + word.size() || value < 0) return std::nullopt;
    return value;
}

}  // namespace

std::optional<Arguments> argumentsOf(int argc, const char* const* argv, const std::string& checker) {
    Arguments arguments;
    bool good = true;
    for (int i = 1; i < argc && good; ++i) {
        const std::string_view word = argv[i];
        if (word == kLimit) {
            arguments.leftOutAtMost = i + 1 < argc ? countOf(argv[++i]) : std::nullopt;
            good = arguments.leftOutAtMost.has_value();
        } else if (word.starts_with("--")) {
            good = false;
        } else {
            arguments.files.emplace_back(word);
        }
    }
    if (good && !arguments.files.empty()) return arguments;
    fmt::print(stderr, "usage: {} FILE... [{} N]\n", checker, kLimit);
    return std::nullopt;
}

int exitCode(const Outcome& outcome, const Arguments& arguments) {
    int code = outcome.different == 0 ? 0 : 1;
    if (outcome.equal == 0) {
        fmt::print("nothing was held against the code\n");
        code = 1;
    }
    if (arguments.leftOutAtMost && outcome.leftOut > *arguments.leftOutAtMost) {
        fmt::print("{} are left out, where {} may be\n", outcome.leftOut, *arguments.leftOutAtMost);
        code = 1;
    }
    return code;
}

}  // namespace shardscope::checkers
