#include "runtime/data/idx_images.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cassert>

namespace shardscope::runtime {

namespace {

using core::ErrorCode;
using core::fail;
using core::Result;

constexpr std::size_t kMagic = 4, kDimension = 4;

std::uint32_t byteAt(std::string_view file, std::size_t at) {
    return static_cast<unsigned char>(file[at]);
}

std::int64_t bigEndianAt(std::string_view file, std::size_t at) {
    return static_cast<std::int64_t>(byteAt(file, at) << 24 | byteAt(file, at + 1) << 16 | byteAt(file, at + 2) << 8 |
                                     byteAt(file, at + 3));
}

/// What is in the file, where it is as long as it says.
template <std::size_t kDimensions>
Result<std::array<std::int64_t, kDimensions>> dimensionsOf(std::string_view file, std::string_view name,
                                                           std::string_view what) {
    const std::string where(name);
    const std::string hint =
        fmt::format("name a file of {} as MNIST has them ({}-idx{}-ubyte)", what, what, kDimensions);
    if (file.size() < kMagic)
        return fail(ErrorCode::Input, fmt::format("{} bytes, an IDX file begins with {}", file.size(), kMagic), where,
                    hint);
    if (byteAt(file, 0) != 0 || byteAt(file, 1) != 0)
        return fail(ErrorCode::Input,
                    fmt::format("the first bytes are {:02x} {:02x}, those of an IDX file 00 00", byteAt(file, 0),
                                byteAt(file, 1)),
                    where, hint);
    constexpr std::uint32_t kUnsignedBytes = 8;
    if (byteAt(file, 2) != kUnsignedBytes)
        return fail(ErrorCode::Input,
                    fmt::format("byte 2: elements of type 0x{:02x}, expected 0x08 (unsigned bytes)", byteAt(file, 2)),
                    where, hint);
    if (byteAt(file, 3) != kDimensions)
        return fail(ErrorCode::Input,
                    fmt::format("byte 3: {} dimensions, {} have {}", byteAt(file, 3), what, kDimensions), where, hint);
    constexpr std::size_t kHead = kMagic + kDimensions * kDimension;
    if (file.size() < kHead)
        return fail(ErrorCode::Input, fmt::format("{} bytes, its dimensions alone take {}", file.size(), kHead), where,
                    "the file is cut off: fetch it again");
    std::array<std::int64_t, kDimensions> dimensions{};
    std::int64_t elements = 1;
    bool absurd = false;
    for (std::size_t d = 0; d < kDimensions; ++d) {
        dimensions[d] = bigEndianAt(file, kMagic + d * kDimension);
        absurd = __builtin_mul_overflow(elements, dimensions[d], &elements) || absurd;
    }
    if (absurd || elements != static_cast<std::int64_t>(file.size() - kHead)) {
        std::string sizes;
        for (const std::int64_t dimension : dimensions)
            sizes += (sizes.empty() ? "" : " x ") + std::to_string(dimension);
        return fail(ErrorCode::Input,
                    fmt::format("{} elements are announced, {} bytes follow", sizes, file.size() - kHead), where,
                    "the file is cut off or not what it says: fetch it again");
    }
    return dimensions;
}

}  // namespace

Result<std::shared_ptr<const IdxImages>> IdxImages::create(std::string images, std::string_view imagesName,
                                                           std::string_view labels, std::string_view labelsName,
                                                           std::int64_t classes) {
    using ImageSizes = std::array<std::int64_t, 3>;
    using LabelSizes = std::array<std::int64_t, 1>;
    SHARDSCOPE_ASSIGN(const ImageSizes sizes, dimensionsOf<3>(images, imagesName, "images"));
    SHARDSCOPE_ASSIGN(const LabelSizes count, dimensionsOf<1>(labels, labelsName, "labels"));
    if (sizes[1] != sizes[2] || sizes[1] == 0)
        return fail(ErrorCode::Input, fmt::format("images of {} x {} pixels, expected square ones", sizes[1], sizes[2]),
                    std::string(imagesName), "a vision transformer takes square images");
    if (sizes[0] == 0) return fail(ErrorCode::Input, "no image is in it", std::string(imagesName), "name another file");
    if (sizes[0] != count[0])
        return fail(ErrorCode::Input, fmt::format("{} labels for the {} images of {}", count[0], sizes[0], imagesName),
                    std::string(labelsName), "name the labels that belong to the images");
    std::shared_ptr<IdxImages> set(new IdxImages);
    set->m_labels = labels.substr(kMagic + kDimension);
    const auto wrong = std::find_if(set->m_labels.begin(), set->m_labels.end(),
                                    [&](char label) { return static_cast<unsigned char>(label) >= classes; });
    if (wrong != set->m_labels.end())
        return fail(ErrorCode::Input,
                    fmt::format("label {} is {}, expected less than the model's {} classes",
                                wrong - set->m_labels.begin(), static_cast<unsigned char>(*wrong), classes),
                    std::string(labelsName), "give the model as many classes: --set model.classes=N");
    set->m_side = sizes[1];
    set->m_classes = classes;
    set->m_images = std::move(images);
    return set;
}

std::int64_t IdxImages::draw(std::int64_t index, std::span<std::uint8_t> pixels) const {
    assert(index >= 0 && index < size() && static_cast<std::int64_t>(pixels.size()) == m_side * m_side);
    constexpr std::size_t kHead = kMagic + 3 * kDimension;
    const std::string_view image =
        std::string_view(m_images).substr(kHead + static_cast<std::size_t>(index) * pixels.size(), pixels.size());
    std::transform(image.begin(), image.end(), pixels.begin(),
                   [](char pixel) { return static_cast<std::uint8_t>(pixel); });
    return static_cast<unsigned char>(m_labels[static_cast<std::size_t>(index)]);
}

}  // namespace shardscope::runtime
