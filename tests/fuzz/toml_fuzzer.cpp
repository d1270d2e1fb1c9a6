// Any bytes are read or refused; what is read can be written as JSON and read back.

#include <cstdint>
#include <cstdlib>

#include "core/base/document.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace shardscope::core;
    const auto document = parseToml({reinterpret_cast<const char*>(data), size}, "fuzz.toml");
    if (!document) {
        if (document.error().message.empty()) std::abort();
        return 0;
    }
    if (!parseJson(writeJson(*document), "fuzz.json")) std::abort();
    return 0;
}
