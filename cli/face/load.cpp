#include "cli/face/load.h"

#include <fmt/format.h>

#include <algorithm>

#include "cli/face/files.h"
#include "core/model/exported_module.h"
#include "core/model/hf_model.h"
#include "core/model/module_tree.h"
#include "core/model/safetensors.h"
#include "core/scenario/builtin_models.h"

namespace shardscope::cli {
namespace {

namespace fs = std::filesystem;
using core::Document;
using core::ErrorCode;
using core::fail;
using core::Result;

constexpr std::size_t kMostShards = 10'000;

/// What a model without a name of its own is called: its folder, or the file without its ending.
std::string nameFor(const fs::path& path) {
    std::error_code ignored;
    const fs::path whole = fs::weakly_canonical(path, ignored);
    const std::string file = whole.filename().string();
    if (file == "config.json" || hasEnding(file, ".safetensors.index.json"))
        return whole.parent_path().filename().string();
    return fs::is_directory(whole, ignored) ? file : whole.stem().string();
}

Result<core::SafetensorsHeader> readHeader(const fs::path& path) {
    const std::string name = path.string();
    SHARDSCOPE_ASSIGN(const std::int64_t size, sizeOfFile(path));
    SHARDSCOPE_ASSIGN(const std::string start, readStart(path, core::kSafetensorsPrefixBytes));
    SHARDSCOPE_ASSIGN(const std::int64_t header, core::safetensorsHeaderBytes(start, size, name));
    SHARDSCOPE_ASSIGN(const std::string bytes, readStart(path, header));
    return core::parseSafetensorsHeader(bytes, size, name);
}

Result<core::ModelSpec> fromShards(const std::string& name, const std::vector<fs::path>& files,
                                   const core::SafetensorsIndex* index, const core::Work& work) {
    if (files.size() > kMostShards)
        return fail(ErrorCode::Input, fmt::format("{} shards; at most {} are read", files.size(), kMostShards), name,
                    "name the config.json instead");
    std::vector<core::SafetensorsHeader> headers;
    for (const fs::path& file : files) {
        SHARDSCOPE_TRY(work.goOn());
        SHARDSCOPE_ASSIGN(core::SafetensorsHeader header, readHeader(file));
        headers.push_back(std::move(header));
    }
    SHARDSCOPE_ASSIGN(core::ShapesSpec shapes, core::shapesFromSafetensors(name, headers, index));
    return core::ModelSpec(std::move(shapes));
}

Result<core::ModelSpec> fromIndex(const fs::path& path, const core::Work& work) {
    SHARDSCOPE_ASSIGN(const std::string bytes, readFile(path));
    SHARDSCOPE_ASSIGN(const core::SafetensorsIndex index, core::parseSafetensorsIndex(bytes, path.string()));
    std::vector<fs::path> files;
    std::vector<std::string> missing;
    for (const std::string& shard : index.shards) {
        std::error_code ignored;
        files.push_back(path.parent_path() / shard);
        if (!fs::exists(files.back(), ignored)) missing.push_back(shard);
    }
    if (!missing.empty()) return tl::unexpected(core::missingShards(index, missing));
    return fromShards(nameFor(path), files, &index, work);
}

Result<core::ModelSpec> fromFolder(const fs::path& path, const core::Work& work) {
    std::error_code error;
    const fs::path config = path / "config.json", index = path / "model.safetensors.index.json";
    std::optional<core::Error> configError;
    if (fs::exists(config, error)) {
        SHARDSCOPE_ASSIGN(const std::string bytes, readFile(config));
        auto spec = core::parseHfModel(bytes, config.string(), nameFor(path));
        if (spec) return spec;
        // A family that is not known still has its weights' shapes beside the config.
        if (spec.error().code != ErrorCode::Unsupported) return tl::unexpected(std::move(spec).error());
        configError = std::move(spec).error();
    }
    // What keeps the weights from standing in for the config is told beside what is wrong with the config.
    const auto insteadOfConfig = [&](Result<core::ModelSpec> spec) -> Result<core::ModelSpec> {
        if (spec || !configError) return spec;
        core::Error both = spec.error();
        both.message +=
            fmt::format("; its weights were looked at because {}: {}", configError->where, configError->message);
        if (both.hint.empty()) both.hint = configError->hint;
        return tl::unexpected(std::move(both));
    };
    if (fs::exists(index, error)) return insteadOfConfig(fromIndex(index, work));
    std::vector<fs::path> files;
    for (fs::directory_iterator it(path, error), end; !error && it != end; it.increment(error))
        if (hasEnding(it->path().string(), ".safetensors")) files.push_back(it->path());
    if (error)
        return fail(ErrorCode::Io, "cannot list this folder: " + error.message(), path.string(),
                    "see that you may read it, or name a file in it");
    if (!files.empty()) {
        std::sort(files.begin(), files.end());
        return insteadOfConfig(fromShards(nameFor(path), files, nullptr, work));
    }
    if (configError) return tl::unexpected(*configError);
    return fail(ErrorCode::Input, "no config.json, no model.safetensors.index.json and no .safetensors file here",
                path.string(), "name a Hugging Face folder, one of these files, or a built-in model");
}

Result<core::ModelSpec> fromDocument(const Document& document, const fs::path& path, const core::Work& work) {
    const std::string name = path.string();
    if (document.find("weight_map") != nullptr) return fromIndex(path, work);
    if (document.find("model_type") != nullptr || document.find("architectures") != nullptr ||
        path.filename() == "config.json")
        return core::readHfModel(document, name, nameFor(path));
    if (core::isExportedModule(document)) {
        SHARDSCOPE_ASSIGN(core::ShapesSpec spec, core::readExportedModule(document, name));
        return core::ModelSpec(std::move(spec));
    }
    if (document.find("modules") != nullptr) {
        SHARDSCOPE_ASSIGN(core::ModuleTreeSpec spec, core::readModuleTree(document, name));
        return core::ModelSpec(std::move(spec));
    }
    return fail(
        ErrorCode::Input,
        "no model: neither a config.json (model_type), nor an index of safetensors (weight_map), nor a module tree "
        "(modules)",
        name, "docs/model-tree.md describes module trees; `shardscope models` lists what needs no file");
}

Result<Document> readDocument(const fs::path& path) {
    SHARDSCOPE_ASSIGN(const std::string bytes, readFile(path));
    return hasEnding(path.string(), ".json") ? core::parseJson(bytes, path.string())
                                             : core::parseToml(bytes, path.string());
}

/// Whether a parsed TOML file is a scenario: it has one of its sections.
bool looksLikeScenario(const Document& document) {
    if (document.kind != Document::Kind::Table || document.members.empty())
        return true;  // all defaults, or a clear error
    return std::any_of(document.members.begin(), document.members.end(), [](const auto& member) {
        return member.first == "model" || member.first == "cluster" || member.first == "training" ||
               member.first == "parallelism" || member.first == "precision";
    });
}

fs::path inFolder(const fs::path& folder, const std::string& path) {
    const fs::path own(path);
    return own.is_absolute() || folder.empty() ? own : folder / own;
}

}  // namespace

Result<core::ModelSpec> loadModel(const fs::path& path, const core::Work& work) {
    std::error_code error;
    if (fs::is_directory(path, error)) return fromFolder(path, work);
    if (hasEnding(path.string(), ".safetensors")) return fromShards(nameFor(path), {path}, nullptr, work);
    SHARDSCOPE_ASSIGN(const Document document, readDocument(path));
    SHARDSCOPE_TRY(work.goOn());
    return fromDocument(document, path, work);
}

Result<core::ScenarioInputs> loadInputs(const core::Scenario& scenario, const fs::path& folder,
                                        const core::Work& work) {
    SHARDSCOPE_TRY(work.goOn());
    core::ScenarioInputs inputs;
    const auto& model = scenario.model;
    if (!model.name.empty() && !model.path.empty())
        return fail(ErrorCode::Input, "both model.name and model.path are given", scenario.placeOf("model.path"),
                    "keep one of the two");
    if (!model.path.empty()) {
        SHARDSCOPE_ASSIGN(inputs.model, loadModel(inFolder(folder, model.path), work));
    } else if (!model.name.empty()) {
        SHARDSCOPE_ASSIGN(inputs.model, core::builtinModel(model.name, scenario.placeOf("model.name")));
    } else {
        return fail(ErrorCode::Input, "no model is given", scenario.placeOf("model.name"),
                    "set model.name to a built-in model (`shardscope models`) or model.path to a file or folder");
    }
    if (!scenario.cluster.path.empty()) {
        const fs::path path = inFolder(folder, scenario.cluster.path);
        SHARDSCOPE_ASSIGN(inputs.clusterFile, readDocument(path));
        inputs.clusterFileName = path.string();
    }
    return inputs;
}

Result<Loaded> load(const std::string& what, std::span<const std::string> overrides, const core::Work& work) {
    SHARDSCOPE_TRY(work.enter(core::WorkStage::Reading));
    Loaded loaded;
    loaded.source = what;
    const fs::path path(what);
    std::error_code error;
    const bool exists = fs::exists(path, error);
    const bool bareWord = what.find('/') == std::string::npos && !hasEnding(what, ".toml") &&
                          !hasEnding(what, ".json") && !hasEnding(what, ".safetensors");
    if (!exists && bareWord) {
        auto builtin = core::builtinModel(what, "");
        if (!builtin) {
            builtin.error().message =
                fmt::format("\"{}\" is neither a file, a folder nor a built-in model", what.substr(0, 200));
            return tl::unexpected(std::move(builtin).error());
        }
        loaded.scenario.model.name = what;
    } else if (!exists || fs::is_directory(path, error) || !hasEnding(what, ".toml")) {
        if (!exists)
            return fail(ErrorCode::Io, "no such file or folder", what,
                        "check the path; `shardscope models` lists the built-in models");
        loaded.scenario.model.path = what;
    } else {
        SHARDSCOPE_ASSIGN(const Document document, readDocument(path));
        if (looksLikeScenario(document)) {
            SHARDSCOPE_ASSIGN(loaded.scenario, core::parseScenario(document, what));
            loaded.folder = path.parent_path();
        } else {
            loaded.scenario.model.path = what;
        }
    }
    for (const std::string& assignment : overrides) SHARDSCOPE_TRY(core::applyOverride(loaded.scenario, assignment));
    SHARDSCOPE_ASSIGN(loaded.inputs, loadInputs(loaded.scenario, loaded.folder, work));
    return loaded;
}

}  // namespace shardscope::cli
