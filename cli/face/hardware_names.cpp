#include "cli/face/hardware_names.h"

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include "core/cluster/cluster.h"

namespace shardscope::cli {

std::optional<std::string> gpuPresetCalled(std::string_view name, std::int64_t memoryGb) {
    // A preset's name that ends in '-' is completed by the memory.
    static constexpr std::array<std::pair<std::string_view, std::string_view>, 24> kNames{{
        {"H100-SXM", "h100-sxm"},
        {"H100-PCIe", "h100-pcie"},
        {"H200-SXM", "h200-sxm"},
        {"H200-NVL", "h200-nvl"},
        {"H800-SXM", "h800-sxm"},
        {"B200-SXM", "b200-sxm"},
        {"B200", "b200-sxm"},
        {"B300-SXM", "b300-sxm"},
        {"GB200", "gb200"},
        {"GB300", "gb300"},
        {"A100", "a100-sxm-"},
        {"A100-SXM", "a100-sxm-"},
        {"A100-SXM-80GB", "a100-sxm-80gb"},
        {"A100-SXM4-80GB", "a100-sxm-80gb"},
        {"A100-SXM4-40GB", "a100-sxm-40gb"},
        {"A100-PCIe", "a100-pcie-"},
        {"V100-SXM2", "v100-sxm-"},
        {"V100-SXM2-16GB", "v100-sxm-16gb"},
        {"V100-SXM2-32GB", "v100-sxm-32gb"},
        {"V100-PCIE-16GB", "v100-pcie-16gb"},
        {"RTX4090", "rtx-4090"},
        {"RTX 4090", "rtx-4090"},
        {"RTX3090", "rtx-3090"},
        {"A10G", "a10g"},
    }};
    name = name.substr(0, name.find(" ("));
    const std::vector<std::string> presets = core::gpuPresetNames();
    if (std::find(presets.begin(), presets.end(), name) != presets.end()) return std::string(name);
    for (const auto& [word, preset] : kNames) {
        if (word != name) continue;
        if (!preset.ends_with('-')) return std::string(preset);
        const bool volta = preset.starts_with("v100");
        const std::int64_t small = volta ? 16 : 40, large = volta ? 32 : 80;
        return std::string(preset) + std::to_string(memoryGb == small ? small : large) + "gb";
    }
    return std::nullopt;
}

std::optional<std::string> nodePresetCalled(std::string_view network) {
    static constexpr std::array<std::pair<std::string_view, std::string_view>, 12> kParts{{
        {"p5.48xlarge", "p5"},
        {"p4de.24xlarge", "p4de"},
        {"p4d.24xlarge", "p4d"},
        {"DGX-1V", "dgx-1v"},
        {"DGX A100", "dgx-a100"},
        {"a3-highgpu", "a3-highgpu"},
        {"a3-megagpu", "a3-megagpu"},
        {"a3-ultragpu", "a3-ultragpu"},
        {"BM.GPU4.8", "oci-a100"},
        {"BM.GPU.H100.8", "oci-h100"},
        {"Dell XE9680", "dgx-h100"},
        {"no P2P", "rtx-4090-box"},
    }};
    for (const auto& [part, preset] : kParts)
        if (network.find(part) != std::string_view::npos) return std::string(preset);
    return std::nullopt;
}

}  // namespace shardscope::cli
