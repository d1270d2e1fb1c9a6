#pragma once

// Images to train on, from files.

#include <memory>
#include <string>

#include "core/base/result.h"
#include "runtime/data/image_set.h"

namespace shardscope::cli {

/// `path`: a folder that holds the training images and labels of MNIST or Fashion-MNIST under their usual names
/// (train-images-idx3-ubyte, train-labels-idx1-ubyte; with .gz too), or the file of images, beside which the one of
/// labels lies under the same name with "labels" and "idx1". Errors: missing or broken files, labels from `classes` on.
[[nodiscard]] core::Result<std::shared_ptr<const runtime::ImageSet>> loadImages(const std::string& path,
                                                                                std::int64_t classes);

/// The test images (t10k-...) of such a folder; null where `path` is a file, or has none.
[[nodiscard]] core::Result<std::shared_ptr<const runtime::ImageSet>> loadTestImages(const std::string& path,
                                                                                    std::int64_t classes);

}  // namespace shardscope::cli
