// Holds the presets of GPUs and nodes against tables of hardware, and prints what differs or is missing.
//
//   check_presets GPUS.csv NODES.csv [--left-out-at-most N]
//
// GPUS.csv: gpu, mem_gb, mem_bw_gbs, bf16_tflops, fp16_tflops, tf32_tflops, fp32_tflops, sms, l2_mb, pcie_gbs_per_dir,
// mamf_bf16_tflops, torch_visible_gib. NODES.csv: node, gpus, nics, nic_total_gbs_per_dir, transport, nvlink_domain. A
// blank cell is not compared. Rates may differ by half a percent (data sheets round). TPUs have no preset; more than N
// of them fail.

#include <fmt/format.h>

#include <array>
#include <cctype>
#include <cmath>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "cli/face/csv_table.h"
#include "cli/face/files.h"
#include "core/cluster/cluster.h"
#include "tests/checkers/support/outcome.h"

using namespace shardscope;
using cli::CsvRow;
using cli::CsvTable;

namespace {

constexpr double kGibi = 1024.0 * 1024.0 * 1024.0;

int differences = 0, compared = 0, leftOut = 0;

void differ(const std::string& text) {
    fmt::print("{}\n", text);
    ++differences;
}

core::Result<CsvTable> read(const std::string& file, const std::vector<std::string_view>& columns) {
    SHARDSCOPE_ASSIGN(const std::string bytes, cli::readFile(file));
    SHARDSCOPE_ASSIGN(CsvTable table, cli::parseCsv(bytes, file));
    SHARDSCOPE_TRY(cli::requireColumns(table, columns));
    return table;
}

/// Compares a cell, times `scale`, with a preset's value in the cell's unit.
core::Result<void> compare(const CsvRow& row, std::string_view column, const std::string& preset, double value,
                           double scale = 1) {
    SHARDSCOPE_ASSIGN(const std::optional<double> cell, row.number(column, 0, 1e9));
    if (!cell) return {};
    ++compared;
    const double wanted = *cell * scale;
    if (std::abs(value - wanted) > 0.005 * wanted)
        differ(fmt::format("{}: {} is {:g}, in the table {:g}", preset, column, value, wanted));
    return {};
}

core::Result<void> compareGpu(const CsvRow& row) {
    const std::string called(row.text("gpu"));
    if (called.starts_with("TPU")) {
        fmt::print("{}: no preset; what is simulated is PyTorch over NCCL or RCCL\n", called);
        ++leftOut;
        return {};
    }
    // A process sees one of MI250X's two dies.
    const bool half = called == "MI250X";
    std::string name;
    for (const char c : called) name += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    if (const std::size_t at = name.find("sxm2"); at != std::string::npos) name.erase(at + 3, 1);
    if (name.starts_with("rtx")) name.insert(3, "-");
    if (half) name += "-die";
    const auto gpu = core::gpuPreset(name);
    if (!gpu) {
        differ(fmt::format("{}: {}", called, core::describe(gpu.error())));
        return {};
    }
    const double part = half ? 0.5 : 1;
    const auto rate = [&](std::string_view column, const core::Sourced& value, double scale,
                          double share) -> core::Result<void> {
        return compare(row, column, name, value.value / scale, share);
    };
    SHARDSCOPE_TRY(rate("mem_gb", gpu->memory, kGibi, part));
    SHARDSCOPE_TRY(rate("mem_bw_gbs", gpu->memoryBandwidth, 1e9, part));
    SHARDSCOPE_TRY(rate("bf16_tflops", gpu->bf16Flops, 1e12, part));
    SHARDSCOPE_TRY(rate("fp16_tflops", gpu->fp16Flops, 1e12, part));
    SHARDSCOPE_TRY(rate("tf32_tflops", gpu->tf32Flops, 1e12, part));
    SHARDSCOPE_TRY(rate("fp32_tflops", gpu->fp32Flops, 1e12, part));
    SHARDSCOPE_TRY(rate("sms", gpu->multiprocessors, 1, part));
    SHARDSCOPE_TRY(rate("l2_mb", gpu->l2, 1024.0 * 1024.0, part));
    SHARDSCOPE_TRY(rate("pcie_gbs_per_dir", gpu->pcieBandwidth, 1e9, 1));
    SHARDSCOPE_TRY(rate("torch_visible_gib", gpu->memoryUsable, kGibi, 1));
    return compare(row, "mamf_bf16_tflops", name, gpu->gemmShare.value * gpu->bf16Flops.value / 1e12);
}

std::vector<std::string> nodePresetsOf(std::string_view called) {
    static constexpr std::array<std::pair<std::string_view, std::string_view>, 28> kNames{{
        {"DGX-1V", "dgx-1v"},
        {"DGX A100", "dgx-a100"},
        {"DGX H100/H200", "dgx-h100 dgx-h200"},
        {"DGX B200", "dgx-b200"},
        {"DGX B300", "dgx-b300"},
        {"GB200 NVL72", "gb200-nvl72"},
        {"GB300 NVL72", "gb300-nvl72"},
        {"AWS p3dn.24xlarge", "p3dn"},
        {"AWS p4d.24xlarge", "p4d"},
        {"AWS p4de.24xlarge", "p4de"},
        {"AWS p5.48xlarge", "p5"},
        {"AWS p5en.48xlarge", "p5en"},
        {"AWS p6-b200.48xlarge", "p6-b200"},
        {"AWS p6-b300.48xlarge", "p6-b300"},
        {"AWS g5.48xlarge", "g5"},
        {"AWS g6.48xlarge", "g6"},
        {"AWS g6e.48xlarge", "g6e"},
        {"GCP a2-ultragpu-8g", "a2-ultragpu"},
        {"GCP a3-highgpu-8g", "a3-highgpu"},
        {"GCP a3-megagpu-8g", "a3-megagpu"},
        {"GCP a3-ultragpu-8g", "a3-ultragpu"},
        {"GCP a4-highgpu-8g", "a4-highgpu"},
        {"Azure ND96asr/amsr A100 v4", "nd-a100-v4"},
        {"Azure ND H100 v5", "nd-h100-v5"},
        {"Azure ND GB200 v6", "nd-gb200-v6"},
        {"OCI BM.GPU4.8 / B4.8", "oci-a100"},
        {"OCI BM.GPU.H100.8", "oci-h100"},
        {"OCI BM.GPU.MI300X.8", "oci-mi300x"},
    }};
    std::vector<std::string> presets;
    for (const auto& [word, names] : kNames) {
        if (word != called) continue;
        for (std::string_view rest = names; !rest.empty();) {
            const std::string_view one = rest.substr(0, rest.find(' '));
            presets.emplace_back(one);
            rest.remove_prefix(std::min(rest.size(), one.size() + 1));
        }
    }
    return presets;
}

/// What a table calls a transport; a name with both EFA and ENA is a node whose GPUs have no direct path to it.
core::Transport transportOf(std::string_view words) {
    if (words.starts_with("IB")) return core::Transport::InfiniBand;
    if (words.starts_with("RoCE")) return core::Transport::RoCE;
    if (words.starts_with("GPUDirect-TCP")) return core::Transport::GpuDirectTcp;
    if (words.starts_with("EFA") && words.find("ENA") == std::string_view::npos) return core::Transport::Efa;
    return core::Transport::Tcp;
}

core::Result<void> compareNode(const CsvRow& row) {
    const std::string called(row.text("node"));
    const std::vector<std::string> names = nodePresetsOf(called);
    if (names.empty()) differ(fmt::format("{}: no preset is known for it", called));
    for (const std::string& name : names) {
        const auto node = core::nodePreset(name);
        if (!node) {
            differ(fmt::format("{}: {}", called, core::describe(node.error())));
            continue;
        }
        SHARDSCOPE_TRY(compare(row, "gpus", name, static_cast<double>(node->gpus)));
        SHARDSCOPE_TRY(compare(row, "nics", name, node->nics.value));
        SHARDSCOPE_TRY(compare(row, "nic_total_gbs_per_dir", name, node->networkBandwidth.value / 1e9));
        SHARDSCOPE_ASSIGN(const std::optional<double> domain, row.number("nvlink_domain", 0, 1e6));
        if (domain.value_or(0) > 0)
            SHARDSCOPE_TRY(compare(row, "nvlink_domain", name, static_cast<double>(node->linkDomain)));
        ++compared;
        const core::Transport transport = transportOf(row.text("transport"));
        if (transport != node->transport)
            differ(fmt::format("{}: transport is {}, in the table {}", name, core::nameOf(node->transport),
                               row.text("transport")));
    }
    return {};
}

core::Result<void> check(const std::string& gpus, const std::string& nodes) {
    SHARDSCOPE_ASSIGN(
        const CsvTable gpuTable,
        read(gpus, {"gpu", "mem_gb", "mem_bw_gbs", "bf16_tflops", "fp16_tflops", "tf32_tflops", "fp32_tflops", "sms",
                    "l2_mb", "pcie_gbs_per_dir", "mamf_bf16_tflops", "torch_visible_gib"}));
    SHARDSCOPE_ASSIGN(const CsvTable nodeTable,
                      read(nodes, {"node", "gpus", "nics", "nic_total_gbs_per_dir", "transport", "nvlink_domain"}));
    for (std::size_t i = 0; i < gpuTable.rows.size(); ++i) SHARDSCOPE_TRY(compareGpu(CsvRow(gpuTable, i)));
    for (std::size_t i = 0; i < nodeTable.rows.size(); ++i) SHARDSCOPE_TRY(compareNode(CsvRow(nodeTable, i)));
    return {};
}

}  // namespace

int main(int argc, char** argv) {
    const auto arguments = checkers::argumentsOf(argc, argv, "check_presets");
    if (!arguments) return 2;
    if (arguments->files.size() != 2) {
        fmt::print(stderr, "check_presets: found {} files, expected GPUS.csv and NODES.csv\n", arguments->files.size());
        return 2;
    }
    if (const auto done = check(arguments->files[0], arguments->files[1]); !done) {
        fmt::print(stderr, "check_presets: {}\n", core::describe(done.error()));
        return 2;
    }
    fmt::print("{} values compared, {} differ or are missing\n", compared, differences);
    return checkers::exitCode({compared, differences, leftOut}, *arguments);
}
