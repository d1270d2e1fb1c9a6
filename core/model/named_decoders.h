#pragma once

// Decoders that can be named without a file: the shapes of their public config.json.

#include <optional>
#include <string_view>
#include <vector>

#include "core/model/spec.h"

namespace shardscope::core {

/// The decoder of that name ("llama-3.1-8b", "gpt2"), if there is one.
[[nodiscard]] std::optional<DecoderSpec> namedDecoder(std::string_view name);

/// All names, by family and size.
[[nodiscard]] std::vector<std::string_view> decoderNames();

}  // namespace shardscope::core
