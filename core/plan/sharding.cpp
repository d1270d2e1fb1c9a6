#include "core/plan/sharding.h"

#include <algorithm>
#include <cassert>
#include <cmath>

#include "core/base/full_names.h"

namespace shardscope::core {

namespace {

std::int64_t rowsOf(const Shape& shape) {
    return shape.empty() ? 1 : shape.front();
}

/// Of one row of dim 0.
std::int64_t elementsOfRow(const Shape& shape) {
    std::int64_t elements = 1;
    for (std::size_t d = 1; d < shape.size(); ++d) elements *= shape[d];
    return elements;
}

Shape withRows(Shape shape, std::int64_t rows) {
    if (shape.empty()) shape.push_back(rows);
    shape.front() = rows;
    return shape;
}

std::int64_t ownRows(const Shape& shape, std::int64_t ranks, std::int64_t rank) {
    const std::int64_t chunk = chunkRows(shape, ranks);
    return std::clamp<std::int64_t>(rowsOf(shape) - rank * chunk, 0, chunk);
}

}  // namespace

std::int64_t chunkRows(const Shape& shape, std::int64_t ranks) {
    assert(ranks > 0);
    return (rowsOf(shape) + ranks - 1) / ranks;
}

Shape shardShape(const Shape& shape, std::int64_t ranks, std::int64_t rank) {
    return withRows(shape, ownRows(shape, ranks, rank));
}

Shape paddedShardShape(const Shape& shape, std::int64_t ranks) {
    return withRows(shape, chunkRows(shape, ranks));
}

std::int64_t paddedElements(const Shape& shape, std::int64_t ranks) {
    return ranks * chunkRows(shape, ranks) * elementsOfRow(shape);
}

bool cutOnDim1(const Plan& plan, std::string_view name, const Shape& shape) {
    if (shape.size() < 2) return false;
    return std::any_of(plan.fsdp.shardedOnDim1.begin(), plan.fsdp.shardedOnDim1.end(),
                       [&](const std::string& asked) { return liesIn(name, asked); });
}

std::int64_t paddedElements(const Plan& plan, std::string_view name, const Shape& shape) {
    return cutOnDim1(plan, name, shape) ? elementsOf(shape) : paddedElements(shape, plan.mesh.dpShard);
}

std::int64_t ownElements(const Plan& plan, std::string_view name, const Shape& shape, std::int64_t rank) {
    return cutOnDim1(plan, name, shape) ? elementsOf(shape) / plan.mesh.dpShard
                                        : ownRows(shape, plan.mesh.dpShard, rank) * elementsOfRow(shape);
}

std::int64_t paddedFlat(std::int64_t elements, std::int64_t ranks) {
    return (elements + ranks - 1) / ranks * ranks;
}

FlatPart flatPart(std::int64_t padded, std::int64_t ranks, std::int64_t rank, std::int64_t offset,
                  std::int64_t elements) {
    const std::int64_t share = padded / ranks, first = rank * share;
    const std::int64_t from = std::clamp(first, offset, offset + elements);
    const std::int64_t to = std::clamp(first + share, offset, offset + elements);
    if (from >= to) return {};
    return {from - offset, to - from, from - first};
}

ReductionDivisors fp16Divisors(double factor) {
    // Keep the sum in range: divide by about the square root before the reduction, by the rest after it.
    double pre = 1;
    while (std::fmod(factor, pre) == 0 && factor / pre > pre) pre *= 2;
    return {pre, factor / pre};
}

}  // namespace shardscope::core
