#include "cli/command/image_files.h"

#include <fmt/format.h>

#include <filesystem>
#include <system_error>

#include "cli/face/files.h"
#include "runtime/data/idx_images.h"
#include "traces/formats/gunzip.h"

namespace shardscope::cli {

namespace {

using core::ErrorCode;
using core::fail;
using core::Result;

constexpr std::int64_t kLargest = std::int64_t{2} << 30;

bool isThere(const std::filesystem::path& path) {
    std::error_code none;
    return std::filesystem::exists(path, none);
}

Result<std::string> readUnpacked(const std::filesystem::path& path) {
    SHARDSCOPE_ASSIGN(std::string bytes, readFile(path, kLargest));
    if (!formats::isGzip(bytes)) return bytes;
    return formats::gunzip(bytes, path.string(), kLargest);
}

/// Empty: none.
std::filesystem::path imagesIn(const std::filesystem::path& folder, const std::string& split) {
    for (const char* ending :
         {"-images-idx3-ubyte", "-images-idx3-ubyte.gz", "-images.idx3-ubyte", "-images.idx3-ubyte.gz"})
        if (isThere(folder / (split + ending))) return folder / (split + ending);
    return {};
}

Result<std::filesystem::path> trainingImagesIn(const std::filesystem::path& folder) {
    if (std::filesystem::path images = imagesIn(folder, "train"); !images.empty()) return images;
    return fail(ErrorCode::Io, "no train-images-idx3-ubyte (or .gz) is in this folder", folder.string(),
                "name the folder that holds MNIST's or Fashion-MNIST's files, or the file of images itself");
}

/// The name of the labels that belong to images of that name; empty where it says nothing of images.
std::string labelsNameOf(std::string name) {
    for (const auto& [from, to] : {std::pair{"images", "labels"}, std::pair{"idx3", "idx1"}}) {
        const std::size_t at = name.find(from);
        if (at == std::string::npos) return {};
        name.replace(at, std::string_view(from).size(), to);
    }
    return name;
}

Result<std::filesystem::path> labelsOf(const std::filesystem::path& images) {
    const std::string name = labelsNameOf(images.filename().string());
    if (name.empty())
        return fail(ErrorCode::Input, "the name does not tell where the labels are", images.string(),
                    "call the files as MNIST does: NAME-images-idx3-ubyte and NAME-labels-idx1-ubyte");
    // Packed or not, whichever is there.
    std::filesystem::path labels = images.parent_path() / name;
    if (isThere(labels)) return labels;
    const std::filesystem::path other = hasEnding(name, ".gz") ? labels.parent_path() / name.substr(0, name.size() - 3)
                                                               : labels.parent_path() / (name + ".gz");
    if (isThere(other)) return other;
    return fail(ErrorCode::Io, "the labels are missing", labels.string(), "put them beside the images");
}

Result<std::shared_ptr<const runtime::ImageSet>> loadFile(const std::filesystem::path& images, std::int64_t classes) {
    SHARDSCOPE_ASSIGN(std::string pixels, readUnpacked(images));
    SHARDSCOPE_ASSIGN(const std::filesystem::path labels, labelsOf(images));
    SHARDSCOPE_ASSIGN(const std::string values, readUnpacked(labels));
    return runtime::IdxImages::create(std::move(pixels), images.string(), values, labels.string(), classes);
}

}  // namespace

Result<std::shared_ptr<const runtime::ImageSet>> loadImages(const std::string& path, std::int64_t classes) {
    std::error_code none;
    if (!std::filesystem::is_directory(path, none)) return loadFile(path, classes);
    SHARDSCOPE_ASSIGN(const std::filesystem::path images, trainingImagesIn(path));
    return loadFile(images, classes);
}

Result<std::shared_ptr<const runtime::ImageSet>> loadTestImages(const std::string& path, std::int64_t classes) {
    std::error_code none;
    if (!std::filesystem::is_directory(path, none)) return nullptr;
    const std::filesystem::path images = imagesIn(path, "t10k");
    if (images.empty()) return nullptr;
    return loadFile(images, classes);
}

}  // namespace shardscope::cli
