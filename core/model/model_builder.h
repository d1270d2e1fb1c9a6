#pragma once

// Puts a model together: the module tree first, then programs and the layers that use them. A program names its modules
// and parameters relative to the layer's module, so equal layers share one program.

#include <functional>
#include <string>
#include <string_view>
#include <unordered_map>

#include "core/base/result.h"
#include "core/base/text_hash.h"
#include "core/model/model.h"

namespace shardscope::core {

class ModelBuilder {
public:
    ModelBuilder(std::string name, std::string family, std::string rootType, const Workload& workload);

    /// Room for as many modules and parameters: there may be more or fewer.
    void reserve(std::size_t modules, std::size_t parameters);
    /// Adds a module by its full name; its parent, the name up to the last dot, must be there. Siblings are registered
    /// in the order of these calls.
    ModuleId module(std::string fullName, std::string type);
    /// Adds a direct parameter, "weight", to a module.
    ParameterId parameter(ModuleId module, std::string_view name, Shape shape);
    /// Adds a module like `module`, with copies of all that lies in it; their names are those of `module`'s from there
    /// on. What lies in it was added right after it and is tied to nothing, and only the copy itself is found by its
    /// name, as a layer's module. For blocks that are equal: looking up names is most of the time that a model takes.
    ModuleId copy(std::string_view module, std::string fullName);
    /// Lets a second module use a parameter under a name of its own ("weight" of lm_head): counted once, marked as
    /// tied.
    void tie(ModuleId module, std::string_view name, ParameterId parameter);
    /// The parameter of a full name, which must be there.
    [[nodiscard]] ParameterId find(std::string_view fullName) const;
    ProgramId program(Program program);
    /// Appends a layer. `module` is its module's full name, to which the program's names are relative; "" is the root.
    /// A layer of kind Loss belongs to no module.
    void layer(std::string name, LayerKind kind, std::string_view module, ProgramId program);

    [[nodiscard]] Model& model() { return m_model; }
    /// Errors: more than kMostLayers blocks; the parameters or the FLOPs of all layers together exceed 2^62.
    [[nodiscard]] Result<Model> finish();

private:
    template <class Id>
    using ByName = std::unordered_map<std::string, Id, TextHash, std::equal_to<>>;

    /// How far what lies in a copy is from what it is a copy of.
    struct Copy {
        ModuleId of;
        std::size_t modules = 0, parameters = 0;
    };
    [[nodiscard]] ModuleId findModule(std::string_view fullName) const;

    Model m_model;
    ByName<ModuleId> m_modules;
    ByName<ParameterId> m_parameters;
    std::unordered_map<std::size_t, Copy> m_copies;  // by the index of the module
};

}  // namespace shardscope::core
