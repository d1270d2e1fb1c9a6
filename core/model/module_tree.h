#pragma once

// Models written by hand as a tree of modules (docs/model-tree.md): the reader of their files, and the builder.

#include "core/base/document.h"
#include "core/base/result.h"
#include "core/model/spec.h"

namespace shardscope::core {

/// Reads a module-tree file, parsed from JSON or TOML. `name` is the file's name for messages, and the model's if the
/// file gives none. Errors name the module and, in TOML, the line.
[[nodiscard]] Result<ModuleTreeSpec> readModuleTree(const Document& file, const std::string& name);

/// Layers: the leading embedding with the positions that follow it, then one for each child of the root (a list's
/// children count as the root's), then "loss". Equal layers share one program. Errors: a tree that is no stack (the
/// first module is no embedding, the last one no linear), shapes that do not fit, names that are missing or doubled, a
/// tie to something that is not there, a layer of more than 10,000 modules.
[[nodiscard]] Result<Model> buildModuleTree(const ModuleTreeSpec& spec, const Workload& workload);

/// Kinds of modules, in the order of docs/model-tree.md.
enum class ModuleKind : std::uint8_t {
    Embedding,
    Position,
    Linear,
    LayerNorm,
    RmsNorm,
    Attention,
    Gelu,
    Scale,
    Residual,
    Sequence,
    List,
};
struct ModuleKindRow {
    ModuleKind kind;
    std::string_view word;  ///< in files: ModuleTreeSpec::Node::kind
    std::string_view type;  ///< PyTorch's class; empty where it is a parameter of the module around it
};
[[nodiscard]] const ModuleKindRow* moduleKindOf(std::string_view word);
[[nodiscard]] std::vector<std::string> moduleKindWords();

}  // namespace shardscope::core
