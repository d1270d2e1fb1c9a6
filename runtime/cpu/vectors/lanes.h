#pragma once

// As many floats as a register of the processor holds: 16 with AVX-512, 8 with AVX2, 4 without either. What includes
// this is compiled once for each of them, into a namespace of its own, so that the linker cannot take one's functions
// for another's.

#include <cstdint>
#include <utility>

#ifndef SHARDSCOPE_VECTORS
#define SHARDSCOPE_VECTORS baseline
#endif

namespace shardscope::runtime::cpu::SHARDSCOPE_VECTORS {

#if defined(__AVX512F__)
constexpr int kBytes = 64;
#elif defined(__AVX2__)
constexpr int kBytes = 32;
#else
constexpr int kBytes = 16;
#endif
constexpr std::int64_t kLanes = kBytes / 4;
using Lanes = float __attribute__((vector_size(kBytes)));
using Integers = std::int32_t __attribute__((vector_size(kBytes)));

/// work(0), work(1), ... work(Times - 1), written out: what it indexes stays in registers.
template <int Times, class Work>
[[gnu::always_inline]] inline void unrolled(const Work& work) {
    [&]<int... I>(std::integer_sequence<int, I...>) {
        (work(I), ...);
    }
    (std::make_integer_sequence<int, Times>());
}

/// The kind of value, Lanes or float, that a template is asked for.
template <class T>
struct Of {
    using Type = T;
};

template <class T = Lanes>
[[gnu::always_inline]] inline T load(const float* from) {
    T value;
    __builtin_memcpy(&value, from, sizeof value);
    return value;
}

[[gnu::always_inline]] inline void store(float* to, Lanes value) {
    __builtin_memcpy(to, &value, sizeof value);
}

[[gnu::always_inline]] inline Lanes larger(Lanes a, Lanes b) {
    return a > b ? a : b;
}

/// The first lane of all lanes put together by halves.
template <class Join>
[[gnu::always_inline]] inline float joined(Lanes all, const Join& join) {
#if defined(__AVX512F__)
    all = join(all, __builtin_shufflevector(all, all, 8, 9, 10, 11, 12, 13, 14, 15, 0, 1, 2, 3, 4, 5, 6, 7));
    all = join(all, __builtin_shufflevector(all, all, 4, 5, 6, 7, 0, 1, 2, 3, 12, 13, 14, 15, 8, 9, 10, 11));
    all = join(all, __builtin_shufflevector(all, all, 2, 3, 0, 1, 6, 7, 4, 5, 10, 11, 8, 9, 14, 15, 12, 13));
    all = join(all, __builtin_shufflevector(all, all, 1, 0, 3, 2, 5, 4, 7, 6, 9, 8, 11, 10, 13, 12, 15, 14));
#elif defined(__AVX2__)
    all = join(all, __builtin_shufflevector(all, all, 4, 5, 6, 7, 0, 1, 2, 3));
    all = join(all, __builtin_shufflevector(all, all, 2, 3, 0, 1, 6, 7, 4, 5));
    all = join(all, __builtin_shufflevector(all, all, 1, 0, 3, 2, 5, 4, 7, 6));
#else
    all = join(all, __builtin_shufflevector(all, all, 2, 3, 0, 1));
    all = join(all, __builtin_shufflevector(all, all, 1, 0, 3, 2));
#endif
    return all[0];
}

[[gnu::always_inline]] inline float sumOf(Lanes values) {
    return joined(values, [](const Lanes& a, const Lanes& b) { return a + b; });
}

[[gnu::always_inline]] inline float largestOf(Lanes values) {
    return joined(values, [](const Lanes& a, const Lanes& b) { return larger(a, b); });
}

/// `values`, but `other` in the lanes that stand for `count` and later ones, the first of them for `first`.
[[gnu::always_inline]] inline Lanes within(Lanes values, std::int64_t first, std::int64_t count, float other) {
    Integers position;
    for (int i = 0; i < kLanes; ++i) position[i] = i;
    const auto left = static_cast<std::int32_t>(count - first);
    return position < left ? values : Lanes{} + other;
}

/// Sum of term(i, Of<T>) over [0, count), a T from i on, in four registers.
template <class Term>
[[gnu::always_inline]] inline double sumOver(std::int64_t count, const Term& term) {
    Lanes a{}, b{}, c{}, d{};
    std::int64_t i = 0;
    for (; i + 4 * kLanes <= count; i += 4 * kLanes) {
        a += term(i, Of<Lanes>());
        b += term(i + kLanes, Of<Lanes>());
        c += term(i + 2 * kLanes, Of<Lanes>());
        d += term(i + 3 * kLanes, Of<Lanes>());
    }
    for (; i + kLanes <= count; i += kLanes) a += term(i, Of<Lanes>());
    auto sum = static_cast<double>(sumOf((a + b) + (c + d)));
    for (; i < count; ++i) sum += static_cast<double>(term(i, Of<float>()));
    return sum;
}

/// e^x for x <= 0, within two units of the last place; 0 below -87, where float has no normal values left; NaN for NaN.
/// x = n ln 2 + r with |r| <= ln 2 / 2: 2^n goes into the exponent, e^r is Taylor's polynomial, whose rest is below
/// r^8 / 8! = 5e-9.
[[gnu::always_inline]] inline Lanes expOf(Lanes x) {
    constexpr float kLeast = -87.0f, kLog2E = 1.44269504f;
    constexpr float kLn2High = 0.693359375f, kLn2Low = -2.12194440e-4f;  // ln 2 in two parts, the first of 10 bits
    constexpr float kRound = 12582912.0f;  // 1.5 * 2^23: what is added to it keeps no fraction
    const Lanes within = x > kLeast ? x : Lanes{} + kLeast;
    const Lanes shifted = within * kLog2E + kRound;
    const Lanes n = shifted - kRound;
    const Lanes r = (within - n * kLn2High) - n * kLn2Low;
    Lanes y = r * (1.0f / 5040) + 1.0f / 720;
    y = y * r + 1.0f / 120;
    y = y * r + 1.0f / 24;
    y = y * r + 1.0f / 6;
    y = y * r + 0.5f;
    y = y * r + 1.0f;
    y = y * r + 1.0f;
    // The low bits of `shifted` are n; the rest of them is shifted out.
    const Lanes result = (Lanes)((Integers)y + ((Integers)shifted << 23));
    const Lanes rest = x <= kLeast ? Lanes{} : x;  // what compares with nothing stays itself
    return x > kLeast ? result : rest;
}

}  // namespace shardscope::runtime::cpu::SHARDSCOPE_VECTORS
