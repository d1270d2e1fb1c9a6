// A file's bytes are a header or refused; the tensors of an accepted header cover the data and are readable, and a
// model is built of them or refused. Input that starts with '{' is an index.

#include <cstdint>
#include <cstdlib>

#include "core/model/safetensors.h"
#include "core/model/shapes_model.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace shardscope::core;
    const std::string_view bytes(reinterpret_cast<const char*>(data), size);
    if (bytes.starts_with('{')) {
        const auto index = parseSafetensorsIndex(bytes, "fuzz.json");
        if (index && (index->shards.empty() || index->weightMap.empty())) std::abort();
        return 0;
    }
    const auto header = parseSafetensorsHeader(bytes, static_cast<std::int64_t>(size), "fuzz.safetensors");
    if (!header) {
        if (header.error().message.empty() || header.error().where.empty()) std::abort();
        return 0;
    }
    std::size_t covered = 0;
    for (const SafetensorsEntry& entry : header->entries) {
        const auto tensor = tensorBytes(*header, bytes, entry.name);
        if (!tensor) std::abort();
        covered += tensor->size();
    }
    if (covered + static_cast<std::size_t>(header->dataStart) != size) std::abort();
    const auto spec = shapesFromSafetensors("fuzz", {*header});
    if (!spec) return 0;
    Workload workload;
    workload.sequence = 8;
    if (const auto model = buildFromShapes(*spec, workload); model && model->caveats.empty()) std::abort();
    return 0;
}
