#pragma once

// Images and labels of the IDX files that MNIST and Fashion-MNIST come in.

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.h"
#include "runtime/data/image_set.h"

namespace shardscope::runtime {

/// An IDX file holds, big-endian: two zero bytes, the type of its elements (8: unsigned bytes), the number of
/// dimensions, each dimension in 4 bytes, and the elements in row-major order.
class IdxImages final : public ImageSet {
public:
    /// `images`: N x side x side bytes; `labels`: N bytes; both unpacked. The names are told in errors. `classes`: how
    /// many there are; labels from there on are refused. Errors: no IDX file, elements of another type, another number
    /// of dimensions, a length that is not what the dimensions say, images that are not square, different numbers of
    /// images and labels, none at all, a label out of range.
    [[nodiscard]] static core::Result<std::shared_ptr<const IdxImages>> create(std::string images,
                                                                               std::string_view imagesName,
                                                                               std::string_view labels,
                                                                               std::string_view labelsName,
                                                                               std::int64_t classes);

    [[nodiscard]] std::int64_t size() const override { return static_cast<std::int64_t>(m_labels.size()); }
    [[nodiscard]] std::int64_t side() const override { return m_side; }
    [[nodiscard]] std::int64_t classes() const override { return m_classes; }
    std::int64_t draw(std::int64_t index, std::span<std::uint8_t> pixels) const override;

private:
    IdxImages() = default;

    std::string m_images;  ///< the whole file
    std::string m_labels;
    std::int64_t m_side = 0, m_classes = 0;
};

}  // namespace shardscope::runtime
