#pragma once

// The orders in which PyTorch draws samples.

#include <cstdint>
#include <random>
#include <vector>

namespace shardscope::runtime {

/// torch.randperm on the CPU, continued by every call on the same engine: a permutation of 0..count-1 (framework
/// semantics 7.3). count >= 0.
[[nodiscard]] std::vector<std::int64_t> randomPermutation(std::int64_t count, std::mt19937& engine);
/// With a fresh generator; like torch.Generator.manual_seed, whose engine takes the low 32 bits.
[[nodiscard]] std::vector<std::int64_t> randomPermutation(std::int64_t count, std::uint64_t seed);

}  // namespace shardscope::runtime
