#include "core/model/freeze.h"

#include <algorithm>
#include <map>
#include <utility>

#include <fmt/format.h>

#include "core/base/full_names.h"
#include "core/base/nearest.h"

namespace shardscope::core {

namespace {

constexpr const char* kPlace = "[training] frozen";

TensorId ownerOf(const Program& program, TensorId tensor) {
    return program.tensor(tensor).storage.valid() ? program.tensor(tensor).storage : tensor;
}

/// The program without what only served gradients of frozen slots, or of the input if nothing before it is trained.
Program trimmed(const Program& program, const std::vector<bool>& frozenSlots, bool inputGradient) {
    Program out = program;
    std::vector<bool> needed(out.tensors.size(), false);
    for (std::size_t t = 0; t < out.tensors.size(); ++t) {
        Tensor& tensor = out.tensors[t];
        if (tensor.role == TensorRole::InputGradient) needed[t] = inputGradient;
        if (tensor.role != TensorRole::ParameterGradient) continue;
        needed[t] = !frozenSlots[tensor.slot];
        // A kernel that makes other gradients as well still writes it, for nobody.
        if (!needed[t]) tensor.role = TensorRole::Intermediate;
    }
    std::vector<Kernel> backward;
    for (std::size_t k = out.backward.size(); k-- > 0;) {
        const Kernel& kernel = out.backward[k];
        const bool wanted = std::any_of(kernel.outputs.begin(), kernel.outputs.end(),
                                        [&](TensorId id) { return needed[ownerOf(out, id).index()]; });
        if (!wanted) continue;
        for (const TensorId input : kernel.inputs) needed[ownerOf(out, input).index()] = true;
        backward.push_back(kernel);
    }
    std::reverse(backward.begin(), backward.end());
    out.backward = std::move(backward);
    return out;
}

Result<void> mark(Model& model, const std::vector<std::string>& names) {
    for (const std::string& name : names) {
        bool found = false;
        for (Parameter& parameter : model.parameters)
            if (liesIn(parameter.name, name)) found = parameter.frozen = true;
        if (found) continue;
        std::vector<std::string> known;
        for (const Module& module : model.modules) known.push_back(module.name);
        const std::string near = nearest(name, known);
        return fail(ErrorCode::Input, fmt::format("no module or parameter '{}'", name), kPlace,
                    near.empty() ? alikeInWords(name, known) : fmt::format("the nearest name is '{}'", near));
    }
    return {};
}

}  // namespace

Result<void> freeze(Model& model, const std::vector<std::string>& names) {
    SHARDSCOPE_TRY(mark(model, names));
    // Some models come with frozen parameters of their own (whisper's table of sines).
    if (std::none_of(model.parameters.begin(), model.parameters.end(), [](const Parameter& p) { return p.frozen; }))
        return {};
    if (std::all_of(model.parameters.begin(), model.parameters.end(), [](const Parameter& p) { return p.frozen; }))
        return fail(ErrorCode::Input, "every parameter is frozen, expected something to train", kPlace,
                    "leave a module out");
    std::map<std::pair<std::uint32_t, std::vector<bool>>, ProgramId> made;
    bool trainedBefore = false;
    for (Layer& layer : model.layers) {
        std::vector<bool> key;
        for (const ParameterId p : layer.parameters) key.push_back(model.parameters[p.index()].frozen);
        const bool any = std::find(key.begin(), key.end(), true) != key.end();
        const bool trains = std::find(key.begin(), key.end(), false) != key.end();
        if (any || !trainedBefore) {
            key.push_back(trainedBefore);
            const auto [at, isNew] = made.try_emplace({layer.program.value, key});
            if (isNew) {
                std::vector<bool> slots(key.begin(), key.end() - 1);
                at->second = ProgramId(model.programs.size());
                model.programs.push_back(trimmed(model.programOf(layer), slots, trainedBefore));
            }
            layer.program = at->second;
        }
        trainedBefore |= trains;
    }
    return {};
}

}  // namespace shardscope::core
