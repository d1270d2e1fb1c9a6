// Any TOML or JSON is read as a module tree or refused, and what is read is built or refused: no crash, no overflow,
// and a refusal says why.

#include <cstdint>
#include <cstdlib>

#include "core/model/module_tree.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace shardscope::core;
    const std::string_view bytes(reinterpret_cast<const char*>(data), size);
    const auto document = bytes.starts_with("{") ? parseJson(bytes, "fuzz.json") : parseToml(bytes, "fuzz.toml");
    if (!document) return 0;
    const auto spec = readModuleTree(*document, "fuzz");
    if (!spec) {
        if (spec.error().message.empty()) std::abort();
        return 0;
    }
    for (auto attention : {Workload::AttentionKind::Flash, Workload::AttentionKind::Math}) {
        const auto model = buildModel(*spec, Workload{2, 0, DType::BF16, attention});
        if (!model && model.error().message.empty()) std::abort();
        if (model && (parameterCount(*model) < 0 || forwardFlops(*model).value < 0)) std::abort();
    }
    return 0;
}
