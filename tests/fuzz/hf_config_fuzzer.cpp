// A config.json becomes a model that builds, or is refused with a place and a message.

#include <cstdint>
#include <cstdlib>

#include "core/model/decoder.h"
#include "core/model/hf_config.h"
#include "core/model/hf_model.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace shardscope::core;
    const auto spec = parseHfModel({reinterpret_cast<const char*>(data), size}, "fuzz.json", "fuzz");
    if (!spec) {
        if (spec.error().message.empty() || spec.error().where.empty()) std::abort();
        return 0;
    }
    if (const auto* decoder = std::get_if<DecoderSpec>(&*spec)) {
        if (!checkDecoder(*decoder, "fuzz")) std::abort();
        if (decoder->layers > 16) return 0;  // more layers are more of the same
    }
    Workload workload;
    workload.sequence = 2;
    if (const auto model = buildModel(*spec, workload); model && parameterCount(*model) <= 0) std::abort();
    return 0;
}
