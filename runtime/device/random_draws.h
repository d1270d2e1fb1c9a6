#pragma once

// A generator without a state: a number depends on its seed and its place alone, so that a mask is drawn again by
// whoever needs it again, and for a sample alike on every rank.

#include <cstdint>

namespace shardscope::runtime::random {

/// The finalizer of SplitMix64 (Steele, Lea and Flood, "Fast splittable pseudorandom number generators", 2014).
[[nodiscard]] constexpr std::uint64_t scramble(std::uint64_t z) {
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

/// Number `place` of the SplitMix64 sequence that begins at `seed`.
[[nodiscard]] constexpr std::uint64_t bitsAt(std::uint64_t seed, std::uint64_t place) {
    return scramble(seed + (place + 1) * 0x9e3779b97f4a7c15u);
}

/// The seed of part `part` of what `seed` stands for.
[[nodiscard]] constexpr std::uint64_t seedOf(std::uint64_t seed, std::uint64_t part) {
    return scramble(bitsAt(seed, part));
}

/// [0, 1), in steps of 2^-24
[[nodiscard]] constexpr float uniformAt(std::uint64_t seed, std::uint64_t place) {
    return static_cast<float>(bitsAt(seed, place) >> 40) * 0x1p-24f;
}

}  // namespace shardscope::runtime::random
