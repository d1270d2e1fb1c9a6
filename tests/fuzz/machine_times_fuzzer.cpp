// Any JSON is a machine's times that read back, or refused with a message and a hint.

#include <cstdint>
#include <cstdlib>

#include "core/machine/machine_times.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace shardscope;
    const auto document = core::parseJson({reinterpret_cast<const char*>(data), size}, "times");
    if (!document) return 0;
    const auto times = core::parseMachineTimes(*document, "times");
    if (!times) {
        if (times.error().message.empty() || times.error().where.empty() || times.error().hint.empty()) std::abort();
        return 0;
    }
    if (!core::parseMachineTimes(core::documentOf(*times), "again")) std::abort();
    return 0;
}
