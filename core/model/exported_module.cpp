#include "core/model/exported_module.h"

#include <fmt/format.h>

#include "core/base/dtype.h"
#include "core/model/safetensors.h"
#include "core/model/size_check.h"

namespace shardscope::core {
namespace {

constexpr std::string_view kFormat = "shardscope.module";
constexpr std::int64_t kVersion = 1;
constexpr std::size_t kMostDimensions = 16;

const Document* memberOf(const Document& table, std::string_view key, Document::Kind kind) {
    const Document* found = table.find(key);
    return found != nullptr && found->kind == kind ? found : nullptr;
}

}  // namespace

bool isExportedModule(const Document& document) {
    const Document* format = memberOf(document, "format", Document::Kind::Text);
    return format != nullptr && format->text == kFormat;
}

Result<ShapesSpec> readExportedModule(const Document& document, const std::string& file) {
    const char* hint = "write the file with examples/export_module.py of this version";
    const Document* version = memberOf(document, "version", Document::Kind::Integer);
    if (version == nullptr || version->integer != kVersion)
        return fail(ErrorCode::Input,
                    fmt::format("version: found {}, expected {}",
                                version == nullptr ? "nothing" : std::to_string(version->integer), kVersion),
                    file, hint);
    const Document* parameters = memberOf(document, "parameters", Document::Kind::List);
    if (parameters == nullptr || parameters->items.empty())
        return fail(ErrorCode::Input, "parameters: found nothing, expected a list of tables", file, hint);
    if (parameters->items.size() > kMostTensors)
        return fail(ErrorCode::Unsupported,
                    fmt::format("found {} tensors, expected at most {}", parameters->items.size(), kMostTensors), file,
                    "name a config.json or a module-tree file instead");
    ShapesSpec spec;
    const Document* name = memberOf(document, "name", Document::Kind::Text);
    spec.name = name != nullptr && !name->text.empty() ? name->text.substr(0, 200) : file;
    for (const Document& row : parameters->items) {
        ShapesSpec::Entry entry;
        const Document* own = memberOf(row, "name", Document::Kind::Text);
        const std::string place = own != nullptr ? own->text.substr(0, 120) : std::to_string(spec.entries.size());
        const auto wrong = [&](const std::string& message) {
            return fail(ErrorCode::Input, fmt::format("parameter {}: {}", place, message),
                        row.line > 0 ? fmt::format("{}:{}", file, row.line) : file, hint);
        };
        if (own == nullptr) return wrong("found no name, expected a text");
        entry.name = own->text;
        const Document* shape = memberOf(row, "shape", Document::Kind::List);
        if (shape == nullptr || shape->items.size() > kMostDimensions)
            return wrong("shape: expected a list of integers");
        for (const Document& size : shape->items) {
            if (size.kind != Document::Kind::Integer || size.integer < 0 || size.integer > kLargestSize)
                return wrong("shape: expected a list of integers");
            entry.shape.push_back(size.integer);
        }
        const Document* dtype = memberOf(row, "dtype", Document::Kind::Text);
        const auto known = dtype != nullptr ? dtypeFromName(dtype->text) : std::nullopt;
        if (!known)
            return wrong(fmt::format("dtype: found {}, expected float32, bfloat16, float16 or float64",
                                     dtype != nullptr ? "'" + dtype->text.substr(0, 40) + "'" : "nothing"));
        entry.dtype = *known;
        spec.entries.push_back(std::move(entry));
    }
    return spec;
}

}  // namespace shardscope::core
