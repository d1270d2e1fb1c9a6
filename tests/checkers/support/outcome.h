#pragma once

// What the checkers of recordings have in common: how they are called, and when they fail.

#include <optional>
#include <string>
#include <vector>

namespace shardscope::checkers {

/// CHECKER FILE... [--left-out-at-most N], in any order.
struct Arguments {
    std::vector<std::string> files;
    std::optional<int> leftOutAtMost;  ///< unset: any number of cases may be left out
};

/// Nothing where the words are not of that form; says so on stderr, with how `checker` is called.
[[nodiscard]] std::optional<Arguments> argumentsOf(int argc, const char* const* argv, const std::string& checker);

/// Cases that were held against the code, and those left out: a knob or a feature is missing.
struct Outcome {
    int equal = 0, different = 0, leftOut = 0;
};

/// 0 if something was held, nothing differs, and no more was left out than may be. Says why not on stdout.
[[nodiscard]] int exitCode(const Outcome& outcome, const Arguments& arguments);

}  // namespace shardscope::checkers
