#pragma once

// Reading files, within bounds.

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

#include "core/base/result.h"

namespace shardscope::cli {

/// What a text file (scenario, config.json, cluster, module tree, index) may measure at most.
inline constexpr std::int64_t kLargestText = std::int64_t{64} << 20;

/// Whether a path ends in ".svg", ".SVG", ...; `ending` in small letters.
[[nodiscard]] bool hasEnding(std::string_view path, std::string_view ending);

/// The file's bytes. Errors (Io): missing, a folder, a pipe or device, not readable, over `limit`.
[[nodiscard]] core::Result<std::string> readFile(const std::filesystem::path& path, std::int64_t limit = kLargestText);
/// The first `count` bytes, or all if the file is shorter.
[[nodiscard]] core::Result<std::string> readStart(const std::filesystem::path& path, std::int64_t count);
[[nodiscard]] core::Result<std::int64_t> sizeOfFile(const std::filesystem::path& path);

}  // namespace shardscope::cli
