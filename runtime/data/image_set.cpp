#include "runtime/data/image_set.h"

#include <fmt/format.h>

namespace shardscope::runtime {

Batch batchOf(const ImageSet& images, std::span<const std::int64_t> indices, std::int64_t channels) {
    Batch batch;
    std::vector<std::uint8_t> pixels(static_cast<std::size_t>(images.side() * images.side()));
    batch.values.reserve(pixels.size() * indices.size() * static_cast<std::size_t>(channels));
    for (const std::int64_t index : indices) {
        batch.labels.push_back(images.draw(index, pixels));
        for (std::int64_t channel = 0; channel < channels; ++channel)
            for (const std::uint8_t pixel : pixels)
                batch.values.push_back((static_cast<float>(pixel) / 255.0f - 0.5f) / 0.5f);
    }
    return batch;
}

core::Result<void> checkImages(const ImageSet& images, const core::VitSpec& model) {
    if (images.side() != model.imageSize)
        return core::fail(
            core::ErrorCode::Input,
            fmt::format("images of {0} x {0} pixels, the model takes {1} x {1}", images.side(), model.imageSize), {},
            fmt::format("--set model.image_size={}", images.side()));
    if (images.classes() > model.classes)
        return core::fail(
            core::ErrorCode::Input,
            fmt::format("labels of {} classes, the model tells {} apart", images.classes(), model.classes), {},
            fmt::format("--set model.classes={}", images.classes()));
    return {};
}

}  // namespace shardscope::runtime
