#pragma once

// How FSDP2 cuts a parameter: dim 0 unless the plan says dim 1, torch.chunk semantics, every rank storing a chunk
// padded to the first one's size (framework semantics 1.7; held against shapes.json).

#include <cstdint>
#include <string_view>

#include "core/base/dtype.h"
#include "core/plan/plan.h"

namespace shardscope::core {

/// Rows of dim 0 of every rank's padded chunk: ceil(d0 / ranks). A scalar counts as one row.
[[nodiscard]] std::int64_t chunkRows(const Shape& shape, std::int64_t ranks);
/// Shape of what `rank` really owns (dim 0 may be 0).
[[nodiscard]] Shape shardShape(const Shape& shape, std::int64_t ranks, std::int64_t rank);
/// Shape of what every rank stores and communicates.
[[nodiscard]] Shape paddedShardShape(const Shape& shape, std::int64_t ranks);
/// Elements of the gathered, padded parameter: ranks x padded shard.
[[nodiscard]] std::int64_t paddedElements(const Shape& shape, std::int64_t ranks);

/// Whether the plan cuts a parameter (full name) along dim 1. It must divide evenly there: nothing is padded.
[[nodiscard]] bool cutOnDim1(const Plan& plan, std::string_view name, const Shape& shape);
/// paddedElements, and the elements that `rank` of the shard group really owns, however the plan cuts the parameter.
[[nodiscard]] std::int64_t paddedElements(const Plan& plan, std::string_view name, const Shape& shape);
[[nodiscard]] std::int64_t ownElements(const Plan& plan, std::string_view name, const Shape& shape, std::int64_t rank);

/// Elements of a unit of FSDP1, one flat parameter, padded to a multiple of the shards (framework semantics 1.18).
[[nodiscard]] std::int64_t paddedFlat(std::int64_t elements, std::int64_t ranks);

/// What `rank` owns of a parameter that begins at `offset` of the flat one of `padded` elements.
struct FlatPart {
    std::int64_t begin = 0;     ///< its first element there, of the parameter's own
    std::int64_t elements = 0;  ///< 0: the rank has nothing of it
    std::int64_t at = 0;        ///< where they lie in the rank's shard
};
[[nodiscard]] FlatPart flatPart(std::int64_t padded, std::int64_t ranks, std::int64_t rank, std::int64_t offset,
                                std::int64_t elements);

/// Divisors before and after a fp16 sum reduction that divides by `factor` in all, by default the data-parallel ranks
/// (framework semantics 1.10).
struct ReductionDivisors {
    double pre = 1, post = 1;
};
[[nodiscard]] ReductionDivisors fp16Divisors(double factor);

}  // namespace shardscope::core
