#pragma once

// Labelled images that need no file: one grey shape on a darker ground.

#include <string_view>

#include "runtime/data/image_set.h"

namespace shardscope::runtime {

enum class Split : std::uint8_t { Train, Test };

/// Ten kinds of shapes, the label being the kind. Place, size and grey levels are drawn anew for every image, and every
/// pixel is noisy, so that no pixel by itself says much about the label: what tells the kinds apart are edges and their
/// places to each other. Image `index` depends on (seed, split, index, side) alone, and is the same on every platform.
class GreyShapes final : public ImageSet {
public:
    static constexpr std::int64_t kClasses = 10;
    static constexpr std::int64_t kLeastSide = 12;  ///< pixels; in less the kinds cannot be told apart

    /// side >= kLeastSide, size >= 1.
    GreyShapes(Split split, std::int64_t size, std::int64_t side = 28, std::uint32_t seed = 0);

    [[nodiscard]] std::int64_t size() const override { return m_size; }
    [[nodiscard]] std::int64_t side() const override { return m_side; }
    [[nodiscard]] std::int64_t classes() const override { return kClasses; }
    std::int64_t draw(std::int64_t index, std::span<std::uint8_t> pixels) const override;

private:
    Split m_split;
    std::int64_t m_size, m_side;
    std::uint32_t m_seed;
};

/// "disc", "ring", ...; label in [0, GreyShapes::kClasses).
[[nodiscard]] std::string_view shapeName(std::int64_t label);

}  // namespace shardscope::runtime
