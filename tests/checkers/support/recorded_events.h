#pragma once

// Host actions of a graph in the words of the recordings (README there, "Events, in host order").

#include <string>
#include <vector>

#include "core/base/document.h"
#include "core/graph/step_graph.h"

namespace shardscope::checkers {

/// Every event of a class, one line each: name, unit or module, details by key: "ag root dtype=f32 in_numel=114 ...".
/// Of modules only the root (where it is a unit) and those in `observed` are told.
[[nodiscard]] std::vector<std::string> renderEvents(const core::StepGraph& graph, const core::RankClass& rankClass,
                                                    const core::Model& model, const std::vector<std::string>& observed);

/// The same lines from a recorded step's `events`.
[[nodiscard]] std::vector<std::string> recordedEvents(const core::Document& step);

/// "f32", "bf16", ...: the recordings' names.
[[nodiscard]] std::string shortName(core::DType type);

}  // namespace shardscope::checkers
