#pragma once

// Runs the program of one rank: the host actions of its class, in exactly their order, over a Device and Communicators.
// It has no schedule of its own: an op goes to the stream that the graph says, after the ops that the graph lets it
// wait for, collectives and messages like kernels. The host goes on meanwhile; at the end of a step it waits for all.
// What an op needs is looked up in the memory that the actions before it made and filled, so an op that is missing, out
// of place or done twice is refused with a sentence about the first thing that is not there.

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/graph/gradient_order.h"
#include "core/graph/step_graph.h"
#include "runtime/communicator/communicator.h"
#include "runtime/device/device.h"
#include "runtime/executor/activation_memory.h"
#include "runtime/executor/rank_map.h"
#include "runtime/executor/unit_memory.h"

namespace shardscope::runtime {

/// The data of one micro-batch of one rank, in the shapes of the model's workload.
struct Batch {
    std::vector<float> values;      ///< images
    std::vector<std::int64_t> ids;  ///< token ids (models that embed)
    std::vector<std::int64_t> labels;
};
using BatchSource = std::function<core::Result<Batch>(std::uint16_t microBatch)>;
/// One a sample of a micro-batch, alike wherever the sample is seen in this step: what is drawn by chance for it
/// follows from it. By itself, because stages in the middle draw and need nothing else of the samples.
using SeedSource = std::function<std::vector<std::uint64_t>(std::uint16_t microBatch)>;

/// The defaults are PyTorch's (framework semantics 8.2), but for the momentum, which PyTorch leaves to the caller;
/// weight decay is 0 for SGD and Adam, 0.01 for AdamW.
struct OptimizerSettings {
    double learningRate = 1e-3, beta1 = 0.9, beta2 = 0.999, epsilon = 1e-8, momentum = 0.9;
    double weightDecay = -1;  ///< negative: the optimizer's default
};

/// When an op ran, in nanoseconds of the device's clock: `start` when its stream reached it and what it waits for was
/// done. Collectives and messages begin to move at `transferStart`, when the last member has arrived and the
/// communicator is free; for other ops it is `start`.
struct OpTimes {
    core::OpId op;
    std::int64_t start = 0, transferStart = 0, end = 0;
};

struct StepOutcome {
    std::vector<double> losses;  ///< by micro-batch; empty on ranks that do not compute the loss
    std::int64_t right = 0;      ///< evaluation: samples whose largest score is that of their label
    std::vector<OpTimes> times;  ///< in order of issue
    std::int64_t begin = 0, end = 0;
};

class Executor;

/// Looks at a running step; any of them may be empty.
struct StepObserver {
    /// After an op was launched: live bytes by category; workspace is the most that the op had at once.
    std::function<void(core::OpId, const LiveBytes&)> launched;
    std::function<core::Result<void>(Executor&)> beforeOptimizer;
};

class Executor {
public:
    using CommunicatorSource =
        std::function<std::unique_ptr<Communicator>(const std::string& name, const std::vector<std::int64_t>& members)>;

    /// Allocates what is there before the step. Model, graph and device must outlive it. Errors: a layout or dtype that
    /// the kernels could not read, no memory.
    static core::Result<std::unique_ptr<Executor>> create(const core::Model& model, const core::StepGraph& graph,
                                                          std::int64_t rank, Device& device,
                                                          const CommunicatorSource& communicators,
                                                          const OptimizerSettings& settings = {});
    ~Executor();
    Executor(const Executor&) = delete;
    Executor& operator=(const Executor&) = delete;

    /// Keeps this rank's part of a whole parameter; ignored by ranks without it.
    core::Result<void> loadParameter(core::ParameterId parameter, std::span<const float> whole);

    /// Models with dropout need `seeds`. Errors: an op that is refused, a kernel or a transfer that fails, here or on
    /// another rank. This rank's communicators are then abandoned and its streams stand still.
    core::Result<StepOutcome> runStep(const BatchSource& batches, const SeedSource& seeds = {},
                                      const StepObserver& observer = {});

    /// Of the steps to come.
    void setLearningRate(double rate) { m_settings.learningRate = rate; }

    [[nodiscard]] const core::RankClass& rankClass() const { return m_class; }
    [[nodiscard]] const std::vector<UnitMemory>& units() const { return m_units; }
    /// What this rank owns of a parameter (row-major, no padding; empty if nothing), and its reduced gradient, which
    /// exists between its reduction and the end of the step.
    [[nodiscard]] core::Result<std::vector<float>> ownParameter(core::ParameterId parameter);
    [[nodiscard]] core::Result<std::vector<float>> ownGradient(core::ParameterId parameter);

private:
    struct UnitPlace {
        std::size_t unit = 0, place = 0;
    };
    Executor(const core::Model& model, const core::StepGraph& graph, std::int64_t rank, Device& device,
             const OptimizerSettings& settings);

    core::Result<void> prepare(const CommunicatorSource& communicators);
    void findUnits();
    void findPeers();
    void openCommunicators(const CommunicatorSource& communicators);
    core::Result<void> checkModel() const;
    void loadLeft(UnitMemory& unit, const ParameterPlace& place, std::span<const float> whole);

    // executor_blocks.cpp
    core::Result<void> allocate(core::BlockId id);
    core::Result<void> release(core::BlockId id);
    core::Result<void> allocateOfUnit(core::BlockId id, UnitMemory& unit);
    core::Result<void> allocateGradients(core::BlockId id, UnitMemory& unit);
    core::Result<void> allocateRepeated(core::BlockId id, UnitMemory& unit);
    core::Result<void> allocateMoments(core::BlockId id);
    [[nodiscard]] std::int64_t momentsPerElement() const;
    /// Dtype in which kernels make parameter gradients, and in which they are kept until they are reduced.
    [[nodiscard]] core::DType madeGradientType(const ParameterPlace& place) const;
    [[nodiscard]] core::DType gradientType(const ParameterPlace& place) const;
    [[nodiscard]] std::optional<core::OpKind> makerOf(const core::Block& block) const;
    [[nodiscard]] bool isRepeated(const core::Block& block) const;
    /// What a block of a unit is for, and the bytes that this rank needs there.
    [[nodiscard]] Held* heldFor(const core::Block& block, UnitMemory& unit, std::int64_t& bytes);
    /// Places of the unit whose gradient that op makes.
    [[nodiscard]] std::vector<std::size_t> gradientsMadeBy(core::OpId op, const UnitMemory& unit) const;
    [[nodiscard]] tl::unexpected<core::Error> refuseBlock(core::BlockId id, const std::string& why) const;

    // executor_compute.cpp
    core::Result<void> compute(const core::Op& op);
    core::Result<void> runKernel(const core::Op& op, std::uint32_t index, bool& waitsChecked);
    core::Result<TensorView> operand(const core::Op& op, core::TensorId tensor, bool written);
    core::Result<TensorView> parameterOperand(const core::Op& op, const core::Tensor& tensor);
    core::Result<TensorView> gradientOperand(const core::Op& op, const core::Tensor& tensor);
    /// The data that the op is the first to read, before its stream reaches it: no op takes the time that this takes.
    core::Result<void> loadBatch(const core::Op& op);
    core::Result<void> fillFromOutside(const core::Op& op, const core::StorageRef& storage,
                                       ActivationMemory::Piece& piece);
    /// The samples of a micro-batch, asked for when something of them is needed first.
    core::Result<const Batch*> batchOf(const core::Op& op);
    /// The seeds of what a kernel draws; empty: it draws nothing.
    core::Result<std::vector<std::uint64_t>> seedsOf(const core::Op& op, const core::Kernel& kernel);
    core::Result<void> noteLoss(const core::Op& op, const TensorView& loss);
    /// `scores`: samples x classes.
    core::Result<void> noteRight(const core::Op& op, const TensorView& scores);

    // executor_units.cpp
    core::Result<void> gatherCopyIn(const core::Op& op, UnitMemory& unit);
    core::Result<void> allGather(const core::Op& op, UnitMemory& unit);
    core::Result<void> copyOut(const core::Op& op, UnitMemory& unit);
    core::Result<void> keepSlice(const core::Op& op, UnitMemory& unit);
    core::Result<void> reduceCopyIn(const core::Op& op, UnitMemory& unit);
    core::Result<void> preDivide(const core::Op& op, UnitMemory& unit);
    core::Result<void> reduceScatter(const core::Op& op, UnitMemory& unit);
    core::Result<void> postDivide(const core::Op& op, UnitMemory& unit);
    core::Result<void> keepGradients(const core::Op& op, UnitMemory& unit);
    core::Result<void> addPartial(const core::Op& op, UnitMemory& unit);
    core::Result<void> reduceCopyOut(const core::Op& op, UnitMemory& unit);
    /// Where the reduction of a unit's gradients is: with a shard group of one still in its input.
    [[nodiscard]] static Held& reducedShare(UnitMemory& unit);
    core::Result<void> allReduceShare(const core::Op& op, UnitMemory& unit);
    core::Result<void> optimizerStep(const core::Op& op);

    // executor_flat.cpp
    core::Result<void> castFlat(const core::Op& op, UnitMemory& unit);
    core::Result<void> allGatherFlat(const core::Op& op, UnitMemory& unit);
    core::Result<void> widenFlat(const core::Op& op, UnitMemory& unit);
    /// What a unit's reduce-scatter reads: its input, or FSDP1's flat gradient itself.
    [[nodiscard]] static Held& packedGradients(UnitMemory& unit);

    /// The reduced gradient of what this rank owns of a place.
    core::Result<TensorView> gradientForUpdate(UnitMemory& unit, std::size_t place) const;

    // executor_offload.cpp
    void allocateOnHost();
    core::Result<void> copyToDevice(const core::Op& op, UnitMemory& unit);
    core::Result<void> copyToHost(const core::Op& op, UnitMemory& unit);

    // executor_clipping.cpp
    core::Result<void> gradientNorm(const core::Op& op);
    core::Result<void> sumNorm(const core::Op& op);
    core::Result<void> passNorm(const core::Op& op);
    core::Result<void> scaleGradients(const core::Op& op);
    [[nodiscard]] bool isOfEarlierStage(core::ParameterId parameter) const;

    // executor_buckets.cpp
    core::Result<void> bucketCopyIn(const core::Op& op, UnitMemory& unit);
    /// Of a bucket; under FSDP of the own share (allReduceShare).
    core::Result<void> allReduce(const core::Op& op, UnitMemory& unit);
    core::Result<void> bucketCopyOut(const core::Op& op, UnitMemory& unit);

    // executor_messages.cpp
    core::Result<void> send(const core::Op& op);
    core::Result<void> receive(const core::Op& op);
    core::Result<void> addGradient(const core::Op& op);
    core::Result<void> sendGradient(const core::Op& op);
    core::Result<void> receiveGradient(const core::Op& op);
    core::Result<void> addReceived(const core::Op& op);
    /// This rank's gradients of the parameters tied to another stage, one view each, in the order of ParameterId.
    core::Result<std::vector<TensorView>> tiedGradients(std::int64_t stage);
    [[nodiscard]] static std::int64_t peerOf(const Communicator& pair);
    core::Result<TensorView> messageOperand(const core::Op& op, bool written);

    core::Result<void> runProgram(const StepObserver& observer);
    core::Result<void> launchAction(core::OpId id, const StepObserver& observer);
    core::Result<void> agreeOnGraph();
    void abandon(const core::Error& why);
    void takeOverLeft();
    core::Result<void> launch(core::OpId id);
    /// Makes the op's stream wait for what was issued on others. Transfers wait for their communicator as well, but
    /// only once they have arrived.
    void waitForOthers(core::OpId id, bool transfer);
    /// Refuses an op before what it waits for was issued.
    core::Result<void> checkWaits(core::OpId id) const;
    /// A call of a communicator, as work of the op's stream; buffers must be there until the end of the step.
    core::Result<void> communicate(const core::Op& op, Communicator& communicator,
                                   std::function<core::Result<Transfer>()> call);
    core::Result<void> execute(const core::Op& op);
    [[nodiscard]] Communicator* communicatorOf(const core::Op& op) const;
    [[nodiscard]] CallLabel labelFor(const core::Op& op, const char* operation, std::int64_t bytes) const;
    [[nodiscard]] tl::unexpected<core::Error> refuse(const std::string& why) const;

    const core::Model& m_model;
    const core::StepGraph& m_graph;
    std::int64_t m_rank;
    RankMap m_ranks;
    const core::RankClass& m_class;
    core::ClassId m_classId;
    Device& m_device;
    OptimizerSettings m_settings;
    ActivationMemory m_activations;
    std::vector<UnitMemory> m_units;            ///< by UnitId; those of other classes stay empty
    std::vector<UnitPlace> m_placeOf;           ///< by ParameterId
    std::vector<bool> m_hasParameter;           ///< by ParameterId
    std::vector<core::GradientMaker> m_makers;  ///< by ParameterId
    std::map<core::BlockId, Memory> m_gradientBlocks, m_stateBlocks;
    std::vector<std::unique_ptr<Communicator>> m_communicators;  ///< distinct member sets
    std::vector<Communicator*> m_communicatorOfGroup;            ///< by GroupId; null for groups of other classes
    std::unique_ptr<Communicator> m_world;
    bool m_agreed = false;
    std::int64_t m_optimizerSteps = 0;

    std::map<std::uint32_t, std::int64_t> m_peerStage;                ///< by Op::match: the stage of the other end
    std::map<std::int64_t, std::vector<core::ParameterId>> m_tiedTo;  ///< by stage: parameters that it holds as well

    // One step.
    Held m_received;  ///< the other stage's gradients of tied parameters
    // Clipping: the sum of squares as far as it is added up, which only streams touch, and what the first stage
    // receives of it.
    float m_norm = 0, m_normReceived = 0;
    bool m_hasNorm = false;  ///< its op was issued
    const BatchSource* m_batches = nullptr;
    const SeedSource* m_seeds = nullptr;
    std::vector<std::optional<Batch>> m_batch;  ///< by micro-batch
    std::vector<Event> m_start, m_done;         ///< by op of the class, on its stream; none if not issued
    std::vector<Transfer> m_transfers;          ///< by op of the class; written on streams
    std::map<const Communicator*, Event> m_lastCall;
    std::vector<std::vector<std::byte>> m_messages, m_losses;  ///< what streams read or write on the host's side
    core::OpId m_running;
    core::BlockId m_workspace;          ///< allocated, not released
    std::int64_t m_workspaceBytes = 0;  ///< what its compute op had there at once
    core::DType m_lossType = core::DType::F32;
    StepOutcome m_outcome;
};

}  // namespace shardscope::runtime
