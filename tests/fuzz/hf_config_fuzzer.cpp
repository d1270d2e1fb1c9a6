// A config.json becomes a sound decoder or is refused; a sound decoder builds or is refused for its size.

#include <cstdint>
#include <cstdlib>

#include "core/model/decoder.h"
#include "core/model/hf_config.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace shardscope::core;
    const auto spec = parseHfConfig({reinterpret_cast<const char*>(data), size}, "fuzz.json", "fuzz");
    if (!spec) {
        if (spec.error().message.empty() || spec.error().where.empty()) std::abort();
        return 0;
    }
    if (!checkDecoder(*spec, "fuzz")) std::abort();
    if (spec->layers > 16) return 0;  // more layers are more of the same
    Workload workload;
    workload.sequence = 2;
    if (const auto model = buildDecoder(*spec, workload); model && parameterCount(*model) <= 0) std::abort();
    return 0;
}
