#pragma once

// Quantities of the simulator, as 8-byte value types. Only meaningful operators exist: a Bytes divided by a
// BytesPerSecond is a Duration, a Bytes plus a Duration does not compile.
//
// Time is integer nanoseconds everywhere; a computed time is rounded up to the next whole nanosecond, so that
// no amount of work ever takes less time than the bandwidth allows.

#include <cmath>
#include <compare>
#include <cstdint>
#include <limits>

namespace shardscope::core {

/// An amount of memory or traffic, in bytes. May be negative as a difference.
struct [[nodiscard]] Bytes {
    std::int64_t value = 0;

    friend constexpr auto operator<=>(Bytes, Bytes) = default;
    friend constexpr Bytes operator+(Bytes a, Bytes b) { return {a.value + b.value}; }
    friend constexpr Bytes operator-(Bytes a, Bytes b) { return {a.value - b.value}; }
    friend constexpr Bytes operator*(Bytes a, std::int64_t n) { return {a.value * n}; }
    friend constexpr Bytes operator*(std::int64_t n, Bytes a) { return {a.value * n}; }
    constexpr Bytes& operator+=(Bytes b) {
        value += b.value;
        return *this;
    }
    constexpr Bytes& operator-=(Bytes b) {
        value -= b.value;
        return *this;
    }
};

/// A length of time, or an instant counted from the start of a step, in nanoseconds.
struct [[nodiscard]] Duration {
    std::int64_t ns = 0;

    friend constexpr auto operator<=>(Duration, Duration) = default;
    friend constexpr Duration operator+(Duration a, Duration b) { return {a.ns + b.ns}; }
    friend constexpr Duration operator-(Duration a, Duration b) { return {a.ns - b.ns}; }
    friend constexpr Duration operator*(Duration a, std::int64_t n) { return {a.ns * n}; }
    friend constexpr Duration operator*(std::int64_t n, Duration a) { return {a.ns * n}; }
    constexpr Duration& operator+=(Duration b) {
        ns += b.ns;
        return *this;
    }
    constexpr Duration& operator-=(Duration b) {
        ns -= b.ns;
        return *this;
    }
    [[nodiscard]] constexpr double seconds() const { return static_cast<double>(ns) * 1e-9; }
    [[nodiscard]] constexpr double milliseconds() const { return static_cast<double>(ns) * 1e-6; }
    static constexpr Duration max() { return {std::numeric_limits<std::int64_t>::max()}; }
};

/// `seconds` rounded up to whole nanoseconds; a negative or NaN input gives 0, one beyond int64 the maximum.
[[nodiscard]] inline Duration fromSeconds(double seconds) {
    const double ns = std::ceil(seconds * 1e9 - 1e-6);
    if (!(ns > 0)) return {0};
    if (ns >= 9.2e18) return Duration::max();
    return {static_cast<std::int64_t>(ns)};
}

/// A number of floating-point operations; a multiply-add counts as two.
struct [[nodiscard]] Flops {
    std::int64_t value = 0;

    friend constexpr auto operator<=>(Flops, Flops) = default;
    friend constexpr Flops operator+(Flops a, Flops b) { return {a.value + b.value}; }
    friend constexpr Flops operator-(Flops a, Flops b) { return {a.value - b.value}; }
    friend constexpr Flops operator*(Flops a, std::int64_t n) { return {a.value * n}; }
    constexpr Flops& operator+=(Flops b) {
        value += b.value;
        return *this;
    }
};

/// A rate of memory or network traffic.
struct BytesPerSecond {
    double value = 0;
    friend constexpr auto operator<=>(BytesPerSecond, BytesPerSecond) = default;
    friend constexpr BytesPerSecond operator*(BytesPerSecond a, double f) { return {a.value * f}; }
};

/// A rate of computation.
struct FlopsPerSecond {
    double value = 0;
    friend constexpr auto operator<=>(FlopsPerSecond, FlopsPerSecond) = default;
    friend constexpr FlopsPerSecond operator*(FlopsPerSecond a, double f) { return {a.value * f}; }
};

[[nodiscard]] inline Duration operator/(Bytes amount, BytesPerSecond rate) {
    return fromSeconds(static_cast<double>(amount.value) / rate.value);
}
[[nodiscard]] inline Duration operator/(Flops work, FlopsPerSecond rate) {
    return fromSeconds(static_cast<double>(work.value) / rate.value);
}

}  // namespace shardscope::core
