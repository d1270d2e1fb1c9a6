#pragma once

// What a trained model is worth: the share of images that it tells right, in forward passes alone.

#include <cstdint>

#include "core/base/result.h"
#include "core/plan/plan.h"
#include "runtime/data/image_set.h"
#include "runtime/device/device_kind.h"
#include "runtime/train/initial_values.h"

namespace shardscope::runtime {

struct EvaluationConfig {
    DeviceKind device = DeviceKind::Cpu;
    core::VitSpec model;
    core::Precision precision;
    /// Which kernels the model has; its batch, number format and dropout do not matter.
    core::Workload workload = {};
    std::int64_t images = 0;   ///< how many, from the first on; 0: all
    std::int64_t threads = 1;  ///< each runs a graph of one rank on its share of the images
};

struct Evaluation {
    std::int64_t images = 0, right = 0;
    double loss = 0;      ///< mean over the images
    std::int64_t ns = 0;  ///< from begin to end
    [[nodiscard]] double accuracy() const { return static_cast<double>(right) / static_cast<double>(images); }
};

/// Asks the model with these parameters (whole, by ParameterId) about the images. Errors: those of the model, the
/// graph and the device; images that are none of the model's.
[[nodiscard]] core::Result<Evaluation> evaluate(const EvaluationConfig& config, const ParameterValues& parameters,
                                                const ImageSet& images);

}  // namespace shardscope::runtime
