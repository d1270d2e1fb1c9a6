#include "core/model/model.h"

namespace shardscope::core {
namespace {

Flops flopsOf(const Model& model, std::vector<Kernel> Program::*kernels) {
    Flops sum;
    for (const Layer& layer : model.layers)
        for (const Kernel& kernel : model.programOf(layer).*kernels) sum += kernel.flops;
    return sum;
}

}  // namespace

std::int64_t parameterCount(const Model& model) {
    std::int64_t count = 0;
    for (const Parameter& parameter : model.parameters) count += elementsOf(parameter.shape);
    return count;
}

std::int64_t activeParameterCount(const Model& model) {
    const Experts& e = model.experts;
    return parameterCount(model) - (e.count > 0 ? e.routedParameters / e.count * (e.count - e.active) : 0);
}

ModuleId findModule(const Model& model, std::string_view name) {
    for (std::size_t i = 0; i < model.modules.size(); ++i)
        if (model.modules[i].name == name) return ModuleId(i);
    return {};
}

std::vector<bool> castByAutocast(const Model& model, LayerId begin, LayerId end) {
    std::vector<bool> cast(model.parameters.size(), false);
    if (!model.workload.autocast) return cast;
    for (std::size_t l = begin.index(); l < end.index(); ++l)
        for (const Tensor& tensor : model.programOf(model.layers[l]).tensors)
            if (tensor.role == TensorRole::Parameter && tensor.dtype == model.workload.dtype)
                cast[model.layers[l].parameters[tensor.slot].index()] = true;
    return cast;
}

Flops forwardFlops(const Model& model) {
    return flopsOf(model, &Program::forward);
}

Flops backwardFlops(const Model& model) {
    return flopsOf(model, &Program::backward);
}

}  // namespace shardscope::core
