#pragma once

// From a scenario, its model and its hardware to what the simulator needs: one plan and one workload per strategy.
//
// Strategies are comparable by construction. All of them run the same global batch in the same precision; naive
// placement and a single GPU run it as micro-batches of FSDP's per-rank size, one after another
// (training.naive_micro_batch changes the size for naive placement).

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/cluster/cluster.h"
#include "core/model/spec.h"
#include "core/scenario/scenario.h"

namespace shardscope::core {

/// One strategy of a scenario.
struct Case {
    Plan plan;          ///< its name is the strategy's; layerWeights is empty (whoever has prices fills it)
    Workload workload;  ///< of one micro-batch of one rank
};

/// A strategy that a comparison leaves out, and why.
struct RefusedCase {
    std::string strategy;
    Error error;
};

struct Resolved {
    std::string title;
    ModelSpec model;
    Cluster cluster;
    std::vector<Case> cases;
    std::int64_t globalBatch = 1;      ///< samples of one step, the same for every case
    std::vector<std::string> notes;    ///< what makes the comparison fair, in sentences; empty for a single case
    std::string stepKind = "train";    ///< training.step_kind
    std::vector<std::string> unused;   ///< keys that were given for nothing, see unusedSettings
    std::vector<RefusedCase> refused;  ///< resolveSome: the strategies that are left out
};

/// What the scenario names but core cannot read.
struct ScenarioInputs {
    ModelSpec model;  ///< what model.name or model.path stands for, before the sizes of [model] change it
    std::optional<Document> clusterFile;
    std::string clusterFileName;
};

/// `strategies`: "single", "naive", "ddp", "fsdp"; empty: parallelism.strategy.
/// Errors, each with the place of the key: degrees that do not multiply to the number of ranks, a global batch that the
/// ranks do not divide, sizes that the model does not have, what is not simulated (tensor and context
/// parallelism), unknown strategies, and everything that parseCluster refuses.
[[nodiscard]] Result<Resolved> resolve(const Scenario& scenario, const ScenarioInputs& inputs,
                                       std::span<const std::string> strategies = {});

/// The same for a comparison of three and more: a strategy that cannot be is left out, as long as two remain; errors
/// otherwise, those of resolve.
[[nodiscard]] Result<Resolved> resolveSome(const Scenario& scenario, const ScenarioInputs& inputs,
                                           std::span<const std::string> strategies);

/// The model with the sizes that [model] changes. Errors: a size that this kind of model does not have.
[[nodiscard]] Result<ModelSpec> withOverrides(const ModelSpec& spec, const Scenario& scenario);

/// torchtitan's units of a stack: embedding, every `blocksPerUnit` blocks, norm and head together; the root takes the
/// rest (framework semantics 1.2).
[[nodiscard]] UnitWrap torchtitanUnits(const Model& model, std::int64_t blocksPerUnit, bool root);

}  // namespace shardscope::core
