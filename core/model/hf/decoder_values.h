#pragma once

// A decoder of the table with its config read: what its modules and its forward pass need.

#include <string>
#include <vector>

#include "core/model/hf/architecture.h"
#include "core/model/hf/config_keys.h"
#include "core/model/hf/decoder_table.h"
#include "core/model/spec.h"

namespace shardscope::core {

struct DecoderValues {
    const DecoderRow* row = nullptr;
    std::int64_t vocab = 1, hidden = 1, intermediate = 1, layers = 1, heads = 1, kvHeads = 1, headDim = 1;
    std::int64_t positions = 1, rotary = 1, window = 0;
    bool tied = false, qkvBias = false, outputBias = false, mlpBias = false, parallel = false, qkNorm = false;
    bool dropout = false;  ///< of attention's probabilities
    double epsilon = 1e-6;
    std::string activation = "silu";

    // Mixtures of experts.
    std::int64_t experts = 0, expertsPerToken = 0, expertWidth = 0, sharedWidth = 0, denseWidth = 0;
    std::vector<bool> sparse;  ///< by layer; empty: none
};

[[nodiscard]] DecoderValues readDecoderValues(ConfigKeys& keys, const DecoderRow& row);
[[nodiscard]] DecoderValues valuesOf(const DecoderSpec& spec);

/// "LlamaDecoderLayer" for "DecoderLayer".
[[nodiscard]] std::string classOf(const DecoderValues& d, std::string_view part);

/// Adds the modules of a decoder layer, and gives its forward pass.
void addDecoderLayer(Architecture& a, const DecoderValues& d, const std::string& at, bool sparse);
[[nodiscard]] Forward decoderLayer(const DecoderValues& d, bool sparse);

/// The whole decoder under `body` ("model", or "" for a base model): embedding, layers, norm.
void addDecoderBody(Architecture& a, const DecoderValues& d, const std::string& body);

}  // namespace shardscope::core
