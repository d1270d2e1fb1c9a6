#pragma once

// The models that go by a name.

#include <string>
#include <string_view>
#include <vector>

#include "core/model/spec.h"

namespace shardscope::core {

/// Vision transformers first, then decoders, in the order of their lists.
[[nodiscard]] std::vector<std::string> builtinModelNames();
/// Errors: an unknown name (Input; the nearest known one is offered). `where` is the place for the message.
[[nodiscard]] Result<ModelSpec> builtinModel(std::string_view name, const std::string& where);

}  // namespace shardscope::core
