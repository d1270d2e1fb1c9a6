#pragma once

// The texts of core/cluster/presets, embedded at build time.

#include <span>
#include <string_view>

namespace shardscope::core {

struct PresetFile {
    std::string_view name;  ///< file name without its ending: "h100-sxm"
    std::string_view text;  ///< TOML
};

/// Sorted by name.
[[nodiscard]] std::span<const PresetFile> gpuPresetFiles();
[[nodiscard]] std::span<const PresetFile> nodePresetFiles();

}  // namespace shardscope::core
