#pragma once

// Where the activations of one micro-batch are alive: which op's launch makes a storage and after which op's launch
// nothing needs it. Storages with the same life are one piece.

#include <cstdint>
#include <span>
#include <vector>

#include "core/graph/form_units.h"
#include "core/graph/pass_script.h"
#include "core/graph/storage.h"

namespace shardscope::core {

/// A place in the order in which a class launches the ops of one micro-batch.
struct PassSlot {
    enum class Kind : std::uint8_t {
        Kernels,
        ReceiveInput,
        SendOutput,
        ReceiveGradient,
        SendGradient
    } kind = Kind::Kernels;
    KernelRange kernels;  ///< Kernels only
    bool recompute = false;
};

/// The slots of a micro-batch: receive, forward, send, loss, receive, backward, send, as far as the stage has them.
[[nodiscard]] std::vector<PassSlot> slotsOf(const PassScript& script, const Stage& stage);

struct ActivationPlan {
    struct Piece {
        std::uint32_t firstSlot = 0, lastSlot = 0;
        LayerId layer;  ///< of its first storage
        Bytes bytes;
        std::uint32_t begin = 0, end = 0;  ///< ActivationPlan::storages [begin, end)
    };
    std::vector<Piece> pieces;  ///< by first slot, then last slot
    std::vector<StorageRef> storages;
    std::vector<Bytes> workspace;  ///< by slot: largest sum of what lives only inside the op
    Bytes input, output;           ///< messages: the stage's first input, its last output
    DType inputType = DType::F32, outputType = DType::F32;
};

/// A place before which a run of kernels is cut in two.
struct KernelCut {
    LayerId layer;
    bool backward = false, recompute = false;
    std::uint32_t kernel = 0;
};

/// What the gradients of a pass take beside its activations, in bytes of an element.
struct GradientSizes {
    double made = 4;       ///< while the op runs that makes it
    double kept = 4;       ///< from then on; 0 where it is added to one that is there already
    bool ofLayer = false;  ///< `made` holds until the backward pass of its layer is over (FSDP: until it is reduced)
    double madeWide = 4;   ///< `made` under autocast of one that is no product's: made in the dtype it is kept in
};

/// Which ops may hold how much at once.
enum class PeakLimits : std::uint8_t {
    OfPasses,     ///< ops of forward and of backward the most that their own pass needs kernel by kernel
    OfReduction,  ///< as OfPasses; below `apart` backward has a limit of its own: buffers of a reduction are beside it
    OfStep,       ///< all the most that either needs: enough to tell where the step peaks, with fewer cuts
};

/// An op's memory is taken at its start and given back at its end, which is more than its kernels need one by one. Cuts
/// that keep every op of these slots at or below its limit, so that this is where the pass (or the step) peaks. Counted
/// are activations and gradients. `apart` matters to PeakLimits::OfReduction alone.
[[nodiscard]] std::vector<KernelCut> peakCuts(const Model& model, const Stage& stage, std::span<const PassSlot> slots,
                                              const RecomputeTable& recompute, const GradientSizes& gradients,
                                              PeakLimits limits, LayerId apart = {});

[[nodiscard]] ActivationPlan planActivations(const Model& model, const Stage& stage, std::span<const PassSlot> slots,
                                             const RecomputeTable& recompute);

}  // namespace shardscope::core
