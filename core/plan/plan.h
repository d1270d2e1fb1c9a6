#pragma once

// The plan: stage schedule x unit policy x mesh x knobs. Key names are torchtitan's where it has one.

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/base/dtype.h"

namespace shardscope::core {

/// Orders the stages' forward and backward passes.
enum class StageSchedule : std::uint8_t { Single, Naive };
/// Says what surrounds a unit's compute.
enum class UnitPolicy : std::uint8_t { None, Fsdp, Ddp };

/// The named dimensions of the ranks. Rank = (pp * dp_replicate + r) * dp_shard + s: dp_shard is innermost.
struct Mesh {
    std::int64_t pp = 1, dpReplicate = 1, dpShard = 1;
    [[nodiscard]] std::int64_t size() const { return pp * dpReplicate * dpShard; }
    friend bool operator==(const Mesh&, const Mesh&) = default;
};

/// FSDP2's reshard_after_forward: unset (true for units, false for the root), true, false, or a group size.
struct Reshard {
    enum class Kind : std::uint8_t { Unset, True, False, Group } kind = Kind::Unset;
    std::int64_t group = 0;  ///< Kind::Group only: consecutive ranks that share a copy after forward
    friend bool operator==(const Reshard&, const Reshard&) = default;
};

/// Which modules form the units; the root takes what is left (framework semantics 1.1, 1.2).
struct UnitWrap {
    enum class Kind : std::uint8_t { Blocks, List } kind = Kind::Blocks;
    std::int64_t blocksPerUnit = 1;  ///< Kind::Blocks: consecutive blocks that form one unit
    /// Kind::List: units in call order (inner ones first); each is one or more full module names.
    std::vector<std::vector<std::string>> units;
    bool root = true;  ///< the root is wrapped too
    friend bool operator==(const UnitWrap&, const UnitWrap&) = default;
};

struct FsdpKnobs {
    UnitWrap wrap;
    Reshard reshardAfterForward;      ///< of the units that are not the root
    Reshard rootReshardAfterForward;  ///< Unset: not given
    std::vector<std::pair<std::string, Reshard>>
        reshardOf;              ///< per unit name ("blocks.3", "norm+head"), overrides the above
    bool keepLastUnit = false;  ///< torchtitan's rule: the last unit to run forward is not resharded
    std::int64_t forwardPrefetch = 0, backwardPrefetch = 0,
                 rootPrefetch = 0;  ///< depth of the explicit lists; 0: implicit
    /// set_unshard_in_backward(False) on these units: backward does not gather them (framework semantics 1.19).
    std::vector<std::string> notGatheredInBackward;
    bool asyncUnshard = false;  ///< set_unshard_async_op: gathers are issued from the compute stream (1.3)
    bool shareContext = false;  ///< share_comm_ctx: units without a root above them share streams and order (1.2)
    /// set_reshard_after_backward(False) before every micro-batch but the last: parameters stay whole (1.11).
    bool keepBetweenMicroBatches = false;
    /// set_is_last_backward(False) before every micro-batch but the last: the end of backward waits for nothing.
    bool lastBackwardOnly = false;
    std::int64_t reduceInputs = 1;     ///< reduce-scatter inputs in flight (set_reduce_scatter_max_input_buffers)
    bool separateReduceGroup = false;  ///< reduce-scatters have a communicator of their own
    bool hybridMesh = false;           ///< the mesh has a replicate dimension though it is one: all-reduces are issued
    std::optional<double> divideFactor;  ///< set_gradient_divide_factor; unset: the data-parallel ranks (1.10)
    bool forceSum = false;               ///< set_force_sum_reduction_for_comms: sums, then a division
    bool manualFinalize = false;         ///< the caller ends the backward pass: finalize_backward (1.19)
    /// CPUOffloadPolicy (1.13): shards, their gradients and the optimizer live in host memory.
    bool cpuOffload = false;
    bool pinMemory = true;  ///< of CPUOffloadPolicy: copies from and to page-locked memory
    /// shard_placement_fn: modules or parameters (full names) whose tensors of two and more dimensions are cut along
    /// dim 1 instead of dim 0.
    std::vector<std::string> shardedOnDim1;
    /// param_dtype_override_fn (1.14, 1.19): parameters that are gathered and used in the original dtype all the same.
    /// Full names of modules or parameters, or types of modules ("LayerNorm").
    std::vector<std::string> originalDtype;
    /// FSDP1 (FullyShardedDataParallel, framework semantics 1.18) instead of FSDP2: one flat parameter a unit.
    bool flat = false;
    bool limitAllGathers = true;  ///< FSDP1: at most two freed units that the host has not waited for
    /// FSDP1: the next gather of backward comes before the unit's own backward, after it, or on demand.
    enum class FlatPrefetch : std::uint8_t { Before, After, None } flatPrefetch = FlatPrefetch::Before;
    friend bool operator==(const FsdpKnobs&, const FsdpKnobs&) = default;
};

/// DistributedDataParallel's arguments that decide its buckets and their memory (framework semantics 2). Caps are MiB.
struct DdpKnobs {
    std::optional<double> bucketCap;    ///< unset: 25, and 1 for the first bucket; given: for the first one as well
    std::vector<double> bucketCapList;  ///< a cap for each bucket, the last one repeats; replaces bucketCap
    bool findUnusedParameters = false;
    bool staticGraph = false;
    bool gradientAsBucketView = false;
    friend bool operator==(const DdpKnobs&, const DdpKnobs&) = default;
};

/// When a step of several micro-batches reduces its gradients: after each, or once (`no_sync` around all but the last;
/// FSDP2's set_requires_gradient_sync). The third: reduce-scatter after each, all-reduce over the replicas once
/// (set_requires_all_reduce, framework semantics 1.11).
enum class GradientSync : std::uint8_t { EveryMicroBatch, LastMicroBatch, AllReduceLast };

struct Precision {
    DType original = DType::F32;  ///< dtype of sharded parameters, sharded gradients and optimizer state
    std::optional<DType> param;   ///< MixedPrecisionPolicy.param_dtype; unset: the original
    std::optional<DType> reduce;  ///< reduce_dtype; unset: the original (PyTorch 2.15, semantics 1.10)
    [[nodiscard]] DType compute() const { return param.value_or(original); }
    [[nodiscard]] DType reduction() const { return reduce.value_or(original); }
    friend bool operator==(const Precision&, const Precision&) = default;
};

/// Activation checkpointing of blocks (framework semantics 5.1).
struct Checkpointing {
    enum class Mode : std::uint8_t {
        None,
        Full,       ///< every block keeps its input alone
        EveryNth,   ///< the blocks n, 2n, ... (counted from one)
        Selective,  ///< every block keeps the results of attention and of half its products (torchtitan's list)
    } mode = Mode::None;
    std::int64_t everyNth = 2;
    /// The recomputation stops as soon as everything that was saved is there again (PyTorch's default).
    bool earlyStop = true;
    friend bool operator==(const Checkpointing&, const Checkpointing&) = default;
};

enum class OptimizerKind : std::uint8_t { None, Sgd, SgdMomentum, Adam, AdamW, AdamW8bit };

/// How naive placement cuts the stack into stages: contiguous layers.
enum class StageSplit : std::uint8_t { ByLayers, ByParameters, ByTime };

struct Plan {
    std::string name = "fsdp";  ///< what reports call it
    StageSchedule schedule = StageSchedule::Single;
    UnitPolicy policy = UnitPolicy::Fsdp;
    Mesh mesh;
    FsdpKnobs fsdp;
    DdpKnobs ddp;
    GradientSync gradientSync = GradientSync::EveryMicroBatch;
    Precision precision;
    Checkpointing checkpointing;
    OptimizerKind optimizer = OptimizerKind::AdamW;
    bool fusedOptimizer = false;
    StageSplit split = StageSplit::ByLayers;
    /// Kind ByTime: a weight per layer (forward + backward time), given by whoever has prices; empty elsewhere.
    std::vector<double> layerWeights;
    std::int64_t microBatches = 1;  ///< per rank and step; gradients accumulate over them
    bool firstStep = false;         ///< true: the optimizer's state does not exist before the step
    bool evaluation = false;        ///< forward passes alone, without gradients
    /// The step before was an evaluation: what FSDP2 does not reshard after forward is still whole (semantics 1.2).
    bool afterEvaluation = false;
    double clipNorm = 0;  ///< clip_grad_norm_'s max_norm, called before the optimizer; 0: it is not called
    /// torch.compile of the layers: chains of memory-bound kernels run as one, launched from generated code. The graph
    /// is the same; prices differ.
    bool compiled = false;
    friend bool operator==(const Plan&, const Plan&) = default;
};

}  // namespace shardscope::core
