#include "cli/face/draw_hardware.h"

#include <fmt/format.h>

#include <algorithm>

namespace shardscope::cli {
namespace {

constexpr std::int64_t kMostDrawn = 8;
constexpr std::size_t kCell = 8;

std::string gigabytes(double bytesPerSecond) {
    return fmt::format("{:.4g} GB/s", bytesPerSecond / 1e9);
}

/// Of a row of boxes: the middle of the i-th.
std::size_t middleOf(std::int64_t i) {
    return static_cast<std::size_t>(i) * kCell + kCell / 2;
}

/// A stroke below every box, at `columns`.
std::string strokes(const std::vector<std::size_t>& columns, std::size_t width, char stroke, const std::string& words) {
    std::string line(width, ' ');
    for (const std::size_t column : columns) line[column] = stroke;
    return words.empty() ? line : line + "   " + words;
}

std::string rail(std::size_t width, char filling, const std::vector<std::size_t>& joints, const std::string& words) {
    std::string line(width, filling);
    for (const std::size_t column : joints) line[column] = '+';
    return line + "   " + words;
}

/// GPUs 0 and 1, 2 and 3, ... joined in pairs.
std::string bridges(std::int64_t drawn, std::size_t width, const std::string& words) {
    std::string line(width, ' ');
    for (std::int64_t i = 0; i + 1 < drawn; i += 2) {
        for (std::size_t c = middleOf(i); c <= middleOf(i + 1); ++c) line[c] = '=';
        line[middleOf(i)] = line[middleOf(i + 1)] = '+';
    }
    return line + "   " + words;
}

std::string wordsOf(core::LinkKind link) {
    switch (link) {
        case core::LinkKind::NvSwitch: return "NVSwitch: every GPU to every other at full rate";
        case core::LinkKind::NvLinkMesh: return "NVLink without a switch: straight to some, through them to others";
        case core::LinkKind::NvLinkBridge: return "NVLink bridges: pairs only, the rest over PCIe";
        case core::LinkKind::PciePeer: return "PCIe, from GPU to GPU";
        case core::LinkKind::PcieHost: return "PCIe, through the host's memory";
        case core::LinkKind::InfinityFabric: return "Infinity Fabric: every GPU straight to every other";
    }
    return "";
}

std::string wordsOf(core::Transport transport) {
    switch (transport) {
        case core::Transport::InfiniBand: return "InfiniBand";
        case core::Transport::RoCE: return "RoCE";
        case core::Transport::Efa: return "EFA";
        case core::Transport::GpuDirectTcp: return "TCP from GPU memory (GPUDirect-TCPX)";
        case core::Transport::Tcp: return "TCP";
    }
    return "";
}

bool isOverPcie(core::LinkKind link) {
    return link == core::LinkKind::PciePeer || link == core::LinkKind::PcieHost;
}

}  // namespace

std::vector<std::string> drawNode(const core::Node& node, const core::Gpu& gpu) {
    const std::int64_t drawn = std::min(node.gpus, kMostDrawn);
    const std::int64_t nicCount = std::max<std::int64_t>(1, static_cast<std::int64_t>(node.nics.value));
    // NICs one by one where they are no more than the GPUs, else as many as fall to each GPU.
    const bool grouped = nicCount > drawn && nicCount % drawn == 0;
    const std::int64_t nicsDrawn = grouped ? drawn : std::min(nicCount, kMostDrawn);
    const std::int64_t nicsEach = grouped ? nicCount / drawn : 1;
    const std::size_t width = std::max<std::size_t>(static_cast<std::size_t>(std::max(drawn, nicsDrawn)) * kCell, 16);
    std::vector<std::size_t> gpuColumns, nicColumns;
    for (std::int64_t i = 0; i < drawn; ++i) gpuColumns.push_back(middleOf(i));
    const auto stride =
        static_cast<std::size_t>(std::max<std::int64_t>(1, drawn / std::max<std::int64_t>(1, nicsDrawn)));
    std::string nicBoxes(width, ' ');
    for (std::int64_t i = 0; i < nicsDrawn; ++i) {
        const std::size_t column = middleOf(0) + static_cast<std::size_t>(i) * stride * kCell;
        nicColumns.push_back(column);
        const std::string label = nicsEach > 1 ? fmt::format("{} NICs", nicsEach) : fmt::format("NIC {}", i);
        nicBoxes.replace(column - kCell / 2 + 1, label.size(), label);
    }
    std::string gpuBoxes(width, ' ');
    for (std::int64_t i = 0; i < drawn; ++i) {
        const std::string label = fmt::format("GPU {}", i);
        gpuBoxes.replace(middleOf(i) - kCell / 2 + 1, label.size(), label);
    }
    std::vector<std::string> lines;
    lines.push_back(gpuBoxes + (node.gpus > drawn ? fmt::format("   ... {} more", node.gpus - drawn) : ""));
    const std::string linkRate = gigabytes(node.linkBandwidth.value) + " a GPU";
    if (isOverPcie(node.link)) {
        lines.push_back(strokes(gpuColumns, width, '|', linkRate));
        lines.push_back(rail(width, '-', gpuColumns, wordsOf(node.link)));
    } else {
        if (node.gpus > 1) {
            lines.push_back(strokes(gpuColumns, width, '|', linkRate));
            if (node.link == core::LinkKind::NvLinkBridge)
                lines.push_back(bridges(drawn, width, wordsOf(node.link)));
            else
                lines.push_back(
                    rail(width, '=', gpuColumns,
                         wordsOf(node.link) + (node.linkDomain > node.gpus
                                                   ? fmt::format(", {} GPUs of {} nodes together", node.linkDomain,
                                                                 node.linkDomain / node.gpus)
                                                   : "")));
        }
        lines.push_back(strokes(gpuColumns, width, ':', gigabytes(gpu.pcieBandwidth.value) + " a GPU"));
        lines.push_back(rail(width, '-', gpuColumns, "PCIe, to the host and the NICs"));
    }
    lines.push_back(strokes(nicColumns, width, '|', ""));
    lines.push_back(nicBoxes + (nicCount > nicsDrawn * nicsEach
                                    ? fmt::format("   ... {} in all", nicCount)
                                    : fmt::format("   {} a NIC", gigabytes(node.networkBandwidth.value /
                                                                           static_cast<double>(nicCount)))));
    lines.push_back(strokes(nicColumns, width, '|', gigabytes(node.networkBandwidth.value) + " a node"));
    lines.push_back(rail(width, '~', nicColumns, wordsOf(node.transport) + ", between nodes"));
    for (std::string& line : lines) line.resize(line.find_last_not_of(' ') + 1);
    return lines;
}

std::vector<std::string> drawGpu(const core::Gpu& gpu, const core::Node& node) {
    constexpr int kWidth = 46;
    const std::string border = "+" + std::string(kWidth, '-') + "+";
    const auto line = [](const std::string& words) { return fmt::format("| {:<{}}|", words, kWidth - 1); };
    std::vector<std::string> lines{border};
    lines.push_back(line(fmt::format("{:.0f} multiprocessors", gpu.multiprocessors.value)));
    const std::pair<const char*, const core::Sourced*> peaks[] = {{"bfloat16", &gpu.bf16Flops},
                                                                  {"float16", &gpu.fp16Flops},
                                                                  {"tf32", &gpu.tf32Flops},
                                                                  {"float32", &gpu.fp32Flops}};
    for (const auto& [name, peak] : peaks)
        lines.push_back(line(peak->known ? fmt::format("  {:<9} {:>6.4g} TFLOP/s, dense", name, peak->value / 1e12)
                                         : fmt::format("  {:<9} no units of its own", name)));
    if (gpu.l2.known) lines.push_back(line(fmt::format("L2 {:.4g} MiB", gpu.l2.value / 1048576.0)));
    lines.push_back(border);
    lines.push_back(fmt::format("          |   {}", gigabytes(gpu.memoryBandwidth.value)));
    lines.push_back(border);
    lines.push_back(line(fmt::format("memory {:.4g} GiB, {:.4g} GiB of it usable", gpu.memory.value / 1073741824.0,
                                     gpu.memoryUsable.value / 1073741824.0)));
    lines.push_back(border);
    lines.push_back(fmt::format("     :   {} to the host (PCIe)", gigabytes(gpu.pcieBandwidth.value)));
    if (!isOverPcie(node.link) && node.gpus > 1)
        lines.push_back(fmt::format("     |   {} to its peers in {} ({})", gigabytes(node.linkBandwidth.value),
                                    node.name, core::nameOf(node.link)));
    return lines;
}

}  // namespace shardscope::cli
