// Holds models of transformers, as recorded, against ours.
//   check_hf_models FILE... [--left-out-at-most N]
// FILE is either of a model type's cases ({"model_type", "cases": [{"id", "config_min", "config_saved", "params",
// "tied", "frozen", "total", "trainable", "blocks", "forward", "moe", "old", "drop_one", "null_one"}]}) or of full-size
// models ({"models": [{"name", "model_type", "cls", "config", "total", "tied", "blocks", "root", "moe"}]}).
//
// Held: names, shapes and order of parameters, ties, frozen ones, totals, active parameters, classes and sizes of
// blocks, the order in which modules first run; of variants of a config the total, or that both refuse it. Prints per
// case: equal, differs (where), refused (a feature that is not modelled), or cannot run (the library builds it, but its
// sizes fit no forward pass, and we refuse it). Exit 1 on any difference, or where more than N are refused or cannot
// run.

#include <cstdio>
#include <fstream>
#include <map>
#include <set>
#include <sstream>

#include "core/base/document.h"
#include "core/model/hf_model.h"
#include "core/model/shapes_model.h"
#include "tests/checkers/support/outcome.h"

using namespace shardscope::core;

namespace {

struct Tally {
    int equal = 0, different = 0, refused = 0, cannotRun = 0;

    void report(const std::string& id, const std::string& difference) {
        ++(difference.empty() ? equal : different);
        std::printf("%-48s %s%s\n", id.c_str(), difference.empty() ? "equal" : "differs: ", difference.c_str());
    }
    void skip(const std::string& id, const Error& error) {
        const bool feature = error.code == ErrorCode::Unsupported;
        ++(feature ? refused : cannotRun);
        std::printf("%-48s %s: %s\n", id.c_str(), feature ? "refused" : "cannot run", error.message.c_str());
    }
    void sum(const char* what) const {
        std::printf("%s%d equal, %d differ, %d refused, %d cannot run\n", what, equal, different, refused, cannotRun);
    }
    void add(const Tally& other) {
        equal += other.equal;
        different += other.different;
        refused += other.refused;
        cannotRun += other.cannotRun;
    }
};

Result<Model> modelOf(const Document& config) {
    SHARDSCOPE_ASSIGN(const ModelSpec spec, readHfModel(config, "config", "model"));
    Workload workload;
    workload.sequence = 1;
    return buildModel(spec, workload);
}

std::string compareParameters(const Model& model, const Document& recorded) {
    for (std::size_t i = 0; i < std::max(recorded.items.size(), model.parameters.size()); ++i) {
        if (i >= recorded.items.size()) return "parameter too many: " + model.parameters[i].name;
        const Document& row = recorded.items[i];
        if (row.items.size() != 2) return "unreadable parameter list";
        if (i >= model.parameters.size()) return "parameter missing: " + row.items[0].text;
        Shape shape;
        for (const Document& d : row.items[1].items) shape.push_back(d.integer);
        const Parameter& ours = model.parameters[i];
        if (ours.name != row.items[0].text || ours.shape != shape)
            return "parameter " + std::to_string(i) + " is " + row.items[0].text + " " + toString(shape) + ", here " +
                   ours.name + " " + toString(ours.shape);
    }
    return {};
}

std::string compareTotal(const Model& model, const Document* total) {
    if (total == nullptr || total->integer == parameterCount(model)) return {};
    return "total is " + std::to_string(total->integer) + ", here " + std::to_string(parameterCount(model));
}

/// The parameter that a module holds under that full name, tied ones too.
ParameterId findParameter(const Model& model, const std::string& name) {
    const std::size_t dot = name.rfind('.');
    const ModuleId module = findModule(model, dot == std::string::npos ? "" : name.substr(0, dot));
    if (!module.valid()) return {};
    const std::string leaf = name.substr(dot + 1);
    for (const ParameterId p : model.modules[module.index()].parameters) {
        const std::string& full = model.parameters[p.index()].name;
        if (full.substr(full.rfind('.') + 1) == leaf) return p;
    }
    return {};
}

/// Every group of names that share one tensor must be one parameter here that stands in both modules.
std::string compareTies(const Model& model, const Document& groups) {
    std::size_t tied = 0;
    for (const Parameter& p : model.parameters) tied += p.tied ? 1 : 0;
    if (tied != groups.items.size()) return "tied parameters are " + std::to_string(groups.items.size());
    for (const Document& group : groups.items) {
        std::set<ParameterId> ids;
        for (const Document& name : group.items) {
            const ParameterId id = findParameter(model, name.text);
            if (!id.valid()) return "no module of " + name.text;
            ids.insert(id);
        }
        if (ids.size() != 1) return group.items.front().text + " is not shared";
    }
    return {};
}

std::string compareFrozen(const Model& model, const Document& recorded) {
    std::set<std::string> frozen, here;
    if (const Document* names = recorded.find("frozen"); names != nullptr)
        for (const Document& name : names->items) frozen.insert(name.text);
    for (const Parameter& p : model.parameters)
        if (p.frozen) here.insert(p.name);
    return frozen == here
               ? ""
               : std::to_string(frozen.size()) + " parameters are frozen, here " + std::to_string(here.size());
}

std::string compareExperts(const Model& model, const Document* moe) {
    const bool recorded = moe != nullptr && moe->kind == Document::Kind::Table;
    if (!recorded) return model.experts.count == 0 ? "" : "it has no experts";
    const Document* active = moe->find("active");
    const std::int64_t here = activeParameterCount(model);
    if (active != nullptr && active->integer != here)
        return "active parameters are " + std::to_string(active->integer) + ", here " + std::to_string(here);
    if (moe->find("num_experts")->integer != model.experts.count || moe->find("top_k")->integer != model.experts.active)
        return "it has other experts";
    return {};
}

/// Blocks, and modules outside of them that own parameters, in the order in which they first run.
std::string compareFirstUse(const Model& model, const Document& recorded) {
    const Document* forward = recorded.find("forward");
    const Document* uses = forward == nullptr ? nullptr : forward->find("first_use");
    const Document* blocks = recorded.find("blocks");
    if (uses == nullptr || blocks == nullptr) return {};
    std::vector<std::string> expected, here;
    for (const Document& use : uses->items)
        if (use.text != "<root>") expected.push_back(use.text);
    std::set<std::string> names, seen;
    for (const Document& block : blocks->items) names.insert(block.items.at(0).text);
    for (const Layer& layer : model.layers) {
        if (layer.kind == LayerKind::Loss) continue;
        for (const Kernel& kernel : model.programOf(layer).forward) {
            std::vector<ModuleId> chain;  // from the outermost module inwards: that is how they are called
            for (ModuleId id = layer.modules[kernel.module]; id.valid(); id = model.modules[id.index()].parent)
                chain.insert(chain.begin(), id);
            for (const ModuleId id : chain) {
                const Module& module = model.modules[id.index()];
                const bool block = names.contains(module.name);
                const bool counts = block || (!module.parameters.empty() && !module.name.empty());
                if (counts && seen.insert(module.name).second) here.push_back(module.name);
                if (block) break;
            }
        }
    }
    for (std::size_t i = 0; i < std::max(expected.size(), here.size()); ++i)
        if (i >= expected.size() || i >= here.size() || expected[i] != here[i])
            return "module " + std::to_string(i) + " to run is " + (i < expected.size() ? expected[i] : "none") +
                   ", here " + (i < here.size() ? here[i] : "none");
    return {};
}

std::int64_t elementsBelow(const Model& model, const std::string& module) {
    std::int64_t elements = 0;
    for (const Parameter& p : model.parameters)
        if (p.name.starts_with(module + ".")) elements += elementsOf(p.shape);
    return elements;
}

/// Rows of [module, class, elements, ..].
std::string compareBlocks(const Model& model, const Document& blocks) {
    for (const Document& block : blocks.items) {
        const std::string& name = block.items.at(0).text;
        const ModuleId module = findModule(model, name);
        if (!module.valid()) return "no block " + name;
        if (model.modules[module.index()].type != block.items.at(1).text) return name + " is a " + block.items[1].text;
        if (elementsBelow(model, name) != block.items.at(2).integer)
            return name + " has " + std::to_string(block.items[2].integer) + " elements";
    }
    return {};
}

/// Any family, known by its shapes alone, must have the recorded total.
std::string compareByShapes(const Document& recorded) {
    ShapesSpec spec;
    for (const Document& row : recorded.find("params")->items) {
        ShapesSpec::Entry entry;
        entry.name = row.items.at(0).text;
        for (const Document& d : row.items.at(1).items) entry.shape.push_back(d.integer);
        spec.entries.push_back(std::move(entry));
    }
    const auto model = buildFromShapes(spec, Workload{});
    if (!model) return describe(model.error());
    return compareTotal(*model, recorded.find("total"));
}

/// A variant of a config, of which only the total (or an error) was recorded.
void checkVariant(Tally& tally, const std::string& id, const Document& config, const Document& recorded) {
    const auto model = modelOf(config);
    const bool refused = recorded.kind == Document::Kind::Text;
    if (!model && refused) {
        tally.report(id, {});  // whatever the reason
    } else if (!model) {
        tally.skip(id, model.error());
    } else if (refused) {
        tally.report(id, "the library refuses it: " + recorded.text);
    } else {
        tally.report(id, compareTotal(*model, recorded.items.empty() ? &recorded : &recorded.items.front()));
    }
}

void checkCase(Tally& tally, const Document& recorded) {
    const Document* id = recorded.find("id");
    const Document* config = recorded.find("config_min");
    const Document* parameters = recorded.find("params");
    if (id == nullptr || config == nullptr || parameters == nullptr) return tally.report("?", "unreadable case");
    tally.report(id->text + " by its shapes", compareByShapes(recorded));
    const auto model = modelOf(*config);
    if (!model && model.error().code != ErrorCode::Unsupported) return tally.report(id->text, describe(model.error()));
    if (!model) return tally.skip(id->text, model.error());
    std::string difference = compareParameters(*model, *parameters);
    if (difference.empty()) difference = compareTotal(*model, recorded.find("total"));
    if (const Document* tied = recorded.find("tied"); tied != nullptr && difference.empty())
        difference = compareTies(*model, *tied);
    if (difference.empty()) difference = compareFrozen(*model, recorded);
    if (difference.empty()) difference = compareExperts(*model, recorded.find("moe"));
    if (const Document* blocks = recorded.find("blocks"); blocks != nullptr && difference.empty())
        difference = compareBlocks(*model, *blocks);
    if (difference.empty()) difference = compareFirstUse(*model, recorded);
    tally.report(id->text, difference);

    if (const Document* saved = recorded.find("config_saved"); saved != nullptr) {
        const auto again = modelOf(*saved);
        tally.report(id->text + " as saved", again ? compareParameters(*again, *parameters) : again.error().message);
    }
    if (const Document* old = recorded.find("old"); old != nullptr && old->find("config") != nullptr) {
        const Document* total = old->find("total");
        checkVariant(tally, id->text + " as older versions wrote it", *old->find("config"),
                     total != nullptr ? *total : Document::of("an error"));
    }
    for (const char* change : {"drop_one", "null_one"}) {
        const Document* variants = recorded.find(change);
        if (variants == nullptr) continue;
        for (const auto& [key, expected] : variants->members) {
            Document changed = Document::table();
            for (const auto& [name, value] : config->members)
                if (name != key)
                    changed.set(name, value);
                else if (std::string_view(change) == "null_one")
                    changed.set(name, Document{});
            checkVariant(tally, id->text + (changed.find(key) ? " null " : " without ") + key, changed, expected);
        }
    }
}

/// Full-size models: blocks are rows of [parent, class, how many, elements each].
void checkFullSize(Tally& tally, const Document& recorded) {
    const Document* name = recorded.find("name");
    const Document* type = recorded.find("model_type");
    const Document* given = recorded.find("config");
    if (name == nullptr || type == nullptr || given == nullptr) return tally.report("?", "unreadable model");
    Document config = *given;
    config.set("model_type", *type);
    if (const Document* cls = recorded.find("cls"); cls != nullptr) {
        Document classes = Document::list();
        classes.items.push_back(*cls);
        config.set("architectures", std::move(classes));
    }
    const auto model = modelOf(config);
    if (!model) return tally.skip(name->text, model.error());
    std::string difference = compareTotal(*model, recorded.find("total"));
    if (difference.empty()) difference = compareExperts(*model, recorded.find("moe"));
    std::int64_t inBlocks = 0;
    std::map<std::string, std::int64_t> begun;
    if (const Document* blocks = recorded.find("blocks"); blocks != nullptr && difference.empty()) {
        for (const Document& row : blocks->items) {
            const std::int64_t count = row.items.at(2).integer, elements = row.items.at(3).integer;
            inBlocks += count * elements;
            // Blocks of a list follow one another, row after row; a single module stands under its own name.
            const std::string& parent = row.items.at(0).text;
            std::int64_t& next = begun[parent];
            const bool list = findModule(*model, parent + ".0").valid();
            for (std::int64_t i = 0; i < count && difference.empty(); i += count > 1 ? count - 1 : 1) {
                const std::string block = list ? parent + "." + std::to_string(next + i) : parent;
                if (elementsBelow(*model, block) != elements) difference = block + " has other elements";
            }
            next += count;
        }
        const Document* root = recorded.find("root");
        if (difference.empty() && root != nullptr && parameterCount(*model) - inBlocks != root->integer)
            difference = "the root has " + std::to_string(root->integer);
    }
    tally.report(name->text, difference);
}

}  // namespace

int main(int argc, char** argv) {
    const auto arguments = shardscope::checkers::argumentsOf(argc, argv, "check_hf_models");
    if (!arguments) return 2;
    Tally all;
    for (const std::string& path : arguments->files) {
        Tally tally;
        std::ostringstream text;
        text << std::ifstream(path, std::ios::binary).rdbuf();
        const auto file = parseJson(text.str(), path);
        const Document* cases = file ? file->find("cases") : nullptr;
        const Document* models = file ? file->find("models") : nullptr;
        if (!file) tally.report(path, describe(file.error()));
        if (file && cases == nullptr && models == nullptr) tally.report(path, "neither cases nor models");
        if (cases != nullptr)
            for (const Document& recorded : cases->items) checkCase(tally, recorded);
        if (models != nullptr)
            for (const Document& recorded : models->items) checkFullSize(tally, recorded);
        tally.sum((path + ": ").c_str());
        all.add(tally);
    }
    all.sum("");
    return shardscope::checkers::exitCode({all.equal, all.different, all.refused + all.cannotRun}, *arguments);
}
