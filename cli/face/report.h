#pragma once

// The answer to a scenario: one struct that the tables, the JSON, the pictures and the window read. Nothing is computed
// after it.

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/base/work.h"
#include "core/scenario/resolve.h"
#include "sim/memory/step_memory.h"
#include "sim/price/price_graph.h"
#include "traces/timeline/breakdown.h"
#include "traces/timeline/causes.h"
#include "traces/timeline/compute_work.h"
#include "traces/timeline/timeline.h"

namespace shardscope::cli {

/// Transfers of one rank in one step.
struct TransferCounts {
    std::int64_t allGathers = 0, reduceScatters = 0, allReduces = 0, sends = 0, receives = 0;
    /// Bytes that one rank sends: X (N - 1) / N for a gather or reduce-scatter of X bytes among N (framework semantics
    /// 1.17), twice that for an all-reduce, the message itself for a send.
    std::int64_t gatherBytes = 0, reduceBytes = 0, allReduceBytes = 0, sendBytes = 0;
    [[nodiscard]] std::int64_t bytes() const { return gatherBytes + reduceBytes + allReduceBytes + sendBytes; }
};

/// Whether a rank's memory suffices; judged on what PyTorch's allocator would reserve, the context and NCCL's buffers.
struct MemoryVerdict {
    sim::StepMemory step;
    sim::DeviceReserve reserve;
    [[nodiscard]] std::int64_t needed() const {
        return step.reserved.value + reserve.context.value + reserve.communication.value;
    }
    [[nodiscard]] std::int64_t left() const { return reserve.usable.value - needed(); }
    [[nodiscard]] bool fits() const { return left() >= 0; }
};

/// Ranks with the same program and the same clock.
struct ClassReport {
    std::string name;
    std::int64_t firstRank = 0, ranks = 1;
    timeline::Breakdown times;
    timeline::ComputeWork work;                ///< what times.compute consists of
    std::vector<timeline::CauseTotal> causes;  ///< their units are strings of the plan's timeline
    TransferCounts transfers;
    MemoryVerdict memory;
};

/// FSDP without a root beside the same plan with one (framework semantics 1.2).
struct MissingRoot {
    std::int64_t stepWithRootNs = 0;
    core::Bytes peakWithRoot;  ///< allocated, of the tightest class
    /// The most that a rank holds at one moment of what sharding borrows: unsharded parameters and gradients, gather
    /// and reduce-scatter buffers. It may be at another moment than the peak.
    core::Bytes borrowed, borrowedWithRoot;
};

struct PlanReport {
    std::string name;  ///< "naive"
    std::string what;  ///< "4 stages, 4 micro-batches of 8 one after another"
    core::Case setup;
    std::int64_t ranks = 1;
    std::int64_t stepNs = 0;
    double samplesPerSecond = 0, tokensPerSecond = 0;
    double mfu = 0;                      ///< model FLOPs / (step x ranks x dense peak of the compute dtype)
    double modelFlops = 0;               ///< of one step of the whole job
    timeline::Breakdown allRanks;        ///< sums over all ranks
    timeline::ComputeWork allRanksWork;  ///< what allRanks.compute consists of
    std::vector<ClassReport> classes;
    std::vector<timeline::CauseTotal> causes;  ///< sums over all ranks, largest first
    core::Bytes hostMemory;                    ///< of a rank under CPU offload, 0 without
    std::optional<MissingRoot> missingRoot;    ///< of an FSDP plan that leaves the root out
    timeline::Timeline timeline;
    std::shared_ptr<const core::Model> model;
    std::shared_ptr<const core::StepGraph> graph;

    [[nodiscard]] const ClassReport& tightest() const;  ///< the class with the least memory left
    [[nodiscard]] bool fits() const { return tightest().memory.fits(); }
    /// Share of all ranks' time, 0..1.
    [[nodiscard]] double shareOf(std::int64_t time) const {
        return allRanks.step > 0 ? static_cast<double>(time) / static_cast<double>(allRanks.step) : 0;
    }
};

struct Report {
    std::string title, source;
    std::string modelName, modelFamily, sampleWord;
    std::int64_t parameters = 0, tokensPerSample = 0;
    core::Cluster cluster;
    core::ModelSpec model;  ///< what the plans' models were built from
    std::int64_t globalBatch = 1;
    std::vector<PlanReport> plans;
    std::vector<std::string> notes;          ///< what makes the comparison fair
    std::vector<std::string> caveats;        ///< what the answer rests on or leaves out
    std::string stepKind;                    ///< training.step_kind
    std::vector<std::string> unused;         ///< keys that were given and that no plan uses
    std::vector<core::RefusedCase> refused;  ///< strategies that could not be, with EvaluateOptions::partial
};

struct EvaluateOptions {
    sim::PriceKnobs knobs;
    /// Plans that cannot be built are left out and listed, as long as two remain.
    bool partial = false;
    bool timelineMemory = true;      ///< memory over device time too (its counters go into the timeline)
    core::Work work;                 ///< asked between and within the stages
    const Report* before = nullptr;  ///< models that an earlier report has are not built again
};

/// Simulates every case. Errors: a model or a plan that cannot be built, with what to do; Cancelled.
[[nodiscard]] core::Result<Report> evaluate(const core::Resolved& resolved, const std::string& source,
                                            const EvaluateOptions& options = {});

/// JSON with `schema` "shardscope.report" and `version` 1; times in ns and sizes in bytes, as integers.
[[nodiscard]] core::Document reportDocument(const Report& report);

/// Tables a person reads: the main figures, where the time goes, memory, what is on the wire, notes.
[[nodiscard]] std::string textReport(const Report& report);
/// FSDP2's three steps for one plan: mesh, units, root and dtypes; what the peak consists of; the PyTorch calls that do
/// the same.
[[nodiscard]] std::string explanation(const Report& report, const PlanReport& plan);

}  // namespace shardscope::cli
