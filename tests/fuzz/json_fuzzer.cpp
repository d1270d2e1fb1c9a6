// Any bytes are read or refused with a place; what is read is written so that it reads back the same.

#include <cstdint>
#include <cstdlib>

#include "core/base/document.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace shardscope::core;
    const auto document = parseJson({reinterpret_cast<const char*>(data), size}, "fuzz.json");
    if (!document) {
        if (document.error().message.empty() || document.error().where.empty()) std::abort();
        return 0;
    }
    for (const bool pretty : {true, false}) {
        const std::string text = writeJson(*document, pretty);
        const auto again = parseJson(text, "again.json");
        if (!again || writeJson(*again, pretty) != text) std::abort();
    }
    return 0;
}
