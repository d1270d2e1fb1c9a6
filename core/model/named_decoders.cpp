#include "core/model/named_decoders.h"

#include <array>
#include <string>

namespace shardscope::core {
namespace {

struct Row {
    std::string_view name, modelType;
    std::int64_t vocab, hidden, intermediate, layers, heads, kvHeads;
    std::int64_t headDim;  ///< 0: hidden / heads
    std::int64_t positions;
    bool tied;
    double epsilon;
    std::int64_t slidingWindow = 0;
};

// The keys of the public config.json files; parameter totals are those of framework semantics 9.3.
constexpr std::array<Row, 36> kRows{{
    {"llama-2-7b", "llama", 32000, 4096, 11008, 32, 32, 32, 0, 4096, false, 1e-5},
    {"llama-2-13b", "llama", 32000, 5120, 13824, 40, 40, 40, 0, 4096, false, 1e-5},
    {"llama-2-70b", "llama", 32000, 8192, 28672, 80, 64, 8, 0, 4096, false, 1e-5},
    {"llama-3-8b", "llama", 128256, 4096, 14336, 32, 32, 8, 0, 8192, false, 1e-5},
    {"llama-3-70b", "llama", 128256, 8192, 28672, 80, 64, 8, 0, 8192, false, 1e-5},
    {"llama-3.1-8b", "llama", 128256, 4096, 14336, 32, 32, 8, 0, 131072, false, 1e-5},
    {"llama-3.1-70b", "llama", 128256, 8192, 28672, 80, 64, 8, 0, 131072, false, 1e-5},
    {"llama-3.1-405b", "llama", 128256, 16384, 53248, 126, 128, 8, 0, 131072, false, 1e-5},
    {"llama-3.2-1b", "llama", 128256, 2048, 8192, 16, 32, 8, 64, 131072, true, 1e-5},
    {"llama-3.2-3b", "llama", 128256, 3072, 8192, 28, 24, 8, 128, 131072, true, 1e-5},
    {"tinyllama-1.1b", "llama", 32000, 2048, 5632, 22, 32, 4, 0, 2048, false, 1e-5},
    {"smollm2-1.7b", "llama", 49152, 2048, 8192, 24, 32, 32, 0, 8192, true, 1e-5},
    {"yi-6b", "llama", 64000, 4096, 11008, 32, 32, 4, 0, 4096, false, 1e-5},
    {"codellama-34b", "llama", 32000, 8192, 22016, 48, 64, 8, 0, 16384, false, 1e-5},
    {"mistral-7b", "mistral", 32000, 4096, 14336, 32, 32, 8, 0, 32768, false, 1e-5, 4096},
    {"mistral-7b-v0.3", "mistral", 32768, 4096, 14336, 32, 32, 8, 0, 32768, false, 1e-5},
    {"mistral-small-24b", "mistral", 131072, 5120, 32768, 40, 32, 8, 128, 32768, false, 1e-5},
    {"qwen2-0.5b", "qwen2", 151936, 896, 4864, 24, 14, 2, 0, 131072, true, 1e-6},
    {"qwen2-1.5b", "qwen2", 151936, 1536, 8960, 28, 12, 2, 0, 131072, true, 1e-6},
    {"qwen2-7b", "qwen2", 152064, 3584, 18944, 28, 28, 4, 0, 131072, false, 1e-6},
    {"qwen2-72b", "qwen2", 152064, 8192, 29568, 80, 64, 8, 0, 32768, false, 1e-6},
    {"qwen2.5-7b", "qwen2", 152064, 3584, 18944, 28, 28, 4, 0, 131072, false, 1e-6},
    {"qwen2.5-14b", "qwen2", 152064, 5120, 13824, 48, 40, 8, 0, 131072, false, 1e-6},
    {"qwen2.5-32b", "qwen2", 152064, 5120, 27648, 64, 40, 8, 0, 131072, false, 1e-6},
    {"qwen2.5-72b", "qwen2", 152064, 8192, 29568, 80, 64, 8, 0, 131072, false, 1e-6},
    {"qwen3-0.6b", "qwen3", 151936, 1024, 3072, 28, 16, 8, 128, 40960, true, 1e-6},
    {"qwen3-1.7b", "qwen3", 151936, 2048, 6144, 28, 16, 8, 128, 40960, true, 1e-6},
    {"qwen3-4b", "qwen3", 151936, 2560, 9728, 36, 32, 8, 128, 40960, true, 1e-6},
    {"qwen3-8b", "qwen3", 151936, 4096, 12288, 36, 32, 8, 128, 40960, false, 1e-6},
    {"qwen3-14b", "qwen3", 151936, 5120, 17408, 40, 40, 8, 128, 40960, false, 1e-6},
    {"qwen3-32b", "qwen3", 151936, 5120, 25600, 64, 64, 8, 128, 40960, false, 1e-6},
    {"gpt2", "gpt2", 50257, 768, 3072, 12, 12, 12, 0, 1024, true, 1e-5},
    {"gpt2-medium", "gpt2", 50257, 1024, 4096, 24, 16, 16, 0, 1024, true, 1e-5},
    {"gpt2-large", "gpt2", 50257, 1280, 5120, 36, 20, 20, 0, 1024, true, 1e-5},
    {"gpt2-xl", "gpt2", 50257, 1600, 6400, 48, 25, 25, 0, 1024, true, 1e-5},
    {"distilgpt2", "gpt2", 50257, 768, 3072, 6, 12, 12, 0, 1024, true, 1e-5},
}};

}  // namespace

std::optional<DecoderSpec> namedDecoder(std::string_view name) {
    for (const Row& row : kRows) {
        if (row.name != name) continue;
        DecoderSpec spec;
        spec.name = row.name;
        spec.modelType = row.modelType;
        spec.vocab = row.vocab;
        spec.hidden = row.hidden;
        spec.intermediate = row.intermediate;
        spec.layers = row.layers;
        spec.heads = row.heads;
        spec.kvHeads = row.kvHeads;
        spec.headDim = row.headDim > 0 ? row.headDim : row.hidden / row.heads;
        spec.positions = row.positions;
        spec.tiedEmbeddings = row.tied;
        spec.qkvBias = row.modelType == "qwen2";
        spec.qkNorm = row.modelType == "qwen3";
        spec.normEpsilon = row.epsilon;
        spec.slidingWindow = row.slidingWindow;
        return spec;
    }
    return std::nullopt;
}

std::vector<std::string_view> decoderNames() {
    std::vector<std::string_view> names;
    names.reserve(kRows.size());
    for (const Row& row : kRows) names.push_back(row.name);
    return names;
}

}  // namespace shardscope::core
