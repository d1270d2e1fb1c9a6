#pragma once

// What one rank holds of one unit: its shard, the borrowed whole parameters, gather and reduce buffers, gradients and
// optimizer state, each with the state of its content, so that an op which comes too early, too late or twice is
// refused.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/graph/step_graph.h"
#include "runtime/device/device.h"

namespace shardscope::runtime {

/// Where a parameter lies in the buffers of its unit. A buffer of the whole unit holds every parameter padded for the
/// shard group, one after another; a buffer of parts (gather, reduce) holds the same cut into equal parts:
/// [part][parameter]. Under FSDP1 nothing but the end is padded, and the parts are cuts of that one flat parameter.
struct ParameterPlace {
    core::ParameterId parameter;
    core::Shape shape;
    std::int64_t elements = 0;  ///< whole, unpadded
    std::int64_t padded = 0;    ///< whole, padded (framework semantics 1.7)
    std::int64_t offset = 0;    ///< of the padded whole, in elements
    std::int64_t own = 0;       ///< elements of this rank's shard that are no padding
    bool trained = true;
    std::int64_t gradientOffset = 0;      ///< like `offset`, among the trained ones
    bool dim1 = false;                    ///< cut along dim 1: part r is the r-th stretch of every row
    std::int64_t ownBegin = 0;            ///< first own element, of the whole (row-major; not along dim 1)
    std::int64_t ownAt = 0;               ///< where the own elements lie in the shard
    std::int64_t ownGradientAt = 0;       ///< like `ownAt`, in the share of the reduced gradients
    core::DType type = core::DType::F32;  ///< in which kernels read it
    bool inMaster = false;                ///< where the optimizer updates it: autocast casts others only
    std::int64_t byteOffset = 0;          ///< of the whole, among the unsharded parameters; `type`s by size
};

struct UnitLayout {
    std::vector<ParameterPlace> places;
    std::int64_t padded = 0;         ///< elements of the whole unit
    std::int64_t trainedPadded = 0;  ///< of its trained parameters
    std::int64_t bytes = 0;          ///< of the whole unit, unsharded; under autocast of its casts
    std::int64_t ranks = 1;          ///< shard group
    std::int64_t rank = 0;           ///< own position in it
    bool flat = false;               ///< FSDP1

    [[nodiscard]] std::int64_t share() const { return padded / ranks; }
    [[nodiscard]] std::int64_t gradientShare() const { return trainedPadded / ranks; }
    /// Of the parameters that are cast for the gather, whole, after the cast.
    [[nodiscard]] std::int64_t castBytes(core::DType original) const;
    /// Of trained parameters: what the optimizer updates.
    [[nodiscard]] std::int64_t ownElements() const;
};
/// `ranks`: the plan's shards, or 1 where every rank has the whole. `cast`: core::castByAutocast.
[[nodiscard]] UnitLayout layOut(const core::Model& model, const core::Plan& plan, const core::Unit& unit,
                                std::int64_t ranks, std::int64_t rank, const std::vector<bool>& cast);

/// Memory of a block of the graph with what it holds now.
struct Held {
    enum class Content : std::uint8_t {
        Nothing,  ///< allocated, not written
        Own,      ///< gather buffer: own part only; sharded gradient: reduced, not set yet; bucket: being filled
        Whole,    ///< gather buffer: all parts; parameters: valid; reduce input: packed; share, bucket: reduced
        Used,     ///< consumed: the reduce input was sent, the share or the bucket went into the gradients
    };
    core::BlockId block;
    Memory memory;
    Content content = Content::Nothing;
    std::uint64_t version = 0;  ///< of the parameters it was made from
    std::int64_t parts = 1;     ///< gather buffer: its parts

    [[nodiscard]] bool allocated() const { return memory.valid(); }
};

/// An unsharded gradient, in the block of the op that made it.
struct GradientPlace {
    core::BlockId block;
    std::byte* data = nullptr;
    bool filled = false;
    bool inBucket = false;  ///< copied into the bucket, which is not reduced yet
};

struct UnitMemory {
    const core::Unit* unit = nullptr;
    UnitLayout layout;
    std::uint64_t version = 1;  ///< of the parameters: the optimizer makes the next one
    Held shard;                 ///< padded, original dtype
    Held unsharded;             ///< whole, padded, compute dtype
    std::vector<Held> retired;  ///< FSDP1: unsharded ones and casts that are not read any more, not released yet
    Held slice;                 ///< kept after forward (int reshard)
    Held cast;                  ///< own shard in the gather dtype
    Held gather;
    Held reduceInput, reduceShare;
    Held partial;                 ///< reduced shares of earlier micro-batches whose all-reduce is still to come
    bool replicasSummed = false;  ///< the reduced share, over the replicas too
    Held bucket;                  ///< DDP: all gradients, one after another
    Held shardedGradient;
    Held staged;        ///< CPU offload: the own shard on the device, on its way into the gather
    Held hostGradient;  ///< CPU offload: the reduced gradient, like the shard in `host`
    Held scratch;       ///< parts along dim 1, on their way
    /// CPU offload: shard, reduced gradient and optimizer state, which are no memory of the device.
    std::vector<std::byte> host;
    core::BlockId momentsBlock;
    std::byte* moments = nullptr;          ///< first moments of all own elements, then second moments
    std::vector<GradientPlace> gradients;  ///< by place
    Held accumulated;                      ///< of earlier micro-batches, in the reduce dtype, one after another
    Held repeated;                         ///< contributions to gradients that are there already, until they are added
    std::vector<GradientPlace> added;      ///< by place: where in `repeated`

    /// The parameters that the optimizer updates: the shard, or the whole without a unit policy.
    [[nodiscard]] Held& master() { return shard.allocated() ? shard : unsharded; }
};

/// Part `part` of `parts` of a whole, unpadded parameter that is cut along dim 1.
[[nodiscard]] TensorView partOnDim1(std::byte* whole, core::DType dtype, const ParameterPlace& place, std::int64_t part,
                                    std::int64_t parts);

/// Part `part` of `parts` of a place in a buffer of the unsharded parameters, whole or cut ([part][parameter]).
[[nodiscard]] TensorView wholePart(const Memory& memory, const ParameterPlace& place, std::int64_t part,
                                   std::int64_t parts);
[[nodiscard]] TensorView cutPart(const Memory& memory, const UnitLayout& layout, const ParameterPlace& place,
                                 std::int64_t part, std::int64_t parts);

/// A view of `elements` elements from `offset` on.
[[nodiscard]] TensorView flatView(const Memory& memory, core::DType dtype, std::int64_t offset, std::int64_t elements);

}  // namespace shardscope::runtime
