// Any bytes, packed or not, are images that can be drawn or refused with a message. The first byte cuts the rest into
// images and labels.

#include <cstdint>
#include <cstdlib>
#include <vector>

#include "runtime/data/idx_images.h"
#include "traces/formats/gunzip.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace shardscope;
    if (size < 1) return 0;
    const std::string_view all(reinterpret_cast<const char*>(data) + 1, size - 1);
    const std::size_t cut = all.size() * data[0] / 255;
    std::string images(all.substr(0, cut));
    if (formats::isGzip(images)) {
        const auto unpacked = formats::gunzip(images, "images", 1 << 20);
        if (!unpacked) {
            if (unpacked.error().message.empty() || unpacked.error().where.empty()) std::abort();
            return 0;
        }
        if (unpacked->size() > 1 << 20) std::abort();
        images = *unpacked;
    }
    const auto set = runtime::IdxImages::create(images, "images", all.substr(cut), "labels", 10);
    if (!set) {
        if (set.error().message.empty() || set.error().hint.empty()) std::abort();
        return 0;
    }
    std::vector<std::uint8_t> pixels(static_cast<std::size_t>((*set)->side() * (*set)->side()));
    for (std::int64_t i = 0; i < (*set)->size(); ++i) {
        const std::int64_t label = (*set)->draw(i, pixels);
        if (label < 0 || label >= (*set)->classes()) std::abort();
    }
    return 0;
}
