#pragma once

// Values to begin with: the initial parameters of a model, and the formula fill of the reference vectors.

#include <cstdint>
#include <functional>
#include <string_view>
#include <vector>

#include "core/base/result.h"
#include "core/model/model.h"
#include "core/model/spec.h"
#include "runtime/executor/executor.h"

namespace shardscope::runtime {

/// By ParameterId, row-major.
using ParameterValues = std::vector<std::vector<float>>;

/// Initial values from a seeded std::mt19937: torchvision's rules for a vision transformer (framework semantics 8.1);
/// for other models norms one and zero, biases zero, embeddings N(0, 0.02), other weights uniform in +-1/sqrt(fan in).
/// The same on every platform.
[[nodiscard]] ParameterValues initialParameters(const core::Model& model, std::uint32_t seed);
/// The same values one parameter after another, in the order of `stateDictOrder`, for who need not hold all at once.
/// Errors: the first of `visit`.
[[nodiscard]] core::Result<void> eachInitialParameter(
    const core::Model& model, std::uint32_t seed,
    const std::function<core::Result<void>(core::ParameterId, std::vector<float>)>& visit);

/// Values of a hash of (stream, first + i), exact in float32, in [-2^(log2Scale-1), 2^(log2Scale-1)). The formula of
/// the reference vectors of the vision transformer; streams 0.. are parameters by position, 100000 the images.
[[nodiscard]] std::vector<float> formulaFill(std::uint32_t stream, std::uint32_t first, std::size_t count,
                                             int log2Scale);
/// Every parameter in formula fill; norm weights are 1 + value. Streams are positions in PyTorch's state_dict order.
[[nodiscard]] ParameterValues formulaParameters(const core::Model& model, int log2Scale);

/// Samples [first, first + count) of the formula images (channels x side x side each), labels i mod classes.
[[nodiscard]] Batch formulaBatch(const core::VitSpec& spec, std::int64_t first, std::int64_t count);

/// Parameters in the order of PyTorch's state_dict: a module's own parameters first, then its children in registration
/// order.
[[nodiscard]] std::vector<core::ParameterId> stateDictOrder(const core::Model& model);

}  // namespace shardscope::runtime
