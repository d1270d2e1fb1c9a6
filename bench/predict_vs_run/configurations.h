#pragma once

// What is run and predicted: plans over ranks, strategies and knobs, each over threads or processes, with and without
// an artificial link.

#include <string>
#include <vector>

#include "runtime/train/train.h"

namespace shardscope::bench {

struct Configuration {
    std::string name;
    runtime::TrainConfig training;  ///< without its steps
    bool processes = false;         ///< ranks are processes that meet over Gloo; else threads of this one

    [[nodiscard]] std::int64_t ranks() const { return training.plan.mesh.size(); }
};

/// All of them, or a few small ones.
[[nodiscard]] std::vector<Configuration> configurations(bool quick);

}  // namespace shardscope::bench
