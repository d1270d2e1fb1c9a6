#pragma once

// Hugging Face `config.json` of every model type that is known here, read as transformers 5.24 reads it (framework
// semantics 9.3): missing and null keys mean what they mean to that model type.
//
// Language models of the llama family and GPT-2 become a DecoderSpec, whose kernels are held against recordings; all
// others an HfSpec, whose model says in its caveats what is not exact.

#include <string>
#include <string_view>
#include <vector>

#include "core/base/document.h"
#include "core/base/result.h"
#include "core/model/spec.h"

namespace shardscope::core {

/// Reads a parsed config.json. `file` is its name for messages, `name` the model's. Errors name the key and its line: a
/// model type or class that is not known (Unsupported; the hint offers the safetensors way), a value of the wrong kind
/// or size, sizes that do not divide.
[[nodiscard]] Result<ModelSpec> readHfModel(const Document& config, const std::string& file, const std::string& name);
/// The same from the file's bytes.
[[nodiscard]] Result<ModelSpec> parseHfModel(std::string_view bytes, const std::string& file, const std::string& name);

/// Errors: as `readHfModel`, a sequence beyond a table of learnt positions, sizes beyond 2^62 bytes or FLOPs.
[[nodiscard]] Result<Model> buildHfModel(const HfSpec& spec, const Workload& workload);

/// The model types, sorted.
[[nodiscard]] std::vector<std::string_view> knownHfModelTypes();

/// What one asks of a model before it is built.
struct HfInputs {
    bool takesSequence = true;     ///< false: images or sounds, whose length the model knows
    std::int64_t mostTokens = 0;   ///< of a sequence; 0: any
    bool learntPositions = false;  ///< more are refused
};
[[nodiscard]] HfInputs inputsOf(const HfSpec& spec);

/// Writes sizes into the config under the keys of its model type ("layers", "hidden", "heads", "kv_heads", "head_dim",
/// "mlp", "vocab", ...); false where the model type has no such key.
[[nodiscard]] bool setSize(HfSpec& spec, std::string_view what, std::int64_t value);

}  // namespace shardscope::core
