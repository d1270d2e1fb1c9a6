#include "tests/plans/support/shrink.h"

#include <algorithm>

#include "core/scenario/keys.h"

namespace shardscope::tests {
namespace {

using core::Document;

/// Values that say less, the boldest first.
std::vector<std::string> simplerValues(const std::string& value) {
    std::vector<std::string> simpler;
    const auto document = core::parseToml("x = " + value, "value");
    const Document* x = document ? document->find("x") : nullptr;
    if (x == nullptr) return simpler;
    if (x->kind == Document::Kind::Integer && x->integer > 1)
        for (const std::int64_t n : {x->integer / 2, x->integer - 1})
            if (n > 0) simpler.push_back(std::to_string(n));
    for (std::size_t i = 0; i < x->items.size() && x->items.size() > 1; ++i) {
        Document less = *x;
        less.items.erase(less.items.begin() + static_cast<std::ptrdiff_t>(i));
        simpler.push_back(core::writeTomlValue(less));
    }
    return simpler;
}

bool isOfModel(const Setting& setting) {
    constexpr std::string_view kOfKernels[] = {"model.attention", "model.rms_norm", "model.dropout",
                                               "model.kernel_rules"};
    for (const std::string_view key : kOfKernels)
        if (setting.key == key) return false;
    return setting.key.starts_with("model.");
}

/// The same scenario with a small model in place of its own.
std::vector<Settings> withSmallModels(const Settings& settings) {
    static const std::vector<Settings> kSmall = {
        {{"model.path", "\"examples/models/toy_mlp.toml\""}},
        {{"model.name", "\"vit_tiny\""}},
        {{"model.name", "\"vit_tiny\""}, {"model.layers", "1"}},
    };
    std::vector<Settings> all;
    for (const Settings& small : kSmall) {
        Settings changed = small;
        std::copy_if(settings.begin(), settings.end(), std::back_inserter(changed),
                     [](const Setting& s) { return !isOfModel(s); });
        if (changed.size() < settings.size()) all.push_back(std::move(changed));
    }
    return all;
}

}  // namespace

Settings shrink(Settings settings, const std::function<bool(const Settings&)>& fails) {
    const auto take = [&](Settings candidate) {
        if (!fails(candidate)) return false;
        settings = std::move(candidate);
        return true;
    };
    for (bool smaller = true; smaller;) {
        smaller = false;
        for (Settings& candidate : withSmallModels(settings))
            if (take(std::move(candidate))) {
                smaller = true;
                break;
            }
        for (std::size_t i = 0; i < settings.size();) {
            Settings without = settings;
            without.erase(without.begin() + static_cast<std::ptrdiff_t>(i));
            if (take(std::move(without)))
                smaller = true;
            else
                ++i;
        }
        for (std::size_t i = 0; i < settings.size(); ++i)
            for (bool again = true; again;) {
                again = false;
                for (std::string& value : simplerValues(settings[i].value)) {
                    Settings candidate = settings;
                    candidate[i].value = std::move(value);
                    if (!take(std::move(candidate))) continue;
                    again = smaller = true;
                    break;
                }
            }
    }
    return settings;
}

std::string scenarioText(const Settings& settings) {
    std::string comment;
    for (const Setting& setting : settings)
        if (setting.value.starts_with("\"hf_models.json#"))
            comment = "# model.path: the config of this id in tests/data/hf_models.json\n";
    if (const auto scenario = scenarioOf(settings)) return comment + core::writeScenario(*scenario);
    std::string text = comment;
    for (const Setting& setting : settings) text += setting.key + " = " + setting.value + "\n";
    return text;
}

}  // namespace shardscope::tests
