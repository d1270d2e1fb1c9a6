// Holds the price formulas against published tables and prints the error of each run; tunes nothing.
//
//   check_prices nccl FILE     nccl-tests rows: gpu, nodes, gpus_per_node, network, collective, bytes, time_us, ...
//   check_prices gemm FILE     gpu, dtype, kind, batch, m, n, k, tflops, time_us
//   check_prices attention FILE gpu, pass, causal, head_dim_qk, seq, batch, heads, tflops
//
// Columns are found by their names. Error of a row: ln(priced / measured). Rows with `split` context, and those flagged
// as outliers, dispatch bound, coarse or to exclude, are counted but not scored.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/cluster/cluster.h"
#include "sim/price/collective_price.h"
#include "sim/price/kernel_price.h"

using namespace shardscope;
using namespace shardscope::sim;

namespace {

using Row = std::map<std::string, std::string>;

std::vector<std::string> splitCsvLine(const std::string& line) {
    std::vector<std::string> fields(1);
    bool quoted = false;
    for (char c : line) {
        if (c == '"')
            quoted = !quoted;
        else if (c == ',' && !quoted)
            fields.emplace_back();
        else if (c != '\r')
            fields.back() += c;
    }
    return fields;
}

std::vector<Row> readCsv(const char* path) {
    std::ifstream in(path);
    std::string line;
    std::vector<Row> rows;
    if (!std::getline(in, line)) return rows;
    const std::vector<std::string> header = splitCsvLine(line);
    while (std::getline(in, line)) {
        const std::vector<std::string> fields = splitCsvLine(line);
        Row row;
        for (std::size_t i = 0; i < header.size() && i < fields.size(); ++i) row[header[i]] = fields[i];
        rows.push_back(std::move(row));
    }
    return rows;
}

double number(const Row& row, const std::string& key, double otherwise = 0) {
    const auto at = row.find(key);
    if (at == row.end() || at->second.empty()) return otherwise;
    return std::strtod(at->second.c_str(), nullptr);
}

std::string text(const Row& row, const std::string& key) {
    const auto at = row.find(key);
    return at == row.end() ? "" : at->second;
}

bool scored(const Row& row) {
    if (text(row, "split") != "calib") return false;
    const std::string flags = text(row, "flags");
    for (const char* bad : {"outlier", "dispatch", "coarse", "exclude"})
        if (flags.find(bad) != std::string::npos) return false;
    return true;
}

std::optional<std::string> gpuPresetOf(const std::string& name) {
    static const std::map<std::string, std::string> kNames{{"H100-SXM", "h100-sxm"},
                                                           {"H200-SXM", "h200-sxm"},
                                                           {"B200-SXM", "b200-sxm"},
                                                           {"GB200", "gb200"},
                                                           {"A100-SXM", "a100-sxm-80gb"},
                                                           {"A100-SXM-80GB", "a100-sxm-80gb"},
                                                           {"A100-SXM4-80GB", "a100-sxm-80gb"},
                                                           {"A100-SXM4-40GB", "a100-sxm-40gb"},
                                                           {"A100-PCIe", "a100-pcie-80gb"},
                                                           {"V100-SXM2-16GB", "v100-sxm-16gb"},
                                                           {"V100-SXM2-32GB", "v100-sxm-32gb"},
                                                           {"V100-PCIE-16GB", "v100-pcie-16gb"},
                                                           {"RTX4090", "rtx-4090"},
                                                           {"A10G", "a10g"},
                                                           {"B300-SXM", "b300-sxm"}};
    const auto at = kNames.find(name);
    if (at == kNames.end()) return std::nullopt;
    return at->second;
}

std::string nodePresetOf(const std::string& network, std::int64_t nodes) {
    static const std::vector<std::pair<std::string, std::string>> kParts{
        {"p5.48xlarge", "p5"},         {"p4de.24xlarge", "p4de"},      {"p4d.24xlarge", "p4d"},
        {"DGX-1V", "dgx-1v"},          {"DGX A100", "dgx-a100"},       {"a3-highgpu", "a3-highgpu"},
        {"a3-megagpu", "a3-megagpu"},  {"a3-ultragpu", "a3-ultragpu"}, {"BM.GPU4.8", "oci-a100"},
        {"BM.GPU.H100.8", "oci-h100"}, {"Dell XE9680", "dgx-h100"},    {"no P2P", "rtx-4090-box"}};
    for (const auto& [part, preset] : kParts)
        if (network.find(part) != std::string::npos) return preset;
    return nodes > 1 ? "?" : "";
}

struct Errors {
    std::vector<double> all, large;
    std::size_t skipped = 0;
};

double medianOf(std::vector<double> values) {
    if (values.empty()) return 0;
    std::sort(values.begin(), values.end());
    return values[values.size() / 2];
}

void print(const std::map<std::string, Errors>& runs, const char* largeName) {
    fmt::print("{:<52} {:>5} {:>8} {:>8} {:>8} {:>10}\n", "run", "rows", "median", "p90", "signed", largeName);
    for (const auto& [name, errors] : runs) {
        if (errors.all.empty()) {
            fmt::print("{:<52} {:>5}\n", name, "none");
            continue;
        }
        std::vector<double> absolute, large;
        for (double e : errors.all) absolute.push_back(std::abs(e));
        for (double e : errors.large) large.push_back(std::abs(e));
        std::sort(absolute.begin(), absolute.end());
        fmt::print("{:<52} {:>5} {:>7.0f}% {:>7.0f}% {:>+7.0f}% {:>9.0f}%\n", name, errors.all.size(),
                   100 * medianOf(absolute), 100 * absolute[absolute.size() * 9 / 10], 100 * medianOf(errors.all),
                   100 * medianOf(large));
    }
}

std::map<std::string, Errors> collectives(const std::vector<Row>& rows) {
    std::map<std::string, Errors> runs;
    for (const Row& row : rows) {
        if (text(row, "in_place") == "1" || number(row, "bytes") < 16384 || number(row, "time_us") <= 0) continue;
        const std::string collective = text(row, "collective");
        const auto gpu = gpuPresetOf(text(row, "gpu"));
        if (!gpu || collective == "alltoall" || !scored(row)) continue;
        const bool rack = *gpu == "gb200";
        const auto nodes = static_cast<std::int64_t>(number(row, "nodes", 1));
        const auto perNode = static_cast<std::int64_t>(number(row, "gpus_per_node", 1));
        const std::string node = nodePresetOf(text(row, "network"), rack ? 1 : nodes);
        if (node == "?") continue;
        // XLA's rows name how many GPUs of a domain form one group; of two numbers the table gives the nodes of one
        // run.
        std::int64_t ranks = nodes * perNode;
        const auto cluster = core::makeCluster(*gpu, node, nodes, perNode);
        if (!cluster) continue;
        const CollectiveKind kind = collective == "all_gather"       ? CollectiveKind::AllGather
                                    : collective == "reduce_scatter" ? CollectiveKind::ReduceScatter
                                                                     : CollectiveKind::AllReduce;
        const CollectivePath path = pathOf(*cluster, placementOf(*cluster, 0, ranks, ranks, 1));
        const double bytes = number(row, "bytes");
        const double error = std::log(priceCollective(kind, bytes, path).seconds / (number(row, "time_us") * 1e-6));
        Errors& errors = runs[text(row, "run_id")];
        errors.all.push_back(error);
        if (bytes >= 4 * 1048576) errors.large.push_back(error);
    }
    return runs;
}

std::map<std::string, Errors> products(const std::vector<Row>& rows) {
    std::map<std::string, Errors> runs;
    for (const Row& row : rows) {
        const std::string kind = text(row, "kind"), dtype = text(row, "dtype");
        const auto gpu = gpuPresetOf(text(row, "gpu"));
        if (!scored(row) || !gpu || (kind != "gemm" && kind != "bmm")) continue;
        if (dtype != "bf16" && dtype != "fp16") continue;
        const double b = number(row, "batch", 1), m = number(row, "m"), n = number(row, "n"), k = number(row, "k");
        if (m < 1 || n < 1 || k < 1) continue;
        core::Gpu device = core::gpuPreset(*gpu).value();
        const std::string source = text(row, "source");
        if (source.find("SimuMax") == std::string::npos)
            device.sustainedShare.value = 1;  // the others are short bursts
        const sim::GpuRates rates = sim::ratesOf(device, {});
        const core::DType type = dtype == "bf16" ? core::DType::BF16 : core::DType::F16;
        const double measured = number(row, "time_us") > 0 ? number(row, "time_us") * 1e-6
                                                           : 2 * b * m * n * k / (number(row, "tflops") * 1e12);
        const bool aligned = std::fmod(n, 8) == 0 && std::fmod(k, 8) == 0;
        const double priced =
            sim::priceGemm(static_cast<std::int64_t>(b), static_cast<std::int64_t>(m), static_cast<std::int64_t>(n),
                           static_cast<std::int64_t>(k), aligned, 2 * b * (m * k + k * n + m * n), type, rates)
                .seconds;
        const std::string run = source.substr(0, source.find('@')) + " " + text(row, "gpu");
        runs[run].all.push_back(std::log(priced / measured));
        if (2 * b * m * n * k > 1e10) runs[run].large.push_back(std::log(priced / measured));
    }
    return runs;
}

std::map<std::string, Errors> attention(const std::vector<Row>& rows) {
    std::map<std::string, Errors> runs;
    for (const Row& row : rows) {
        const auto gpu = gpuPresetOf(text(row, "gpu"));
        if (!scored(row) || !gpu || (text(row, "dtype") != "fp16" && text(row, "dtype") != "bf16")) continue;
        if (text(row, "head_dim_qk") != text(row, "head_dim_v") || text(row, "impl").find("math") != std::string::npos)
            continue;
        const core::Gpu device = core::gpuPreset(*gpu).value();
        const sim::GpuRates rates = sim::ratesOf(device, {});
        const double b = number(row, "batch", 1), h = number(row, "heads"), s = number(row, "seq"),
                     d = number(row, "head_dim_qk");
        const bool causal = text(row, "causal") == "1";
        const double forward = 4 * b * h * s * s * d;
        const auto price = [&](bool backward) {
            return sim::priceAttention(static_cast<std::int64_t>(b), static_cast<std::int64_t>(h),
                                       static_cast<std::int64_t>(s), static_cast<std::int64_t>(s),
                                       static_cast<std::int64_t>(d), causal, backward, forward * (backward ? 2.5 : 1),
                                       0, core::DType::F16, rates)
                .seconds;
        };
        const std::string pass = text(row, "pass");
        const double priced = pass == "fwd" ? price(false) : pass == "bwd" ? price(true) : price(false) + price(true);
        const double flops = forward * (pass == "fwd" ? 1 : pass == "bwd" ? 2.5 : 3.5) * (causal ? 0.5 : 1);
        const double error = std::log(priced / (flops / (number(row, "tflops") * 1e12)));
        Errors& errors = runs[text(row, "gpu") + " " + text(row, "impl") + " " + pass];
        errors.all.push_back(error);
        if (s >= 2048) errors.large.push_back(error);
    }
    return runs;
}

}  // namespace

int main(int argc, char** argv) {
    const std::string what = argc == 3 ? argv[1] : "";
    if (what != "nccl" && what != "gemm" && what != "attention") {
        fmt::print(stderr, "usage: check_prices nccl|gemm|attention FILE.csv\n");
        return 2;
    }
    const std::vector<Row> rows = readCsv(argv[2]);
    if (rows.empty()) {
        fmt::print(stderr, "{}: no rows\n", argv[2]);
        return 3;
    }
    if (what == "nccl") print(collectives(rows), ">= 4 MiB");
    if (what == "gemm") print(products(rows), "> 1e10 F");
    if (what == "attention") print(attention(rows), "s >= 2k");
    return 0;
}
