#pragma once

// Labelled grey images to train on.

#include <cstdint>
#include <span>

#include "core/model/spec.h"
#include "runtime/executor/executor.h"

namespace shardscope::runtime {

/// Square images of one channel. May be asked from several threads at once.
class ImageSet {
public:
    ImageSet() = default;
    ImageSet(const ImageSet&) = delete;
    ImageSet& operator=(const ImageSet&) = delete;
    virtual ~ImageSet() = default;

    [[nodiscard]] virtual std::int64_t size() const = 0;
    [[nodiscard]] virtual std::int64_t side() const = 0;     ///< pixels
    [[nodiscard]] virtual std::int64_t classes() const = 0;  ///< labels are in [0, classes)
    /// Image `index` of [0, size): its grey levels, side x side, row by row; returns its label.
    virtual std::int64_t draw(std::int64_t index, std::span<std::uint8_t> pixels) const = 0;
};

/// The images of these indices as a model sees them: grey levels in [-1, 1], (x / 255 - 0.5) / 0.5 as in the tutorial
/// (framework semantics 8.3), the same in every channel.
[[nodiscard]] Batch batchOf(const ImageSet& images, std::span<const std::int64_t> indices, std::int64_t channels);

/// Errors: images of another size than the model takes, or more classes than it tells apart.
[[nodiscard]] core::Result<void> checkImages(const ImageSet& images, const core::VitSpec& model);

}  // namespace shardscope::runtime
