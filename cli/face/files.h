#pragma once

// Reading whole files, within bounds, and writing them so that nothing half written is ever left behind.

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

#include "core/base/result.h"

namespace shardscope::cli {

/// What a text file (scenario, config.json, cluster, module tree, index) may measure at most.
inline constexpr std::int64_t kLargestText = std::int64_t{64} << 20;

/// The file's bytes. Errors (Io): missing, a folder, not readable, over `limit`.
[[nodiscard]] core::Result<std::string> readFile(const std::filesystem::path& path, std::int64_t limit = kLargestText);
/// The first `count` bytes, or all if the file is shorter.
[[nodiscard]] core::Result<std::string> readStart(const std::filesystem::path& path, std::int64_t count);
[[nodiscard]] core::Result<std::int64_t> sizeOfFile(const std::filesystem::path& path);

/// Writes beside `path` and renames over it, so that a full disk, a lack of permission or an interruption leaves what was
/// there before. What is no regular file (/dev/stdout, a pipe) is written in place. Errors: Io.
[[nodiscard]] core::Result<void> writeFile(const std::filesystem::path& path, std::string_view bytes);

/// Removes the files that writeFile is writing right now; called on an interruption. Async-signal-safe.
void removeUnfinishedFiles() noexcept;

}  // namespace shardscope::cli
