#include "core/graph/original_dtype.h"

#include <algorithm>

#include <fmt/format.h>

#include "core/base/full_names.h"
#include "core/base/nearest.h"
#include "core/plan/sharding.h"

namespace shardscope::core {

namespace {

bool isMeant(const Model& model, const Parameter& parameter, const std::string& asked) {
    return liesIn(parameter.name, asked) || model.modules[parameter.module.index()].type == asked;
}

}  // namespace

Result<void> checkOriginalDtype(const Model& model, const Plan& plan) {
    for (const std::string& asked : plan.fsdp.originalDtype) {
        if (std::ranges::any_of(model.parameters, [&](const Parameter& p) { return isMeant(model, p, asked); }))
            continue;
        std::vector<std::string> known;
        for (const Module& module : model.modules) {
            if (!module.name.empty()) known.push_back(module.name);
            if (!module.parameters.empty()) known.push_back(module.type);
        }
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
                                 [&](const std::string& asked) { return isMeant(model, parameter, asked); }))
            continue;
        unit.inOriginalDtype[i] = true;
        unit.originalPadded += paddedElements(plan, parameter.name, parameter.shape);
        if (!parameter.frozen) unit.originalTrained += elementsOf(parameter.shape);
    }
    if (unit.originalPadded == 0) unit.inOriginalDtype.clear();
}

}  // namespace shardscope::core
