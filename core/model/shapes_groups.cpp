#include "core/model/shapes_groups.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <set>
#include <string_view>
#include <tuple>

namespace shardscope::core {
namespace {

/// A place in a name where a number stands: "model.layers." and 7 in "model.layers.7.mlp.weight", which goes on at
/// `end`.
struct NumberedPlace {
    std::string_view prefix;
    std::int64_t number;
    std::size_t end;
};

bool isDigit(char c) {
    return c >= '0' && c <= '9';
}

/// Components that are or end in a number of at most nine digits, outermost first; the last component is the
/// parameter's own.
std::vector<NumberedPlace> numberedPlaces(std::string_view name) {
    std::vector<NumberedPlace> places;
    for (std::size_t dot = name.find('.'); dot != std::string_view::npos; dot = name.find('.', dot + 1)) {
        std::size_t begin = dot;
        while (begin > 0 && isDigit(name[begin - 1]) && dot - begin < 9) --begin;
        if (begin == dot) continue;
        // Part of a name: Whisper's convolutions are two, and ResNet's "layer1.0" lies in a list of its own.
        const bool glued = begin > 0 && name[begin - 1] != '.' && name[begin - 1] != '_';
        const bool listFollows = dot + 1 < name.size() && isDigit(name[dot + 1]);
        if (glued && (listFollows || name.substr(0, begin).ends_with("conv"))) continue;
        std::int64_t number = 0;
        for (std::size_t i = begin; i < dot; ++i) number = number * 10 + (name[i] - '0');
        places.push_back({name.substr(0, begin), number, dot});
    }
    return places;
}

bool contains(std::string_view text, std::string_view part) {
    return text.find(part) != std::string_view::npos;
}

bool isBuffer(const ShapesSpec::Entry& entry) {
    const bool floating = entry.dtype == DType::F64 || entry.dtype == DType::F32 || entry.dtype == DType::BF16 ||
                          entry.dtype == DType::F16;
    // GPT-2's public files hold causal masks ("h.0.attn.bias", [1, 1, n, n]); older ones the rotary frequencies
    // (framework semantics 9.3).
    const bool mask = entry.shape.size() == 4 && entry.shape[0] == 1 && entry.shape[1] == 1 &&
                      entry.shape[2] == entry.shape[3] && entry.name.ends_with(".attn.bias");
    const bool empty = std::find(entry.shape.begin(), entry.shape.end(), 0) != entry.shape.end();
    for (const std::string_view name :
         {"inv_freq", "masked_bias", "e_score_correction_bias", "final_logits_bias"})  // rotary, GPT-2, DeepSeek, BART
        if (entry.name.ends_with(name)) return true;
    return !floating || empty || mask;
}

/// T5 and BART name the table that encoder and decoder use "shared".
bool isSharedTable(std::string_view name) {
    return name == "shared.weight" || name.ends_with(".shared.weight");
}

bool comesBefore(std::string_view name) {
    if (contains(name, "embed_out")) return false;  // GPT-NeoX's head
    for (const std::string_view word : {"embed", "wte", "wpe", "conv_proj", "patch", "class_token", "cls_token", "pos_",
                                        "position", "stem", "feature_extractor"})
        if (contains(name, word)) return true;
    return isSharedTable(name);
}

}  // namespace

bool looksUp(const std::string& name) {
    // Embeddings can have norms of their own.
    if (contains(name, "embed_out") || contains(name, "norm") || contains(name, "Norm")) return false;
    return contains(name, "embed") || contains(name, "wte") || contains(name, "wpe") || isSharedTable(name);
}

ShapesGroups groupByBlocks(const ShapesSpec& spec) {
    std::map<std::string_view, std::set<std::int64_t>> numbers;
    for (const ShapesSpec::Entry& entry : spec.entries)
        for (const NumberedPlace& place : numberedPlaces(entry.name)) numbers[place.prefix].insert(place.number);

    ShapesGroups groups;
    // Not an encoder's, prefix, number, module ("x.7" and "x.07" are two).
    using Key = std::tuple<bool, std::string_view, std::int64_t, std::string_view>;
    std::map<Key, ShapesBlock> blocks;
    std::set<std::string_view> stacks;
    for (std::size_t i = 0; i < spec.entries.size(); ++i) {
        const ShapesSpec::Entry& entry = spec.entries[i];
        if (isBuffer(entry)) {
            groups.buffers.push_back(i);
            continue;
        }
        const auto places = numberedPlaces(entry.name);
        const auto repeated = std::find_if(places.begin(), places.end(), [&](const NumberedPlace& p) {
            // wav2vec2's convolutions run before its blocks and are wrapped by
            // nobody (transformers' _no_split_modules).
            return numbers[p.prefix].size() >= 2 && !contains(p.prefix, "feature_extractor.conv_layers");
        });
        if (repeated != places.end()) {
            const std::string_view prefix = repeated->prefix;
            const bool encoder = contains(prefix, "encoder") || contains(prefix, "vision");
            const std::string_view module = std::string_view(entry.name).substr(0, repeated->end);
            ShapesBlock& block = blocks[Key{!encoder, prefix, repeated->number, module}];
            block.module = module;
            block.entries.push_back(i);
            stacks.insert(prefix);
        } else {
            (comesBefore(entry.name) ? groups.before : groups.after).push_back(i);
        }
    }
    for (auto& [key, block] : blocks) groups.blocks.push_back(std::move(block));
    groups.stacks = stacks.size();
    return groups;
}

}  // namespace shardscope::core
