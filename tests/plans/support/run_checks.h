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
/// The five times, causes and stretches of every class; the step is no shorter than what each stream has to do.
[[nodiscard]] std::optional<Broken> checkTimes(const cli::PlanReport& plan, const core::Cluster& cluster);

}  // namespace shardscope::tests
