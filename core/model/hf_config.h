#pragma once

// Hugging Face `config.json` of the decoder families that transformers builds as llama, mistral, qwen2, qwen3 and gpt2.
// Missing and null keys mean what they mean to transformers 5.24, which differs by model type (framework
// semantics 9.3).

#include <string>
#include <string_view>
#include <vector>

#include "core/base/document.h"
#include "core/base/result.h"
#include "core/model/spec.h"

namespace shardscope::core {

/// The model types that `readHfConfig` knows.
[[nodiscard]] const std::vector<std::string_view>& knownModelTypes();

/// Reads a parsed config.json. `file` is its name for messages, `name` the model's (its folder's name, say). Errors
/// name the key and its line: a model type or architecture that is not known (Unsupported; the hint offers the
/// safetensors way), a value of the wrong kind, a size that is zero, negative or absurd, heads that do not divide.
[[nodiscard]] Result<DecoderSpec> readHfConfig(const Document& config, const std::string& file,
                                               const std::string& name);

/// The same from the file's bytes.
[[nodiscard]] Result<DecoderSpec> parseHfConfig(std::string_view bytes, const std::string& file,
                                                const std::string& name);

/// Checks what every decoder must satisfy, wherever its numbers come from; `where` goes into the error.
[[nodiscard]] Result<void> checkDecoder(const DecoderSpec& spec, const std::string& where);

}  // namespace shardscope::core
