#pragma once

// The graph of one training step: what every class of ranks does, in which order its host enqueues it, what waits for
// what and why, and which memory it holds meanwhile. It is built by core/graph/build.h, checked, and frozen: after that
// nothing in it changes. It knows no duration; prices are a table beside it (sim/price), clocks are a run's
// (sim/engine). The simulator prices it, the runtime executes it.

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "core/base/dtype.h"
#include "core/base/ids.h"
#include "core/base/quantities.h"
#include "core/graph/storage.h"
#include "core/model/model.h"
#include "core/plan/plan.h"

namespace shardscope::core {

/// What an op does. The comment gives what the executor must do and what `unit`, `bytes` and the ranges mean.
enum class OpKind : std::uint8_t {
    Compute,       ///< kernels [kernels.first, +count) of a layer's program, forward or backward by `phase`
    GatherCopyIn,  ///< own padded shard of a unit, cast to the gather dtype, into its slot of the gather buffer
    AllGather,     ///< gather buffer [rank][parameter] of a unit; bytes: the whole buffer (large side)
    CopyOut,    ///< gather buffer -> unsharded parameters (world size 1: shard -> unsharded parameters, with the cast)
    KeepSlice,  ///< unsharded parameters -> own 1/k slice of each, kept after forward (int reshard); bytes: the slice
    ReduceCopyIn,   ///< unsharded gradients -> reduce-scatter input [rank][parameter], widened to the reduce dtype
    PreDivide,      ///< reduce-scatter input divided by `factor` (fp16 reductions only)
    ReduceScatter,  ///< reduce-scatter input -> own share, summed (see `average`); bytes: the whole input (large side)
    PostDivide,     ///< own share divided by `factor` (fp16 reductions only)
    AddPartial,     ///< own share plus the one kept of earlier micro-batches, whose all-reduce is still to come (HSDP)
    KeepGradients,  ///< unsharded gradients of a unit -> its accumulated ones in the reduce dtype, set or added. FSDP1:
                    ///< -> its flat gradient in the dtype that they have
    ReduceCopyOut,  ///< own share -> sharded gradients: cast to the original dtype, set or added (no work if the dtypes
                    ///< agree); with a shard group of one there is no collective and it reads the reduce-scatter input
                    ///< itself
    BucketCopyIn,  ///< gradients of `unit` that are complete with `kernels` (without: those that no kernel makes), each
                   ///< divided by `factor`, into their places in the unit's bucket
    AllReduce,  ///< a bucket of gradients, or the own share after its reduce-scatter (HSDP; with a shard group of one
                ///< the reduce-scatter input itself), summed over a group for every member; bytes: all of it. Without
                ///< a unit: the squared norm of the gradients
    BucketCopyOut,  ///< bucket -> gradients
    Send,           ///< point to point; bytes: the message; `match` leads to the other end. Neither boundary nor
                    ///< Phase::Reduction: the squared norm of the gradients, to the first stage or back from it
    Receive,        ///< its other side; the two share `match`
    AddGradient,  ///< with `kernels`: the gradients that this range has just made of parameters of `unit` that had one
                  ///< already (earlier micro-batch, tied weight), added to it; where gradients are kept in another
                  ///< dtype than they are made in (DDP under autocast) all that it has made, the first ones set;
                  ///< without: the other stage's partial gradients of the weights that both stages' units hold,
                  ///< received in ParameterId order, added to the own ones
    CastParameters,  ///< policies without sharding: parameters -> a copy in the param dtype, once a step
    OptimizerStep,   ///< update of all parameters of the class's rank from its (sharded) gradients
    CopyToDevice,    ///< CPU offload: own padded shard of a unit, from host memory into a workspace on the device
    CopyToHost,      ///< CPU offload: sharded gradients of a unit into host memory, set or added; bytes: own ones
    GradientNorm,    ///< squares of all (own) gradients of the class's rank, summed up
    ScaleGradients,  ///< the same gradients times min(1, Plan::clipNorm / norm)
};
inline constexpr std::size_t kOpKinds = 24;

enum class Phase : std::uint8_t {
    Forward,
    Loss,
    Backward,
    Recompute,  ///< forward kernels that run again in backward (activation checkpointing)
    Reduction,
    Optimizer
};
inline constexpr std::size_t kPhases = static_cast<std::size_t>(Phase::Optimizer) + 1;

/// Streams every class may use; a graph lists the ones in use by name, and a policy may add more ("all_gather#2").
enum class StreamKind : std::uint8_t {
    Compute,
    AllGatherCopyIn,
    AllGather,
    ReduceScatter,
    AllReduce,
    PointToPoint,
    Host,  ///< work on the CPU that the device waits for (the optimizer under CPU offload)
};
[[nodiscard]] std::string_view nameOf(StreamKind kind);
[[nodiscard]] std::string_view nameOf(OpKind kind);
[[nodiscard]] std::string_view nameOf(Phase phase);

struct Stream {
    std::string name;  ///< "compute", "all_gather_copy_in", ...
    StreamKind kind = StreamKind::Compute;
};

/// A set of ranks that take part in one collective, the same for every rank of a class up to its coordinates.
struct Group {
    enum class Kind : std::uint8_t { Shard, ShardSubgroup, Replicate, Pair } kind = Kind::Shard;
    std::int64_t size = 1;    ///< ranks in it
    std::int64_t stride = 1;  ///< distance between consecutive members in rank numbers
    /// Collectives of one communicator run one after another, in issue order. Equal numbers share the queue.
    std::uint32_t communicator = 0;
    std::string name;  ///< "dp_shard", "dp_shard/2", "pp 0-1"
};

/// Ops [first, first + count) of `forward` or `backward` of the layer's program.
struct KernelRange {
    LayerId layer;
    std::uint32_t first = 0, count = 0;
    bool backward = false;
};

/// Op::match of ops that meet those of their own class alone.
inline constexpr std::uint32_t kNoMatch = 0xffffffffu;

struct Op {
    OpKind kind = OpKind::Compute;
    Phase phase = Phase::Forward;
    std::uint8_t stream = 0;  ///< StepGraph::streams
    std::uint16_t microBatch = 0;
    ClassId rankClass;
    UnitId unit;                     ///< none where no unit is concerned
    GroupId group;                   ///< collectives and point-to-point
    std::uint32_t match = kNoMatch;  ///< ops of different classes with one number are one transfer (Send with Receive)
    KernelRange kernels;             ///< Compute only
    Bytes bytes;                     ///< payload, see OpKind
    Bytes read, written;             ///< device-memory traffic of copies and of the optimizer
    DType dtype = DType::F32;        ///< of the payload (of the destination for casts)
    LayerId boundary;                ///< Send, Receive: the layer whose output (or input gradient) is the message
    double factor = 1;               ///< PreDivide, PostDivide, BucketCopyIn; ReduceScatter: the sum is divided by it
    bool average = false;            ///< ReduceScatter, AllReduce: divide the sum by the group's size
    bool accumulate = false;         ///< ReduceCopyOut, KeepGradients, CopyToHost: add to the gradients that are there
    std::uint16_t launches = 1;      ///< kernels that the host launches for it (Compute: its kernel count)
};

/// Why an op waits for another.
enum class EdgeReason : std::uint8_t {
    Data,          ///< it consumes what the other produced
    StreamOrder,   ///< same stream, enqueued before
    EventWait,     ///< the framework asked the stream to wait
    MemoryLimit,   ///< waits so that a buffer may be reused (one reduce-scatter outstanding, gather buffers in flight)
    Communicator,  ///< same communicator, issued before (holds for the transfer, not for the arrival)
};
[[nodiscard]] std::string_view nameOf(EdgeReason reason);

struct Edge {
    OpId from;
    EdgeReason reason = EdgeReason::Data;
};

enum class MemoryCategory : std::uint8_t {
    ShardedParameters,
    UnshardedParameters,
    ShardedGradients,
    UnshardedGradients,
    GatherBuffers,
    ReduceBuffers,
    OptimizerState,
    Activations,
    Workspace,
};
inline constexpr std::size_t kMemoryCategories = 9;
[[nodiscard]] std::string_view nameOf(MemoryCategory category);

/// A piece of memory of a rank of a class. Host order: it counts from `allocate` to `release` among the class's host
/// actions. Device time: it is in use from the start of `firstUse` to the end of `lastUse`.
struct Block {
    MemoryCategory category = MemoryCategory::Activations;
    ClassId rankClass;
    UnitId unit;    ///< none for activations
    LayerId layer;  ///< activations
    std::uint16_t microBatch = 0;
    Bytes bytes;              ///< largest over the class's ranks (they differ only in OptimizerState)
    std::uint8_t pool = 0;    ///< the stream whose allocator pool it comes from
    bool persistent = false;  ///< there before the step and after it: never allocated or released by an action
    bool found = false;       ///< there before the step, released in it
    bool left = false;        ///< allocated in the step, there after it
    OpId firstUse, lastUse;   ///< invalid lastUse: to the end of the step
    /// Activations: StepGraph::blockStorages [storageBegin, +storageCount) says what lies in it. Other categories:
    /// none.
    std::uint32_t storageBegin = 0, storageCount = 0;
};

enum class HostActionKind : std::uint8_t {
    Launch,    ///< enqueue `op`
    Allocate,  ///< `block`
    Release,   ///< `block`
    Mark,      ///< a moment that PyTorch's recordings name; `mark`, `unit` or `module`
};

enum class Mark : std::uint8_t {
    MicroBegin,       ///< index: micro-batch
    ForwardBegin,     ///< module
    ForwardEnd,       ///< module
    GatherIssued,     ///< unit; `why`
    GatherWaited,     ///< unit: parameters become unsharded
    GatherFreed,      ///< unit: reference to its gather buffer dropped
    Resharded,        ///< unit: unsharded parameters freed
    ReshardedPartly,  ///< unit: reduced to 1/k
    LossBackward,
    PreBackward,            ///< unit
    BackwardBegin,          ///< module
    BackwardEnd,            ///< module
    RecomputeBegin,         ///< module
    RecomputeEnd,           ///< module
    RecomputeStopped,       ///< module: everything that was saved is there again
    PostBackward,           ///< unit; `final` true if in the end-of-backward callback
    ReduceCopyIn,           ///< unit
    Divided,                ///< unit (explicit scaling)
    ReduceIssued,           ///< unit
    AllReduceIssued,        ///< unit
    GradientKept,           ///< unit: unsharded gradients stay (no reduction in this micro-batch)
    PartialSet,             ///< unit: reduced share kept, to be all-reduced with a later micro-batch's
    PartialAdded,           ///< unit: added to the one kept
    ReduceFreed,            ///< unit: compute waits for its reduce-scatter, the input buffer is dropped
    GradientSet,            ///< unit: sharded gradient assigned
    GradientAdded,          ///< unit: sharded gradient added to
    UnusedPrefetchDropped,  ///< unit
    FinalBegin,
    FinalEnd,
    BackwardReturned,
    UserFinalize,
    ClipGradients,
    OptimizerStep,
    ZeroGradients,
};

enum class GatherReason : std::uint8_t { Demand, ImplicitBackward, ExplicitForward, ExplicitBackward };

struct HostAction {
    HostActionKind kind = HostActionKind::Mark;
    Mark mark = Mark::MicroBegin;
    GatherReason why = GatherReason::Demand;
    bool final = false;
    OpId op;
    BlockId block;
    UnitId unit;
    ModuleId module;
    std::uint32_t index = 0;
};

/// One communication group of parameters: one fully_shard call, one bucket of DDP, or the parameters of a stage without
/// a unit policy.
struct Unit {
    std::string name;                     ///< "encoder.layers.encoder_layer_3", "root", "norm+lm_head"
    std::vector<ModuleId> modules;        ///< what was wrapped; a bucket has none
    std::vector<ParameterId> parameters;  ///< in buffer order (post-order, framework semantics 1.1)
    bool isRoot = false;
    Reshard reshard;                                      ///< resolved: never Unset
    std::int64_t elements = 0;                            ///< unpadded, whole
    std::int64_t paddedElements = 0;                      ///< whole, every parameter padded for the shard group (P-hat)
    std::int64_t trainedElements = 0, trainedPadded = 0;  ///< the same of those that are not frozen
    /// By parameter: it is gathered and used in the original dtype although the rest is cast. Empty: none is.
    std::vector<bool> inOriginalDtype;
    std::int64_t originalPadded = 0, originalTrained = 0;  ///< of those: padded elements; trained ones, unpadded
};

/// Ranks with the same program: one per stage.
struct RankClass {
    std::string name;                              ///< "all ranks", "stage 2"
    std::int64_t stage = 0;                        ///< coordinate in pp
    std::int64_t multiplicity = 1;                 ///< ranks in it (dp_replicate x dp_shard)
    std::uint32_t opBegin = 0, opEnd = 0;          ///< its ops, in issue order
    std::uint32_t actionBegin = 0, actionEnd = 0;  ///< its host actions
    LayerId layerBegin, layerEnd;                  ///< layers of the stage, half open
};

/// Frozen. All vectors are read only for everyone but the builder.
struct StepGraph {
    Plan plan;
    std::vector<Stream> streams;
    std::vector<Group> groups;
    std::vector<Unit> units;
    std::vector<RankClass> classes;
    std::vector<Op> ops;                   ///< class by class, in issue order
    std::vector<std::uint32_t> edgeBegin;  ///< ops.size() + 1 offsets into `edges`: what an op waits for
    std::vector<Edge> edges;
    std::vector<HostAction> actions;  ///< class by class, in host order
    std::vector<Block> blocks;
    std::vector<StorageRef> blockStorages;  ///< what the blocks of activations hold, block by block
    std::uint64_t hash = 0;                 ///< of everything above; ranks compare it before their first collective

    [[nodiscard]] std::span<const Edge> waitsOf(OpId op) const {
        return std::span(edges).subspan(edgeBegin[op.index()], edgeBegin[op.index() + 1] - edgeBegin[op.index()]);
    }
    [[nodiscard]] std::span<const Op> opsOf(const RankClass& c) const {
        return std::span(ops).subspan(c.opBegin, c.opEnd - c.opBegin);
    }
    [[nodiscard]] std::span<const HostAction> actionsOf(const RankClass& c) const {
        return std::span(actions).subspan(c.actionBegin, c.actionEnd - c.actionBegin);
    }
};

/// "all-gather blocks.3", "forward encoder_layer_2": what tables and pictures call an op.
[[nodiscard]] std::string labelOf(const StepGraph& graph, const Model& model, OpId op);

}  // namespace shardscope::core
