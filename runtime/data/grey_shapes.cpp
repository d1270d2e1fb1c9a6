#include "runtime/data/grey_shapes.h"

#include <algorithm>
#include <array>
#include <cassert>
#include <cmath>
#include <numbers>
#include <random>

namespace shardscope::runtime {

namespace {

/// Distances from a shape of radius r around the origin, y downwards: negative inside. Exact near the edge is enough.
using Distance = double (*)(double x, double y, double r);

double plus(double x, double y, double r) {
    const double thick = 0.28 * r;
    return std::min(std::max(std::fabs(x) - r, std::fabs(y) - thick), std::max(std::fabs(y) - r, std::fabs(x) - thick));
}

double stripes(double along, double across, double r) {
    return std::max(std::fabs(along) - r, std::fabs(std::fabs(across) - 0.62 * r) - 0.26 * r);
}

double square(double x, double y) {
    return std::max(std::fabs(x), std::fabs(y));
}

struct Kind {
    std::string_view name;
    Distance distance;
};

constexpr std::array<Kind, GreyShapes::kClasses> kKinds = {{
    {"disc", [](double x, double y, double r) { return std::hypot(x, y) - r; }},
    {"ring", [](double x, double y, double r) { return std::fabs(std::hypot(x, y) - 0.8 * r) - 0.2 * r; }},
    {"square", [](double x, double y, double r) { return square(x, y) - 0.85 * r; }},
    {"frame", [](double x, double y, double r) { return std::fabs(square(x, y) - 0.75 * r) - 0.2 * r; }},
    {"triangle",
     [](double x, double y, double r) { return std::max(y - r, (2 * std::fabs(x) - y - r) / std::sqrt(5.0)); }},
    {"plus", plus},
    {"cross", [](double x, double y,
                 double r) { return plus((x + y) / std::numbers::sqrt2, (x - y) / std::numbers::sqrt2, 1.1 * r); }},
    {"lying stripes", [](double x, double y, double r) { return stripes(x, y, r); }},
    {"standing stripes", [](double x, double y, double r) { return stripes(y, x, r); }},
    {"diamond",
     [](double x, double y, double r) { return (std::fabs(x) + std::fabs(y) - 1.15 * r) / std::numbers::sqrt2; }},
}};

class Random {
public:
    explicit Random(std::seed_seq& seed) : m_engine(seed) {}
    /// Distributions of the standard library differ between platforms; this does not.
    double between(double least, double most) {
        return least + (most - least) * static_cast<double>(m_engine()) / 4294967296.0;
    }
    std::uint32_t below(std::uint32_t count) { return static_cast<std::uint32_t>(m_engine()) % count; }

private:
    std::mt19937 m_engine;
};

}  // namespace

GreyShapes::GreyShapes(Split split, std::int64_t size, std::int64_t side, std::uint32_t seed)
    : m_split(split), m_size(size), m_side(side), m_seed(seed) {
    assert(size >= 1 && side >= kLeastSide);
}

std::int64_t GreyShapes::draw(std::int64_t index, std::span<std::uint8_t> pixels) const {
    assert(index >= 0 && index < m_size && static_cast<std::int64_t>(pixels.size()) == m_side * m_side);
    const auto number = static_cast<std::uint64_t>(index);
    std::seed_seq seed{m_seed, static_cast<std::uint32_t>(m_split), static_cast<std::uint32_t>(number),
                       static_cast<std::uint32_t>(number >> 32)};
    Random random(seed);
    const auto label = random.below(kClasses);
    const double side = static_cast<double>(m_side), radius = side * random.between(0.2, 0.32);
    const double x = random.between(radius, side - radius), y = random.between(radius, side - radius);
    const double ground = random.between(10, 70), shape = ground + random.between(80, 150);
    constexpr double kNoise = 18;
    for (std::size_t i = 0; i < pixels.size(); ++i) {
        const auto pixel = static_cast<std::int64_t>(i);
        const double distance = kKinds[label].distance(static_cast<double>(pixel % m_side) + 0.5 - x,
                                                       static_cast<double>(pixel / m_side) + 0.5 - y, radius);
        const double covered = std::clamp(0.5 - distance, 0.0, 1.0);
        const double level = ground + (shape - ground) * covered + random.between(-kNoise, kNoise);
        pixels[i] = static_cast<std::uint8_t>(std::clamp(std::lround(level), 0L, 255L));
    }
    return label;
}

std::string_view shapeName(std::int64_t label) {
    return kKinds[static_cast<std::size_t>(label)].name;
}

}  // namespace shardscope::runtime
