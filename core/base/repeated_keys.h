#pragma once

// JSON in which a key may be there twice, since the program that reads it otherwise takes it so.

#include "core/base/document.h"

namespace shardscope::core {

/// As parseJson, but of a key that is there twice in one table the last counts, at the place of the first: what the
/// safetensors library does with its headers.
[[nodiscard]] Result<Document> parseJsonWithRepeatedKeys(std::string_view bytes, const std::string& name);

}  // namespace shardscope::core
