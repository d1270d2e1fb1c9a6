#pragma once

// A model of transformers on its way to a Model: its modules in registration order, and its layers in order of
// execution, each with the forward pass that a LayerWriter emits. Families (core/model/hf/families.h) fill it from a
// config.

#include <deque>
#include <functional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "core/base/full_names.h"
#include "core/base/result.h"
#include "core/model/model.h"

namespace shardscope::core {

class LayerWriter;
class ModelBuilder;

/// What a module computes, as far as a LayerWriter's `apply` knows.
enum class ModuleWork : std::uint8_t {
    Container,    ///< nothing by itself
    Linear,       ///< weight [out, in]
    Conv1D,       ///< GPT-2's: weight [in, out]
    Embedding,    ///< weight [rows, width]
    LayerNorm,    ///< with weight and bias, one of them, or none
    RmsNorm,      ///< transformers' own: fp32 inside, a weight
    Scale,        ///< a vector that multiplies
    Convolution,  ///< weight [out, in / groups, kernel..]
};

struct ModuleEntry {
    struct Parameter {
        std::string name;  ///< "weight"
        Shape shape;
        std::string tiedTo;  ///< full name of a parameter that was registered before; empty: its own
        bool frozen = false;
    };
    std::string name;  ///< full
    std::string type;
    ModuleWork work = ModuleWork::Container;
    std::vector<Parameter> parameters;
    double epsilon = 1e-5;  ///< norms
    std::string copyOf;     ///< full name of the module that this one is like, with all that lies in it; empty: none
};

/// Emits a layer's forward pass; `input` is invalid for the first layer.
using Forward = std::function<TensorId(LayerWriter&, TensorId input)>;

class Architecture {
public:
    Architecture();
    Architecture(const Architecture&) = delete;  // modules are found by views of their own names

    struct LayerProgram {
        std::string name, type;  ///< "decoder layer", the class of the layer's module
        Forward forward;
    };
    struct LayerEntry {
        std::string name;
        LayerKind kind = LayerKind::Block;
        std::string module;
        std::size_t program = 0;
    };

    std::string rootType;
    std::string sampleWord = "sequence";
    std::int64_t tokensPerSample = 0;
    std::vector<std::string> caveats;
    Experts experts;

    /// Adds a module by its full name; the modules around it must be there.
    ModuleEntry& module(std::string name, std::string type);
    ModuleEntry& linear(std::string name, std::int64_t in, std::int64_t out, bool bias = true,
                        std::string type = "Linear");
    ModuleEntry& conv1d(std::string name, std::int64_t in, std::int64_t out);
    ModuleEntry& embedding(std::string name, std::int64_t rows, std::int64_t width, std::string type = "Embedding");
    ModuleEntry& layerNorm(std::string name, const Shape& shape, double epsilon, bool bias = true,
                           std::string type = "LayerNorm");
    ModuleEntry& rmsNorm(std::string name, std::int64_t width, double epsilon, std::string type);
    ModuleEntry& convolution(std::string name, Shape weight, bool bias, std::string type);
    /// A parameter of the module itself ("" is the root): registered after those that it has.
    void parameter(std::string_view module, std::string name, Shape shape, bool frozen = false);

    /// Adds a module like an earlier one, with all that lies in it, for blocks that are equal (ModelBuilder::copy).
    /// What lies in it is not found here.
    void copy(const std::string& module, std::string name);

    std::size_t program(std::string name, std::string type, Forward forward);
    void layer(std::string name, LayerKind kind, std::string module, std::size_t program);
    void layer(std::string name, LayerKind kind, std::string module, std::string type, Forward forward);

    [[nodiscard]] const ModuleEntry* find(std::string_view name) const;
    [[nodiscard]] const std::vector<LayerEntry>& layers() const { return m_layers; }

    /// Writes the programs and puts the model together, whose modules take what they are from here. Errors: sizes that
    /// are too large.
    [[nodiscard]] Result<Model> build(const std::string& name, const std::string& family, const Workload& workload) &&;

private:
    void addModules(ModelBuilder& builder);

    std::deque<ModuleEntry> m_modules;  // which stay where they are
    std::unordered_map<std::string_view, ModuleEntry*> m_index;
    std::vector<LayerProgram> m_programs;
    std::vector<LayerEntry> m_layers;
};

}  // namespace shardscope::core
