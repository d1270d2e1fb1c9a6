// Holds parameter names, shapes, order, ties and totals of models recorded from transformers against ours.
//   check_hf_models FILE...
// FILE is either of a model type's cases ({"model_type", "cases": [{"id", "config_min", "config_saved", "params",
// "tied", "total", "blocks", "old", "drop_one", "null_one"}]}) or of full-size models ({"models": [{"name",
// "model_type", "config", "total", "tied", "blocks", "root"}]}). Prints per case: equal, differs (where), or not
// expressible (why). Exit 1 on any difference.

#include <cstdio>
#include <fstream>
#include <set>
#include <sstream>

#include "core/base/document.h"
#include "core/model/decoder.h"
#include "core/model/hf_config.h"
#include "core/model/shapes_model.h"

using namespace shardscope::core;

namespace {

struct Tally {
    int equal = 0, different = 0, inexpressible = 0;

    void report(const std::string& id, const std::string& difference) {
        ++(difference.empty() ? equal : different);
        std::printf("%-48s %s%s\n", id.c_str(), difference.empty() ? "equal" : "differs: ", difference.c_str());
    }
    void skip(const std::string& id, const Error& error) {
        ++inexpressible;
        std::printf("%-48s not expressible: %s\n", id.c_str(), error.message.c_str());
    }
};

Result<Model> modelOf(const Document& config) {
    SHARDSCOPE_ASSIGN(const DecoderSpec spec, readHfConfig(config, "config", "model"));
    Workload workload;
    workload.sequence = 1;
    return buildDecoder(spec, workload);
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

/// Every group of names that share one tensor must be one parameter here that stands in both modules.
std::string compareTies(const Model& model, const Document& groups) {
    std::size_t tied = 0;
    for (const Parameter& p : model.parameters) tied += p.tied ? 1 : 0;
    if (tied != groups.items.size()) return "tied parameters are " + std::to_string(groups.items.size());
    for (const Document& group : groups.items) {
        std::set<ParameterId> ids;
        for (const Document& name : group.items) {
            const ModuleId module = findModule(model, name.text.substr(0, name.text.rfind('.')));
            if (!module.valid() || model.modules[module.index()].parameters.size() != 1)
                return "no module of " + name.text;
            ids.insert(model.modules[module.index()].parameters[0]);
        }
        if (ids.size() != 1) return group.items.front().text + " is not shared";
    }
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
        tally.report(id, {});
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
    if (!model) return tally.skip(id->text, model.error());
    std::string difference = compareParameters(*model, *parameters);
    if (difference.empty()) difference = compareTotal(*model, recorded.find("total"));
    if (const Document* tied = recorded.find("tied"); tied != nullptr && difference.empty())
        difference = compareTies(*model, *tied);
    if (const Document* blocks = recorded.find("blocks"); blocks != nullptr && difference.empty())
        difference = compareBlocks(*model, *blocks);
    tally.report(id->text, difference);

    if (const Document* saved = recorded.find("config_saved"); saved != nullptr) {
        const auto again = modelOf(*saved);
        tally.report(id->text + " as saved", again ? compareParameters(*again, *parameters) : again.error().message);
    }
    if (const Document* old = recorded.find("old"); old != nullptr && old->find("config") != nullptr)
        checkVariant(tally, id->text + " as older versions wrote it", *old->find("config"), *old->find("total"));
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
    const auto model = modelOf(config);
    if (!model) return tally.skip(name->text, model.error());
    std::string difference = compareTotal(*model, recorded.find("total"));
    std::int64_t inBlocks = 0;
    if (const Document* blocks = recorded.find("blocks"); blocks != nullptr && difference.empty()) {
        for (const Document& row : blocks->items) {
            const std::int64_t count = row.items.at(2).integer, elements = row.items.at(3).integer;
            inBlocks += count * elements;
            for (std::int64_t i = 0; i < count && difference.empty(); i += count > 1 ? count - 1 : 1) {
                const std::string block = row.items.at(0).text + "." + std::to_string(i);
                if (elementsBelow(*model, block) != elements) difference = block + " has other elements";
            }
        }
        const Document* root = recorded.find("root");
        if (difference.empty() && root != nullptr && parameterCount(*model) - inBlocks != root->integer)
            difference = "the root has " + std::to_string(root->integer);
    }
    tally.report(name->text, difference);
}

}  // namespace

int main(int argc, char** argv) {
    Tally tally;
    for (int i = 1; i < argc; ++i) {
        std::ostringstream text;
        text << std::ifstream(argv[i], std::ios::binary).rdbuf();
        const auto file = parseJson(text.str(), argv[i]);
        if (!file) {
            tally.report(argv[i], describe(file.error()));
            continue;
        }
        const Document* cases = file->find("cases");
        const Document* models = file->find("models");
        if (cases == nullptr && models == nullptr) tally.report(argv[i], "neither cases nor models");
        if (cases != nullptr)
            for (const Document& recorded : cases->items) checkCase(tally, recorded);
        if (models != nullptr)
            for (const Document& recorded : models->items) checkFullSize(tally, recorded);
    }
    std::printf("%d equal, %d differ, %d not expressible\n", tally.equal, tally.different, tally.inexpressible);
    return tally.different == 0 && argc > 1 ? 0 : 1;
}
