#pragma once

// From what a user names to a scenario with its model and its hardware: reads the files, core reads their contents.

#include <filesystem>
#include <span>
#include <string>

#include "core/base/work.h"
#include "core/scenario/resolve.h"

namespace shardscope::cli {

struct Loaded {
    core::Scenario scenario;
    core::ScenarioInputs inputs;
    std::string source;            ///< what was given
    std::filesystem::path folder;  ///< against which the scenario's paths are read
};

/// `what` is a scenario file, or in its place a model: a built-in name, a Hugging Face folder, a config.json, a
/// .safetensors file, a folder with model.safetensors.index.json or .safetensors files, or a module-tree file.
/// `overrides` are "section.key=value", applied after the file. Errors: Io for files that cannot be read, Input for
/// their contents, each with file and place; Cancelled.
[[nodiscard]] core::Result<Loaded> load(const std::string& what, std::span<const std::string> overrides = {},
                                        const core::Work& work = {});

/// The model in a file or folder, without a scenario.
[[nodiscard]] core::Result<core::ModelSpec> loadModel(const std::filesystem::path& path, const core::Work& work = {});

/// The same again after the scenario has changed (a sweep's point, an edit in a panel): reads model.path and
/// cluster.path relative to `folder`.
[[nodiscard]] core::Result<core::ScenarioInputs> loadInputs(const core::Scenario& scenario,
                                                            const std::filesystem::path& folder,
                                                            const core::Work& work = {});

}  // namespace shardscope::cli
