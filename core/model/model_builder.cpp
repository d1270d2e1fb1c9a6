#include "core/model/model_builder.h"

#include <cassert>
#include <utility>

#include "core/base/full_names.h"
#include "core/model/size_check.h"

namespace shardscope::core {
namespace {

constexpr double kLargest = 4.6e18;  // 2^62

}  // namespace

ModelBuilder::ModelBuilder(std::string name, std::string family, std::string rootType, const Workload& workload) {
    m_model.name = std::move(name);
    m_model.family = std::move(family);
    m_model.workload = workload;
    m_model.modules.push_back({"", std::move(rootType), {}, {}, {}});
    m_modules.emplace("", ModuleId(std::size_t{0}));
}

void ModelBuilder::reserve(std::size_t modules, std::size_t parameters) {
    m_model.modules.reserve(modules);
    m_model.parameters.reserve(parameters);
    m_modules.reserve(modules);
    m_parameters.reserve(parameters);
}

ParameterId ModelBuilder::find(std::string_view fullName) const {
    const auto found = m_parameters.find(fullName);
    assert(found != m_parameters.end());
    return found->second;
}

ModuleId ModelBuilder::findModule(std::string_view fullName) const {
    const auto found = m_modules.find(fullName);
    assert(found != m_modules.end());
    return found->second;
}

ModuleId ModelBuilder::module(std::string fullName, std::string type) {
    const std::size_t dot = fullName.rfind('.');
    const ModuleId parent = findModule(std::string_view(fullName).substr(0, dot == std::string::npos ? 0 : dot));
    const ModuleId id(m_model.modules.size());
    m_model.modules[parent.index()].children.push_back(id);
    m_modules.emplace(fullName, id);
    m_model.modules.push_back({std::move(fullName), std::move(type), parent, {}, {}});
    return id;
}

ModuleId ModelBuilder::copy(std::string_view module, std::string fullName) {
    std::vector<Module>& modules = m_model.modules;
    std::vector<Parameter>& parameters = m_model.parameters;
    const ModuleId of = findModule(module);
    std::size_t end = of.index() + 1;
    while (end < modules.size() && liesIn(modules[end].name, module)) ++end;
    const auto renamed = [&](const std::string& name) {
        std::string full;
        full.reserve(fullName.size() + name.size() - module.size());
        return (full += fullName).append(name, module.size());
    };
    const ModuleId made = this->module(fullName, modules[of.index()].type);
    Copy copy{of, made.index() - of.index(), 0};
    for (std::size_t m = of.index(); m < end; ++m) {
        const std::size_t at = m + copy.modules;
        if (m > of.index())
            modules.push_back({renamed(modules[m].name),
                               modules[m].type,
                               ModuleId(modules[m].parent.index() + copy.modules),
                               {},
                               {}});
        for (const ModuleId child : modules[m].children)
            modules[at].children.emplace_back(child.index() + copy.modules);
        for (const ParameterId p : modules[m].parameters) {
            if (copy.parameters == 0) copy.parameters = parameters.size() - p.index();
            assert(!parameters[p.index()].tied && parameters.size() == p.index() + copy.parameters);
            modules[at].parameters.emplace_back(parameters.size());
            Parameter added = parameters[p.index()];
            added.name = renamed(added.name);
            added.module = ModuleId(at);
            parameters.push_back(std::move(added));
        }
    }
    m_copies.emplace(made.index(), copy);
    return made;
}

ParameterId ModelBuilder::parameter(ModuleId module, std::string_view name, Shape shape) {
    Module& owner = m_model.modules[module.index()];
    const ParameterId id(m_model.parameters.size());
    std::string full = joinNames(owner.name, name);
    owner.parameters.push_back(id);
    m_parameters.emplace(full, id);
    m_model.parameters.push_back({std::move(full), std::move(shape), module, false});
    return id;
}

void ModelBuilder::tie(ModuleId module, std::string_view name, ParameterId parameter) {
    Module& user = m_model.modules[module.index()];
    user.parameters.push_back(parameter);
    m_parameters.emplace(joinNames(user.name, name), parameter);
    m_model.parameters[parameter.index()].tied = true;
}

ProgramId ModelBuilder::program(Program program) {
    m_model.programs.push_back(std::move(program));
    return ProgramId(m_model.programs.size() - 1);
}

void ModelBuilder::layer(std::string name, LayerKind kind, std::string_view module, ProgramId program) {
    std::string full;
    Layer layer;
    layer.name = std::move(name);
    layer.kind = kind;
    layer.program = program;
    Copy copy;  // the layer's module is none
    const Program& p = m_model.programs[program.index()];
    if (kind == LayerKind::Loss) {
        layer.modules.resize(p.modules.size());
    } else {
        layer.module = findModule(module);
        if (const auto found = m_copies.find(layer.module.index()); found != m_copies.end()) {
            copy = found->second;
            module = m_model.modules[copy.of.index()].name;
        }
        layer.modules.reserve(p.modules.size());
        for (const ProgramModule& m : p.modules)
            layer.modules.emplace_back(findModule(joinNames(full, module, m.name)).index() + copy.modules);
    }
    for (const Tensor& tensor : p.tensors) {
        if (tensor.role != TensorRole::Parameter) continue;
        assert(tensor.slot == layer.parameters.size());
        const ParameterId parameter(find(joinNames(full, module, tensor.name)).index() + copy.parameters);
        assert(m_model.parameters[parameter.index()].shape == tensor.shape);
        layer.parameters.push_back(parameter);
    }
    m_model.layers.push_back(std::move(layer));
}

Result<Model> ModelBuilder::finish() {
    std::int64_t blocks = 0;
    for (const Layer& layer : m_model.layers) blocks += layer.kind == LayerKind::Block ? 1 : 0;
    SHARDSCOPE_TRY(checkLayers(m_model.name, "the number of blocks", blocks));
    double elements = 0, flops = 0;
    for (const Parameter& parameter : m_model.parameters) {
        double product = 1;
        for (std::int64_t d : parameter.shape) product *= static_cast<double>(d);
        elements += product;
    }
    for (const Layer& layer : m_model.layers) {
        const Program& program = m_model.programOf(layer);
        for (const auto* kernels : {&program.forward, &program.backward})
            for (const Kernel& kernel : *kernels) flops += static_cast<double>(kernel.flops.value);
    }
    // Bytes of parameters are counted in up to 8 bytes an element.
    if (elements * 8 > kLargest || flops > kLargest)
        return fail(ErrorCode::Input, "the model is too large: its parameters or its work exceed 2^62", m_model.name,
                    "check the sizes, the batch and the sequence length");
    return std::move(m_model);
}

}  // namespace shardscope::core
