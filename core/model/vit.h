#pragma once

// torchvision's VisionTransformer (framework semantics 8.1), and the sizes that go by a name.

#include <optional>
#include <string_view>
#include <vector>

#include "core/base/result.h"
#include "core/model/spec.h"

namespace shardscope::core {

/// "vit_b_16", ... in the order in which they are listed.
[[nodiscard]] std::vector<std::string_view> vitNames();
[[nodiscard]] std::optional<VitSpec> namedVit(std::string_view name);

/// Layers: "embedding" (conv_proj, class token, position), the encoder layers with one program, "encoder.ln",
/// "heads.head" (which selects the class token first) and "loss". Images are square; the workload's sequence length is
/// not used. Errors: sizes below 1 or beyond reason, an image that the patch does not divide, heads that do not divide
/// `hidden`.
[[nodiscard]] Result<Model> buildVit(const VitSpec& spec, const Workload& workload);

}  // namespace shardscope::core
