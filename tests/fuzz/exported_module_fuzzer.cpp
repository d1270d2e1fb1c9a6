// Any JSON is read as what examples/export_module.py writes or refused with a message, and what is read is built or
// refused.

#include <cstdint>
#include <cstdlib>

#include "core/model/exported_module.h"
#include "core/model/shapes_model.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace shardscope::core;
    const auto document = parseJson({reinterpret_cast<const char*>(data), size}, "fuzz.json");
    if (!document) return 0;
    (void)isExportedModule(*document);
    const auto spec = readExportedModule(*document, "fuzz.json");
    if (!spec) {
        if (spec.error().message.empty()) std::abort();
        return 0;
    }
    Workload workload;
    workload.sequence = 8;
    const auto model = buildFromShapes(*spec, workload);
    if (!model && model.error().message.empty()) std::abort();
    if (model && (parameterCount(*model) <= 0 || model->caveats.empty())) std::abort();
    return 0;
}
