#pragma once

// Names of modules that differ in a running number, as Python loops write them.

#include <string>
#include <utility>
#include <vector>

namespace shardscope::cli {

/// Whether two names differ in their last number alone, which counts on by one.
[[nodiscard]] bool follows(const std::string& before, const std::string& after);
/// "blocks.{i}" for three and more names that differ in one number only, which counts up from 0; empty if they do not.
[[nodiscard]] std::string runningName(const std::vector<std::string>& names);
/// The longest such stretch that begins at names[first]: its running name and how many names it is. None: "" and 1.
[[nodiscard]] std::pair<std::string, std::size_t> runningFrom(const std::vector<std::string>& names, std::size_t first);
/// model.get_submodule("blocks.3"), or with an f-string of a running name.
[[nodiscard]] std::string submodule(const std::string& name);

}  // namespace shardscope::cli
