#include "core/model/hf/architecture.h"

#include <algorithm>
#include <cassert>
#include <optional>
#include <utility>

#include "core/model/hf/layer_writer.h"
#include "core/model/model_builder.h"

namespace shardscope::core {

Architecture::Architecture() {
    module("", "");
}

ModuleEntry& Architecture::module(std::string name, std::string type) {
    ModuleEntry& added = m_modules.emplace_back();
    added.name = std::move(name);
    added.type = std::move(type);
    added.epsilon = 0;
    [[maybe_unused]] const bool fresh = m_index.emplace(added.name, &added).second;
    assert(fresh);
    return added;
}

ModuleEntry& Architecture::linear(std::string name, std::int64_t in, std::int64_t out, bool bias, std::string type) {
    ModuleEntry& entry = module(std::move(name), std::move(type));
    entry.work = ModuleWork::Linear;
    entry.parameters.push_back({"weight", {out, in}, {}});
    if (bias) entry.parameters.push_back({"bias", {out}, {}});
    return entry;
}

ModuleEntry& Architecture::conv1d(std::string name, std::int64_t in, std::int64_t out) {
    ModuleEntry& entry = module(std::move(name), "Conv1D");
    entry.work = ModuleWork::Conv1D;
    entry.parameters = {{"weight", {in, out}, {}}, {"bias", {out}, {}}};
    return entry;
}

ModuleEntry& Architecture::embedding(std::string name, std::int64_t rows, std::int64_t width, std::string type) {
    ModuleEntry& entry = module(std::move(name), std::move(type));
    entry.work = ModuleWork::Embedding;
    entry.parameters.push_back({"weight", {rows, width}, {}});
    return entry;
}

ModuleEntry& Architecture::layerNorm(std::string name, const Shape& shape, double epsilon, bool bias,
                                     std::string type) {
    ModuleEntry& entry = module(std::move(name), std::move(type));
    entry.work = ModuleWork::LayerNorm;
    entry.epsilon = epsilon;
    entry.parameters.push_back({"weight", shape, {}});
    if (bias) entry.parameters.push_back({"bias", shape, {}});
    return entry;
}

ModuleEntry& Architecture::rmsNorm(std::string name, std::int64_t width, double epsilon, std::string type) {
    ModuleEntry& entry = module(std::move(name), std::move(type));
    entry.work = ModuleWork::RmsNorm;
    entry.epsilon = epsilon;
    entry.parameters.push_back({"weight", {width}, {}});
    return entry;
}

ModuleEntry& Architecture::convolution(std::string name, Shape weight, bool bias, std::string type) {
    ModuleEntry& entry = module(std::move(name), std::move(type));
    entry.work = ModuleWork::Convolution;
    const std::int64_t out = weight.front();
    entry.parameters.push_back({"weight", std::move(weight), {}});
    if (bias) entry.parameters.push_back({"bias", {out}, {}});
    return entry;
}

void Architecture::parameter(std::string_view module, std::string name, Shape shape, bool frozen) {
    m_index.at(module)->parameters.push_back({std::move(name), std::move(shape), {}, frozen});
}

void Architecture::copy(const std::string& module, std::string name) {
    const ModuleEntry* of = find(module);
    assert(of != nullptr && of->copyOf.empty());
    this->module(std::move(name), of->type).copyOf = module;
}

std::size_t Architecture::program(std::string name, std::string type, Forward forward) {
    m_programs.push_back({std::move(name), std::move(type), std::move(forward)});
    return m_programs.size() - 1;
}

void Architecture::layer(std::string name, LayerKind kind, std::string module, std::size_t program) {
    m_layers.push_back({std::move(name), kind, std::move(module), program});
}

void Architecture::layer(std::string name, LayerKind kind, std::string module, std::string type, Forward forward) {
    const char* what = kind == LayerKind::Embedding ? "embedding"
                       : kind == LayerKind::Norm    ? "final norm"
                       : kind == LayerKind::Head    ? "head"
                       : kind == LayerKind::Loss    ? "loss"
                                                    : "block";
    const std::size_t made = program(what, std::move(type), std::move(forward));
    layer(std::move(name), kind, std::move(module), made);
}

const ModuleEntry* Architecture::find(std::string_view name) const {
    const auto place = m_index.find(name);
    return place == m_index.end() ? nullptr : place->second;
}

void Architecture::addModules(ModelBuilder& builder) {
    std::size_t parameters = 0;
    for (const ModuleEntry& entry : m_modules) parameters += entry.parameters.size();
    builder.reserve(m_modules.size(), parameters);
    m_index.clear();  // whose names go
    for (ModuleEntry& entry : m_modules) {
        if (!entry.copyOf.empty()) {
            builder.copy(entry.copyOf, std::move(entry.name));
            continue;
        }
        const ModuleId module = entry.name.empty() ? ModuleId(std::size_t{0})
                                                   : builder.module(std::move(entry.name), std::move(entry.type));
        for (ModuleEntry::Parameter& p : entry.parameters) {
            if (!p.tiedTo.empty()) {
                builder.tie(module, p.name, builder.find(p.tiedTo));
                continue;
            }
            const ParameterId id = builder.parameter(module, p.name, std::move(p.shape));
            builder.model().parameters[id.index()].frozen = p.frozen;
        }
    }
}

Result<Model> Architecture::build(const std::string& name, const std::string& family, const Workload& workload) && {
    ModelBuilder builder(name, family, rootType, workload);
    Model& model = builder.model();
    model.sampleWord = sampleWord;
    model.tokensPerSample = tokensPerSample;
    model.caveats = caveats;
    model.experts = experts;

    struct Written {
        ProgramId program;
        Shape shape;
        DType dtype;
    };
    std::vector<std::optional<Written>> written(m_programs.size());
    Shape shape;  // of what the layers hand on
    DType dtype = workload.dtype;
    for (std::size_t i = 0; i < m_layers.size(); ++i) {
        const LayerEntry& layer = m_layers[i];
        auto& done = written[layer.program];
        if (!done) {
            const LayerProgram& what = m_programs[layer.program];
            ProgramBuilder b(what.name, what.type, workload);
            LayerWriter writer(b, *this, layer.module, workload);
            const TensorId input = i == 0 ? TensorId{} : b.input(shape, dtype);
            const TensorId output = what.forward(writer, input);
            Shape given = b.shapeOf(output);
            const DType givenType = b.at(output).dtype;
            auto program = b.finish(output);
            if (!program) {
                Error error = std::move(program).error();
                error.where = name;
                return tl::unexpected(std::move(error));
            }
            done.emplace(Written{builder.program(std::move(*program)), std::move(given), givenType});
        }
        shape = done->shape;
        dtype = done->dtype;
    }
    addModules(builder);
    for (LayerEntry& layer : m_layers)
        builder.layer(std::move(layer.name), layer.kind, layer.module, written[layer.program]->program);
    return builder.finish();
}

}  // namespace shardscope::core
