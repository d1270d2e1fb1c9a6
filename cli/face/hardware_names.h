#pragma once

// What published tables call GPUs and machines, as presets.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace shardscope::cli {

/// "A100-SXM4-80GB" -> "a100-sxm-80gb"; a preset's own name is one too. Text in brackets ("H100-SXM (DGX)") does not
/// count. `memoryGb` decides between sizes of one kind where the name gives none; 0: unknown (then the larger one).
/// Nothing: no preset is that GPU.
[[nodiscard]] std::optional<std::string> gpuPresetCalled(std::string_view name, std::int64_t memoryGb = 0);

/// The node preset that a description of a network names ("EFAv2 32x100G (p5.48xlarge)"), or nothing.
[[nodiscard]] std::optional<std::string> nodePresetCalled(std::string_view network);

}  // namespace shardscope::cli
