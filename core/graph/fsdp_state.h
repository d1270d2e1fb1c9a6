#pragma once

// What FSDP2 remembers between its hooks, by unit and by root. Part of fsdp_policy.cpp.

#include <cstdint>
#include <vector>

#include "core/graph/unit_rules.h"

namespace shardscope::core {

/// What the units below one root share (framework semantics 1.2, 1.3).
struct FsdpContext {
    UnitId root;
    std::uint8_t copyIn = 0, gather = 0, reduce = 0;  ///< streams
    std::uint8_t allReduce = 0;                       ///< with replicas; gradients are set there
    std::vector<UnitId> order;                        ///< post-forward order
    struct {
        UnitId unit;
        BlockId buffer;
        OpId copyOut;
    } pending;  ///< gather buffer of the last unit that was copied out in forward
    struct Reduction {
        UnitId unit;
        BlockId input;
        OpId reduce;
    };
    std::vector<Reduction> reductions;  ///< whose inputs are alive, the oldest first
    OpId postReduce;                    ///< last op of the latest reduction
};

struct FsdpUnitState {
    std::size_t context = 0;
    UnitId root;  ///< the outermost unit above it, or itself
    bool gatheredInBackward = true;
    bool inBackward = false;    ///< between pre- and post-backward
    bool recomputing = false;   ///< a checkpointed module of it runs again before its own backward has begun
    bool finalQueued = false;   ///< roots: the end-of-backward callback is due
    BlockId parameters;         ///< own shards, persistent; none under CPU offload
    BlockId unsharded;          ///< valid while the unit is whole
    bool gatherIssued = false;  ///< and not yet waited for
    BlockId buffer;
    OpId gather;
    BlockId slice;   ///< kept by an int reshard
    OpId keepSlice;  ///< that the gather streams have to wait for
    std::size_t forwardPosition = 0;
    std::vector<UnitId> forwardList, backwardList;
    std::vector<BlockId> gradients;     ///< unsharded ones
    std::int64_t gradientElements = 0;  ///< in them
    std::int64_t gradientOriginal = 0;  ///< of those: of parameters in the original dtype
    bool keptGradients = false;         ///< `gradients` are of earlier micro-batches too
    BlockId accumulated;  ///< unsharded gradients of earlier micro-batches, where they are kept in another dtype
    BlockId partial;      ///< reduced share of earlier micro-batches that waits for its all-reduce
    BlockId shardedGradient;
    bool gradientOnHost = false;  ///< CPU offload: that of an earlier micro-batch is there
    BlockId summed;  ///< share that was all-reduced and is not the gradient's own memory: kept to the end of backward
    bool reduced = false;  ///< post-backward has run in this micro-batch
};

class FsdpState {
public:
    explicit FsdpState(ClassContext& context);

    /// An invalid id stands for the parameters that no unit wraps: whole on every rank, with gradients of their own
    /// that nobody averages, as in PyTorch when the root is left out (1.2).
    [[nodiscard]] FsdpUnitState& operator[](UnitId unit) {
        return unit.valid() ? m_units[m_c.local(unit)] : m_notWrapped;
    }
    [[nodiscard]] const FsdpUnitState& operator[](UnitId unit) const {
        return unit.valid() ? m_units[m_c.local(unit)] : m_notWrapped;
    }
    [[nodiscard]] std::vector<FsdpContext>& contexts() { return m_contexts; }
    [[nodiscard]] FsdpContext& contextOf(UnitId unit) { return m_contexts[(*this)[unit].context]; }

    [[nodiscard]] std::int64_t ranks() const { return m_c.plan.mesh.dpShard; }
    [[nodiscard]] std::int64_t replicas() const { return m_c.plan.mesh.dpReplicate; }
    /// Gradients are all-reduced over the replicas, be it one (1.12).
    [[nodiscard]] bool hybrid() const { return replicas() > 1 || m_c.plan.fsdp.hybridMesh; }
    /// No micro-batch of this step follows.
    [[nodiscard]] bool lastMicroBatch() const { return m_c.microBatch + 1 == m_c.plan.microBatches; }
    /// False for a unit without parameters: it wraps, and does nothing.
    [[nodiscard]] bool communicates(UnitId unit) const { return !m_c.unit(unit).parameters.empty(); }
    [[nodiscard]] bool offloads() const { return m_c.plan.fsdp.cpuOffload; }
    /// Of the optimizer under CPU offload.
    [[nodiscard]] std::uint8_t hostStream() const { return m_hostStream; }
    /// Whole, padded, of the parameters that are cast for the gather: the param dtype differs from the original one.
    [[nodiscard]] std::int64_t castElements(UnitId unit) const {
        const bool casts = m_c.plan.precision.compute() != m_c.plan.precision.original;
        return casts ? m_c.unit(unit).paddedElements - m_c.unit(unit).originalPadded : 0;
    }
    /// Whole, padded, each parameter in its own param dtype: gather buffer and unsharded parameters.
    [[nodiscard]] Bytes gatheredBytes(UnitId unit) const {
        const std::int64_t kept = m_c.unit(unit).originalPadded, cast = m_c.unit(unit).paddedElements - kept;
        return {cast * sizeOf(m_c.plan.precision.compute()) + kept * sizeOf(m_c.plan.precision.original)};
    }
    /// Of the gather: bytes where parameters have different dtypes (1.7).
    [[nodiscard]] DType gatheredType(UnitId unit) const {
        const std::int64_t kept = m_c.unit(unit).originalPadded;
        return kept == 0                               ? m_c.plan.precision.compute()
               : kept == m_c.unit(unit).paddedElements ? m_c.plan.precision.original
                                                       : DType::U8;
    }
    /// Own padded shard in the original dtype.
    [[nodiscard]] Bytes shardBytes(UnitId unit) const {
        return {m_c.unit(unit).paddedElements / ranks() * sizeOf(m_c.plan.precision.original)};
    }
    /// Its part that has gradients.
    [[nodiscard]] Bytes gradientShardBytes(UnitId unit) const {
        return {m_c.unit(unit).trainedPadded / ranks() * sizeOf(m_c.plan.precision.original)};
    }
    [[nodiscard]] std::int64_t paddedShard(ParameterId parameter) const;
    [[nodiscard]] std::uint16_t tensorsOf(UnitId unit) const;
    /// Whole, of its parameters that are cut along dim 1 (and trained).
    [[nodiscard]] std::int64_t elementsOnDim1(UnitId unit, bool trained) const;
    /// What the rank really has of the gradients of a unit, or of all.
    [[nodiscard]] Bytes ownGradientBytes(UnitId unit) const;
    [[nodiscard]] Bytes ownGradientBytes() const;
    void useAllGradients(OpId op);

    [[nodiscard]] GroupId shardGroup();
    /// The shard group, or the same ranks over a communicator of their own.
    [[nodiscard]] GroupId reduceGroup();
    [[nodiscard]] GroupId replicateGroup();
    [[nodiscard]] GroupId subgroup(std::int64_t ranks);

    [[nodiscard]] Op op(OpKind kind, UnitId unit, std::uint8_t stream, Phase phase) const;
    BlockId allocate(MemoryCategory category, UnitId unit, Bytes bytes, std::uint8_t pool);
    /// Both gather streams wait until a buffer has been copied out: it will be reused.
    void gatherStreamsWait(FsdpContext& context, OpId copyOut);
    /// The kernels of a step read what is gathered of their units.
    void useGathered(const PassStep& step, OpId op);
    /// Frees the unsharded parameters.
    void reshard(UnitId unit);

    void addPersistentBlocks();
    void endStep();
    /// What is whole, or kept in part, stays for the next step.
    void endEvaluation();

private:
    void makeContexts();
    GroupId addGroup(Group::Kind kind, std::int64_t size, std::int64_t stride, const std::string& name);

    ClassContext& m_c;
    std::vector<FsdpUnitState> m_units;
    FsdpUnitState m_notWrapped;
    std::vector<FsdpContext> m_contexts;
    GroupId m_shardGroup, m_reduceGroup, m_replicateGroup;
    std::vector<std::pair<std::int64_t, GroupId>> m_subgroups;
    BlockId m_optimizerState;
    std::uint8_t m_hostStream = 0;
};

}  // namespace shardscope::core
