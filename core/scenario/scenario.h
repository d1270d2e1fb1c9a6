#pragma once

// A scenario: one training step to look at, as the user writes it down. One TOML file with the sections [model],
// [cluster], [training], [parallelism] and [precision]; key names and values are torchtitan's where it has them. What
// each key means, its default and its range stand once, in core/scenario/keys.cpp, and docs/scenario.md is made from
// it.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/base/document.h"
#include "core/base/dtype.h"
#include "core/plan/plan.h"

namespace shardscope::core {

/// reshard_after_forward as it was written: a word ("default", "always", "never", "unset"), true, false or a group
/// size.
struct ReshardSetting {
    Reshard value{Reshard::Kind::True, 0};
    std::string word = "default";  ///< empty where a boolean or an integer was written
    friend bool operator==(const ReshardSetting&, const ReshardSetting&) = default;
};

/// The values of a scenario, defaults where the user gave none. Sizes of 0 under [model], [cluster] and
/// training.seq_len stand for "as the model or the hardware has it", -1 for "what is left".
struct Scenario {
    std::string title;
    struct ModelSection {
        std::string name, path;
        std::string attention = "flash", rmsNorm = "unfused", dropout = "config", kernelRules = "gpu";
        std::int64_t layers = 0, heads = 0, kvHeads = 0, headDim = 0, hidden = 0, mlp = 0, vocab = 0;
        std::int64_t imageSize = 0, patchSize = 0, channels = 0, classes = 0;
        friend bool operator==(const ModelSection&, const ModelSection&) = default;
    } model;
    struct ClusterSection {
        std::string path;
        Document gpu, node;  ///< Text (a preset's name), Table (docs/clusters.md) or Null
        std::int64_t nodes = 0, gpusPerNode = 0;
        /// Lines of the tables do not count.
        friend bool operator==(const ClusterSection& a, const ClusterSection& b);
    } cluster;
    struct TrainingSection {
        std::int64_t localBatchSize = 1, globalBatchSize = -1, seqLen = 0, naiveMicroBatch = 0;
        std::string optimizer = "adamw", optimizerImplementation = "foreach";
        bool firstStep = false;
        std::string stepKind = "train";
        bool clipGradients = false;
        bool cpuOffload = false, offloadPinMemory = true;
        std::string gradientSync = "every";
        std::vector<std::vector<std::string>> frozen;
        std::string checkpoint = "none";
        std::int64_t checkpointEvery = 2;
        bool checkpointEarlyStop = true;
        bool compile = false;
        friend bool operator==(const TrainingSection&, const TrainingSection&) = default;
    } training;
    struct ParallelismSection {
        std::string strategy = "fsdp";
        std::int64_t shardDegree = -1, replicateDegree = 1, pipelineDegree = -1, tensorDegree = 1, contextDegree = 1;
        std::string split = "layers", units = "blocks";
        std::int64_t blocksPerUnit = 1;
        std::vector<std::vector<std::string>> wrap;
        bool wrapRoot = true;
        ReshardSetting reshard;
        ReshardSetting rootReshard{{}, "unset"};
        std::vector<std::pair<std::string, ReshardSetting>> unitReshard;
        bool keepLastUnit = false;
        std::int64_t forwardPrefetch = 0, backwardPrefetch = 0, rootPrefetch = 0;
        std::int64_t bucketCapMb = 0;
        std::vector<std::int64_t> bucketCapMbList;
        std::vector<std::vector<std::string>> noUnshardInBackward, shardDim1, originalDtype;
        std::int64_t fsdpVersion = 2;
        bool limitAllGathers = true;
        std::string flatPrefetch = "backward_pre";
        bool reshardAfterBackward = true, lastBackwardOnly = false, manualFinalize = false;
        bool unshardAsyncOp = false, shareContext = false, separateReduceGroup = false, hybridMesh = false;
        std::int64_t reduceInputs = 1, divideFactor = 0;
        bool forceSum = false;
        bool findUnusedParameters = false, staticGraph = false, gradientAsBucketView = false;
        friend bool operator==(const ParallelismSection&, const ParallelismSection&) = default;
    } parallelism;
    struct PrecisionSection {
        DType original = DType::F32;
        std::optional<DType> param = DType::BF16, reduce = DType::F32;
        bool autocast = false;
        friend bool operator==(const PrecisionSection&, const PrecisionSection&) = default;
    } precision;

    /// Where each given key was given: its path ("training.seq_len") and "vit.toml:12", "--set" or "--over".
    std::vector<std::pair<std::string, std::string>> origins;

    /// "vit.toml:12 [training] seq_len", or only "[training] seq_len" where the key has its default.
    [[nodiscard]] std::string placeOf(std::string_view path) const;
    [[nodiscard]] bool given(std::string_view path) const;
    /// `error` with the place where the key that it names ("[parallelism] fsdp_wrap") was given; others as they are.
    [[nodiscard]] Error located(Error error) const;

    /// Equal values; where they were given does not count.
    friend bool operator==(const Scenario& a, const Scenario& b) {
        return a.title == b.title && a.model == b.model && a.cluster == b.cluster && a.training == b.training &&
               a.parallelism == b.parallelism && a.precision == b.precision;
    }
};

/// Reads a scenario; `name` is the file's name for messages. Errors, each with its place: an unknown section or key
/// (with the nearest known one), a value of the wrong kind or outside its range, one key given twice under two names.
[[nodiscard]] Result<Scenario> parseScenario(const Document& document, const std::string& name);

/// Applies "section.key=value", the value as TOML or as a bare word (`--set`). Parts below cluster.gpu and cluster.node
/// may be set too ("cluster.gpu.memory_gib=24"). `option` is what messages call it. Errors: those of parseScenario, and
/// a missing '='.
[[nodiscard]] Result<void> applyOverride(Scenario& scenario, const std::string& assignment,
                                         const std::string& option = "--set");

/// TOML text with every value that was given or differs from its default; parseScenario reads it back equal, with the
/// same keys given (some count by that alone).
[[nodiscard]] std::string writeScenario(const Scenario& scenario);

}  // namespace shardscope::core
