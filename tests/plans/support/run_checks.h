#pragma once

// What must hold for one plan that was simulated. Each gives the first thing that does not, or nothing.

#include <optional>

#include "cli/face/report.h"
#include "tests/plans/support/scenario_checks.h"

namespace shardscope::tests {

/// The graph's own checks, once more from outside: references, edges, blocks, transfers, no cycle, issue order, hash.
[[nodiscard]] std::optional<Broken> checkGraph(const core::StepGraph& graph);
/// In host order: never negative, back to where it began, every gather freed, the peak and its parts.
[[nodiscard]] std::optional<Broken> checkMemory(const cli::PlanReport& plan);
/// Every kernel's parameters are whole when it is enqueued (FSDP).
[[nodiscard]] std::optional<Broken> checkParametersAreThere(const cli::PlanReport& plan);
/// Instants: streams in order, edges, the host's release, both ends of a transfer.
[[nodiscard]] std::optional<Broken> checkCausality(const cli::PlanReport& plan);
/// Instants once more, by what ops mean and not by the graph's edges: a copy-out after its gather, a kernel after the
/// copy-out of what it reads, a reduction after its packing, the optimizer after all gradients; and no memory is handed
/// out again while another stream still uses it.
[[nodiscard]] std::optional<Broken> checkData(const cli::PlanReport& plan);
/// The five times, causes and stretches of every class; the step is no shorter than what each stream has to do.
[[nodiscard]] std::optional<Broken> checkTimes(const cli::PlanReport& plan, const core::Cluster& cluster);

}  // namespace shardscope::tests
