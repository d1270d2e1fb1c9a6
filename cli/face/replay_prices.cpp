// Rows of collectives, products and attention, each through the price of one kernel or collective.

#include <fmt/format.h>

#include <array>
#include <cmath>

#include "cli/face/backtest.h"
#include "cli/face/hardware_names.h"
#include "cli/face/text_picture.h"
#include "core/cluster/cluster.h"
#include "sim/price/attention_price.h"
#include "sim/price/collective_price.h"
#include "sim/price/kernel_price.h"

namespace shardscope::cli {
namespace {

using core::Result;

constexpr double kMostMicroseconds = 1e12;

/// What every table has; rows that the file itself sets apart get their reason.
ReplayedRow commonOf(const CsvRow& row) {
    ReplayedRow out;
    out.line = row.line();
    out.source = sourceWithoutPlace(row.text("source"));
    out.gpu = row.text("gpu");
    const std::string_view split = row.text("split"), flags = row.text("flags");
    if (!split.empty() && split != "calib") out.reason = fmt::format("set apart by the file (split {})", split);
    for (const std::string_view bad : {"outlier", "dispatch bound", "coarse", "exclude"})
        if (out.reason.empty() && flags.find(bad) != std::string_view::npos)
            out.reason = fmt::format("flagged by the file ({})", bad);
    return out;
}

bool refuse(ReplayedRow& row, bool holds, std::string reason) {
    if (holds && row.reason.empty()) row.reason = std::move(reason);
    return !row.reason.empty();
}

/// Time of `flops` as the row gives it: its own, or from its rate. 0: neither.
Result<double> secondsOf(const CsvRow& row, double flops) {
    SHARDSCOPE_ASSIGN(const auto time, row.number("time_us", 0, kMostMicroseconds));
    SHARDSCOPE_ASSIGN(const auto rate, row.number("tflops", 0, 1e6));
    if (time && *time > 0) return *time * 1e-6;
    return rate && *rate > 0 ? flops / (*rate * 1e12) : 0.0;
}

void price(ReplayedRow& out, double seconds, double measured) {
    if (refuse(out, measured <= 0, "neither a time nor a rate is given")) return;
    if (refuse(out, measured < 1e-9, "a time under a nanosecond")) return;
    out.quantity = "time";
    out.measured = out.seconds = measured;
    out.predicted = seconds;
}

std::string decadeOf(double value, std::string_view unit) {
    return fmt::format("1e{} {}", static_cast<int>(std::floor(std::log10(std::max(value, 1.0)))), unit);
}

std::string_view sizeBand(double bytes, double& order) {
    constexpr std::array<std::pair<double, std::string_view>, 4> kBands{{
        {65536, "up to 64 KiB"},
        {1048576, "up to 1 MiB"},
        {16777216, "up to 16 MiB"},
        {268435456, "up to 256 MiB"},
    }};
    for (const auto& [limit, name] : kBands) {
        order = limit;
        if (bytes <= limit) return name;
    }
    order = 1e300;
    return "over 256 MiB";
}

Result<ReplayedRow> replayCollective(const CsvRow& row) {
    ReplayedRow out = commonOf(row);
    SHARDSCOPE_ASSIGN(const auto nodes, row.integer("nodes", 1, 1'000'000));
    SHARDSCOPE_ASSIGN(const auto perNode, row.integer("gpus_per_node", 1, 1024));
    SHARDSCOPE_ASSIGN(const auto bytes, row.number("bytes", 0, 1e15));
    SHARDSCOPE_ASSIGN(const auto time, row.number("time_us", 0, kMostMicroseconds));
    const std::string_view collective = row.text("collective"), network = row.text("network");
    out.strategy = collective;
    if (nodes && perNode) {
        out.scale = fmt::format("{} x {} GPUs", *nodes, *perNode);
        out.scaleOrder = static_cast<double>(*nodes) * 1e4 + static_cast<double>(*perNode);
    }
    out.size = sizeBand(bytes.value_or(0), out.sizeOrder);

    const auto gpu = gpuPresetCalled(row.text("gpu"));
    const auto node = nodePresetCalled(network);
    const bool known = collective == "all_gather" || collective == "reduce_scatter" || collective == "all_reduce";
    // Trays of a rack are nodes of one link domain: no network lies between them.
    const bool rack = gpu && gpu->starts_with("gb");
    refuse(out, row.text("in_place") == "1", "in place: the same run again");
    refuse(out, !known, fmt::format("{} is not modelled", collective));
    refuse(out, !gpu, fmt::format("no preset for the GPU {}", row.text("gpu")));
    refuse(out, !nodes || !perNode || !bytes || *bytes == 0, "nodes, gpus_per_node or bytes are not given");
    if (refuse(out, !rack && *nodes > 1 && !node, fmt::format("no preset for the network {}", network))) return out;
    const auto cluster = core::makeCluster(*gpu, rack ? "" : node.value_or(""), *nodes, *perNode);
    if (refuse(out, !cluster, "the preset's node has fewer GPUs")) return out;

    using Kind = sim::CollectiveKind;
    const Kind kind = collective == "all_gather"       ? Kind::AllGather
                      : collective == "reduce_scatter" ? Kind::ReduceScatter
                                                       : Kind::AllReduce;
    const std::int64_t ranks = cluster->ranks();
    const sim::CollectivePath path = sim::pathOf(*cluster, sim::placementOf(*cluster, 0, ranks, ranks, 1));
    const sim::CollectivePrice priced = sim::priceCollective(kind, *bytes, path);
    price(out, priced.seconds, time.value_or(0) * 1e-6);
    out.work = priced.volume;
    out.constantGroup = path.networkBus > 0
                            ? fmt::format("{}, {:.4g} GB/s a node", core::nameOf(cluster->node.transport),
                                          cluster->node.networkBandwidth.value / 1e9)
                            : fmt::format("{}, {:.4g} GB/s a GPU", core::nameOf(cluster->node.link),
                                          cluster->node.linkBandwidth.value / 1e9);
    refuse(out, ranks < 2, "one GPU has nothing to exchange");
    return out;
}

std::optional<core::DType> halfType(std::string_view word) {
    if (word == "bf16") return core::DType::BF16;
    if (word == "fp16") return core::DType::F16;
    return std::nullopt;
}

Result<ReplayedRow> replayProduct(const CsvRow& row, Backtest& backtest) {
    ReplayedRow out = commonOf(row);
    constexpr std::int64_t kMostSide = std::int64_t{1} << 26;
    SHARDSCOPE_ASSIGN(const auto batch, row.integer("batch", 1, 1 << 20));
    SHARDSCOPE_ASSIGN(const auto m, row.integer("m", 1, kMostSide));
    SHARDSCOPE_ASSIGN(const auto n, row.integer("n", 1, kMostSide));
    SHARDSCOPE_ASSIGN(const auto k, row.integer("k", 1, kMostSide));
    const std::string_view kind = row.text("kind"), dtype = row.text("dtype"), layout = row.text("layout");
    const auto gpu = gpuPresetCalled(row.text("gpu"));
    const auto type = halfType(dtype);
    out.strategy = fmt::format("{} {}{}{}", kind, dtype, layout.empty() ? "" : " ", layout);
    refuse(out, kind != "gemm" && kind != "bmm", fmt::format("{} is not modelled", kind));
    refuse(out, !type, fmt::format("{} products are not modelled", dtype));
    refuse(out, !gpu, fmt::format("no preset for the GPU {}", row.text("gpu")));
    refuse(out, !m || !n || !k, "m, n or k is not given");
    const double count = static_cast<double>(batch.value_or(1)), rows = static_cast<double>(m.value_or(1)),
                 columns = static_cast<double>(n.value_or(1)), inner = static_cast<double>(k.value_or(1));
    const double flops = 2 * count * rows * columns * inner;
    SHARDSCOPE_ASSIGN(const double measured, secondsOf(row, flops));
    out.scale = decadeOf(flops, "FLOPs");
    out.scaleOrder = std::floor(std::log10(flops));
    if (!out.reason.empty()) return out;
    SHARDSCOPE_ASSIGN(core::Gpu device, core::gpuPreset(*gpu));
    if (!batch) countDefault(backtest, "batch is not given: one product");
    if (row.text("flags").find("sustained") == std::string_view::npos) {
        countDefault(backtest, "not flagged as sustained: a short burst, no loss to the power limit");
        device.sustainedShare.value = 1;
    }
    const sim::GpuRates rates = sim::ratesOf(device, {});
    const bool aligned = *n % 8 == 0 && *k % 8 == 0;
    const double bytes = 2 * count * (rows * inner + inner * columns + rows * columns);
    const double seconds = sim::priceGemm(batch.value_or(1), *m, *n, *k, aligned, bytes, *type, rates).seconds;
    price(out, seconds, measured);
    out.work = flops / rates.peak(*type);
    out.constantGroup = "share of the peak";
    return out;
}

/// The kernel that a table's name stands for; nothing where it has none.
std::optional<sim::AttentionKernel> attentionKernelCalled(std::string_view name) {
    using Kernel = sim::AttentionKernel;
    const std::pair<std::string_view, Kernel> kNames[] = {
        {"FA1", Kernel::Flash1},  {"FA2", Kernel::Flash2},         {"FA3", Kernel::Flash3},
        {"cuDNN", Kernel::Cudnn}, {"xformers", Kernel::Efficient},
    };
    for (const auto& [part, kernel] : kNames)
        if (name.find(part) != std::string_view::npos) return kernel;
    return std::nullopt;
}

Result<ReplayedRow> replayAttentionRow(const CsvRow& row, Backtest& backtest) {
    ReplayedRow out = commonOf(row);
    SHARDSCOPE_ASSIGN(const auto batch, row.integer("batch", 1, 1 << 20));
    SHARDSCOPE_ASSIGN(const auto heads, row.integer("heads", 1, 1 << 12));
    SHARDSCOPE_ASSIGN(const auto seq, row.integer("seq", 1, 1 << 26));
    SHARDSCOPE_ASSIGN(const auto dim, row.integer("head_dim_qk", 1, 1 << 12));
    const std::string_view pass = row.text("pass"), implementation = row.text("impl"), mask = row.text("causal"),
                           dtype = row.text("dtype");
    const auto gpu = gpuPresetCalled(row.text("gpu"));
    const auto type = halfType(dtype);
    out.strategy = fmt::format("{} {}", implementation, pass);
    out.scale = fmt::format("sequence {}", seq.value_or(0));
    out.scaleOrder = static_cast<double>(seq.value_or(0));
    refuse(out, !type, fmt::format("{} attention is not modelled", dtype));
    refuse(out, implementation.find("math") != std::string_view::npos, "not fused: several kernels");
    refuse(out, row.text("head_dim_qk") != row.text("head_dim_v"), "head dimensions of queries and values differ");
    refuse(out, !gpu, fmt::format("no preset for the GPU {}", row.text("gpu")));
    refuse(out, pass != "fwd" && pass != "bwd" && pass != "fwd+bwd", "pass is none of fwd, bwd, fwd+bwd");
    refuse(out, mask != "0" && mask != "1", "whether the mask is causal is not given");
    if (refuse(out, !heads || !seq || !dim, "heads, seq or head_dim_qk is not given")) return out;
    if (!batch) countDefault(backtest, "batch is not given: 1");
    const auto kernel = attentionKernelCalled(implementation);
    if (!kernel) countDefault(backtest, "a kernel without constants of its own: FlashAttention 2");
    SHARDSCOPE_ASSIGN(const core::Gpu device, core::gpuPreset(*gpu));
    const sim::GpuRates rates = sim::ratesOf(device, {});
    const bool causal = mask == "1";
    const std::int64_t b = batch.value_or(1);
    const double forward = 4 * static_cast<double>(b) * static_cast<double>(*heads) * static_cast<double>(*seq) *
                           static_cast<double>(*seq) * static_cast<double>(*dim);
    const auto priced = [&](bool backward) {
        return sim::priceAttention(kernel.value_or(sim::AttentionKernel::Flash2), b, *heads, *seq, *seq, *dim, causal,
                                   backward, forward * (backward ? 2.5 : 1), 0, *type, rates)
            .seconds;
    };
    // Backward counts 2.5 times the forward FLOPs, a causal mask half (cost model facts 4.4).
    const double flops = forward * (pass == "fwd" ? 1 : pass == "bwd" ? 2.5 : 3.5) * (causal ? 0.5 : 1);
    SHARDSCOPE_ASSIGN(const double measured, secondsOf(row, flops));
    price(out, (pass != "bwd" ? priced(false) : 0) + (pass != "fwd" ? priced(true) : 0), measured);
    out.work = flops / rates.peak(*type);
    out.constantGroup = "share of the peak";
    return out;
}

template <class ReplayRow>
Result<Backtest> replayAll(BacktestKind kind, const CsvTable& table, const std::vector<std::string_view>& columns,
                           const core::Work& work, ReplayRow replayRow) {
    SHARDSCOPE_TRY(requireColumns(table, columns));
    Backtest backtest;
    backtest.kind = kind;
    backtest.file = table.file;
    for (std::size_t i = 0; i < table.rows.size(); ++i) {
        SHARDSCOPE_TRY(work.goOn());
        SHARDSCOPE_ASSIGN(ReplayedRow row, replayRow(CsvRow(table, i), backtest));
        backtest.rows.push_back(std::move(row));
    }
    fitConstants(backtest);
    return backtest;
}

}  // namespace

Result<Backtest> replayCollectives(const CsvTable& table, const core::Work& work) {
    return replayAll(BacktestKind::Collectives, table,
                     {"gpu", "nodes", "gpus_per_node", "network", "collective", "bytes", "time_us"}, work,
                     [](const CsvRow& row, Backtest&) { return replayCollective(row); });
}

Result<Backtest> replayGemm(const CsvTable& table, const core::Work& work) {
    return replayAll(BacktestKind::Gemm, table, {"gpu", "dtype", "kind", "m", "n", "k"}, work, replayProduct);
}

Result<Backtest> replayAttention(const CsvTable& table, const core::Work& work) {
    return replayAll(BacktestKind::Attention, table,
                     {"gpu", "impl", "dtype", "pass", "causal", "head_dim_qk", "head_dim_v", "seq", "batch", "heads"},
                     work, replayAttentionRow);
}

}  // namespace shardscope::cli
