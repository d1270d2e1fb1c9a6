#pragma once

// A row of measured training runs as a scenario.

#include <optional>
#include <string>
#include <vector>

#include "cli/face/csv_table.h"
#include "core/scenario/resolve.h"

namespace shardscope::cli {

struct RunSetup {
    core::Scenario scenario;
    core::ScenarioInputs inputs;
    std::string reason;                 ///< why the row is no scenario; empty: it is one
    std::vector<std::string> defaults;  ///< what blank cells were taken for
    bool memoryKnown = false;           ///< the row, or the GPU's name, says how much memory it has
    double statedParameters = 0;        ///< 0: not stated
};

/// Columns: `model`, `gpu`, `n_gpus` and `strategy`; layers, hidden, heads, kv_heads, ffn, vocab, seq, gpu_mem_gb,
/// gpus_per_node, internode, framework, zero_stage, shard_degree, tp, pp, cp, reshard_after_forward, precision,
/// reduce_dtype, optimizer, ac_mode, compile, attn, micro_bs, grad_accum, global_bs_seqs, params_b, quality and tags
/// may be missing or blank. docs/cli.md lists what blanks are taken for. Errors: a cell that is no number, or absurd.
[[nodiscard]] core::Result<RunSetup> setupOfRun(const CsvRow& row);

/// bytes/s per node and direction of "8x200Gb/s HDR IB", "400Gb/s per node", "400Gb/s RDMA per GPU"; nothing where the
/// text gives no such rate.
[[nodiscard]] std::optional<double> networkRateCalled(std::string_view text, std::int64_t gpusPerNode);

}  // namespace shardscope::cli
