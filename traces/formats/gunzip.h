#pragma once

// Unpacking.

#include <cstdint>
#include <string>

#include "core/base/result.h"

namespace shardscope::formats {

[[nodiscard]] bool isGzip(std::string_view bytes);

/// What was packed, all members of the file in a row. Errors: `name` is no gzip file, is cut off or damaged, or holds
/// more than `limit` bytes.
[[nodiscard]] core::Result<std::string> gunzip(std::string_view bytes, const std::string& name, std::int64_t limit);

}  // namespace shardscope::formats
