#pragma once

// The JSON that examples/export_module.py writes of a PyTorch module: names, shapes and dtypes of its parameters. It
// says nothing of what the module computes, so it ends in a ShapesSpec.

#include <string>

#include "core/base/document.h"
#include "core/base/result.h"
#include "core/model/spec.h"

namespace shardscope::core {

/// True for a document that says it is of that form.
[[nodiscard]] bool isExportedModule(const Document& document);

/// Errors name the parameter: another version, a wrong name, shape or dtype.
[[nodiscard]] Result<ShapesSpec> readExportedModule(const Document& document, const std::string& file);

}  // namespace shardscope::core
