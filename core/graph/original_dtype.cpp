#include "core/graph/original_dtype.h"

#include <algorithm>

#include <fmt/format.h>

#include "core/base/full_names.h"
#include "core/base/nearest.h"
#include "core/plan/sharding.h"

namespace shardscope::core {

namespace {

/// By its name, by a module that holds it or by that module's type; a tied parameter has several of each.
bool isMeant(const Model& model, ParameterId id, const std::string& asked) {
    const Parameter& parameter = model.parameters[id.index()];
    if (liesIn(parameter.name, asked) || model.modules[parameter.module.index()].type == asked) return true;
    return parameter.tied && std::ranges::any_of(model.modules, [&](const Module& module) {
               return (module.type == asked || liesIn(module.name, asked)) &&
                      std::ranges::find(module.parameters, id) != module.parameters.end();
           });
}

/// What may be asked for: modules with parameters in them, and the types of those that hold some themselves.
std::vector<std::string> namesToAsk(const Model& model) {
    std::vector<bool> holds(model.modules.size(), false);
    std::vector<std::string> types;
    for (std::size_t i = 0; i < model.modules.size(); ++i) {
        if (model.modules[i].parameters.empty()) continue;
        types.push_back(model.modules[i].type);
        for (ModuleId m(i); m.valid() && !holds[m.index()]; m = model.modules[m.index()].parent)
            holds[m.index()] = true;
    }
    std::vector<std::string> names;
    for (std::size_t m = 0; m < holds.size(); ++m)
        if (holds[m] && !model.modules[m].name.empty()) names.push_back(model.modules[m].name);
    names.insert(names.end(), types.begin(), types.end());
    return names;
}

}  // namespace

Result<void> checkOriginalDtype(const Model& model, const Plan& plan) {
    for (const std::string& asked : plan.fsdp.originalDtype) {
        bool any = false;
        for (std::size_t p = 0; p < model.parameters.size() && !any; ++p) any = isMeant(model, ParameterId(p), asked);
        if (any) continue;
        const std::vector<std::string> known = namesToAsk(model);
        const std::string near = nearest(asked, known);
        return fail(ErrorCode::Input, fmt::format("no module, parameter or type of module '{}'", asked),
                    "[parallelism] fsdp_original_dtype",
                    near.empty() ? alikeInWords(asked, known) : fmt::format("the nearest name is '{}'", near));
    }
    return {};
}

void markOriginalDtype(const Model& model, const Plan& plan, Unit& unit) {
    if (plan.fsdp.originalDtype.empty() || plan.precision.compute() == plan.precision.original) return;
    unit.inOriginalDtype.assign(unit.parameters.size(), false);
    for (std::size_t i = 0; i < unit.parameters.size(); ++i) {
        const Parameter& parameter = model.parameters[unit.parameters[i].index()];
        if (std::ranges::none_of(plan.fsdp.originalDtype,
                                 [&](const std::string& asked) { return isMeant(model, unit.parameters[i], asked); }))
            continue;
        unit.inOriginalDtype[i] = true;
        unit.originalPadded += paddedElements(plan, parameter.name, parameter.shape);
        if (!parameter.frozen) unit.originalTrained += elementsOf(parameter.shape);
    }
    if (unit.originalPadded == 0) unit.inOriginalDtype.clear();
}

}  // namespace shardscope::core
