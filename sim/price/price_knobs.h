#pragma once

// What a user or a test may set about prices instead of taking the model's word.

namespace shardscope::sim {

struct PriceKnobs {
    bool infiniteHost = false;       ///< the host has issued everything at the start: Prices::release is 0
    bool freeCommunication = false;  ///< collectives, sends and receives take no time
    bool freeCopies = false;         ///< copies around collectives, divisions and gradient additions take no time
    bool freeLoss = false;           ///< the loss layer, forward and backward, takes no time
    bool freeOptimizer = false;      ///< the optimizer takes no time
    bool noOverlapSlowdown = false;  ///< compute beside a transfer runs at full speed
    /// 0: the shape-dependent model. Otherwise every GEMM and attention runs at this share of the dense peak, without
    /// floors: time = FLOPs / (share x peak). 1 gives the compute bound.
    double computeShare = 0;
    /// 0: the model. Otherwise memory-bound kernels, copies and the optimizer run at this share of the peak bandwidth.
    double memoryShare = 0;
    /// Host seconds per kernel launch; negative: the GPU's value.
    double hostLaunch = -1;

    friend bool operator==(const PriceKnobs&, const PriceKnobs&) = default;
};

}  // namespace shardscope::sim
