// Holds recorded verdicts of the official safetensors reader against ours, and the units that come out of the names in
// the files of transformers' models against the blocks of the models themselves.
//   check_safetensors FILE...
// FILE: {"cases": {NAME: {"bytes_hex": ..., "result": "accepted ['a', ...]" or an error}}}, or {"cases": [{"id",
// "params": [[name, shape]..], "saved": the same, or a sentence where they are equal, "blocks": [[name, class,
// elements,
// ..]..], "root": [elements, ..]}]}. Exit 1 on any difference.

#include <algorithm>
#include <cctype>
#include <cstdio>
#include <fstream>
#include <map>
#include <sstream>
#include <vector>

#include "core/base/document.h"
#include "core/model/safetensors.h"
#include "core/model/shapes_groups.h"
#include "core/model/spec.h"

using namespace shardscope::core;

namespace {

bool fromHex(const std::string& hex, std::string& bytes) {
    if (hex.size() % 2 != 0 || hex.find_first_not_of("0123456789abcdefABCDEF") != std::string::npos) return false;
    for (std::size_t i = 0; i < hex.size(); i += 2)
        bytes += static_cast<char>(std::stoi(hex.substr(i, 2), nullptr, 16));
    return true;
}

std::string verdictOf(const Result<SafetensorsHeader>& header) {
    if (!header) return "refused: " + describe(header.error());
    std::string names;
    for (const SafetensorsEntry& entry : header->entries) names += (names.empty() ? "'" : ", '") + entry.name + "'";
    return "accepted [" + names + "]";
}

struct Sizes {
    std::vector<std::int64_t> blocks;
    std::int64_t root = 0;
    bool operator==(const Sizes&) const = default;
};

std::string textOf(Sizes sizes) {
    std::string text = std::to_string(sizes.blocks.size()) + " blocks:";
    for (const std::int64_t size : sizes.blocks) text += " " + std::to_string(size);
    return text + ", beside them " + std::to_string(sizes.root);
}

/// Elements of the recorded blocks of lists ("encoder.layer.3"), sorted; a block inside of one counts with it, and one
/// that is no place in a list (BERT's embeddings) with what is left.
Sizes recordedSizes(const Document& recorded) {
    std::map<std::string, std::int64_t> lists;
    const auto isPlace = [](const std::string& name) {
        const std::string last = name.substr(name.rfind('.') + 1);
        return !last.empty() && std::all_of(last.begin(), last.end(), [](unsigned char c) { return std::isdigit(c); });
    };
    const Document& blocks = *recorded.find("blocks");
    for (const Document& block : blocks.items)
        if (isPlace(block.items.at(0).text)) lists[block.items[0].text] = block.items.at(2).integer;
    Sizes sizes;
    sizes.root = recorded.find("root")->items.at(0).integer;
    for (const Document& block : blocks.items) {
        const std::string& name = block.items.at(0).text;
        if (lists.contains(name)) continue;
        std::int64_t* at = &sizes.root;
        for (auto& [list, size] : lists)
            if (name.starts_with(list + ".")) at = &size;
        *at += block.items.at(2).integer;
    }
    for (const auto& [name, size] : lists) sizes.blocks.push_back(size);
    std::sort(sizes.blocks.begin(), sizes.blocks.end());
    return sizes;
}

Sizes sizesHere(const Document& tensors) {
    ShapesSpec spec;
    for (const Document& tensor : tensors.items) {
        Shape shape;
        for (const Document& d : tensor.items.at(1).items) shape.push_back(d.integer);
        spec.entries.push_back({tensor.items.at(0).text, shape, DType::F32});
    }
    const ShapesGroups groups = groupByBlocks(spec);
    Sizes sizes;
    for (const ShapesBlock& block : groups.blocks) {
        std::int64_t size = 0;
        for (const std::size_t i : block.entries) size += elementsOf(spec.entries[i].shape);
        sizes.blocks.push_back(size);
    }
    for (const auto* list : {&groups.before, &groups.after})
        for (const std::size_t i : *list) sizes.root += elementsOf(spec.entries[i].shape);
    std::sort(sizes.blocks.begin(), sizes.blocks.end());
    return sizes;
}

/// The tensors of a file written by transformers, grouped by their names alone.
bool unitsAreEqual(const Document& recorded) {
    const Document *id = recorded.find("id"), *params = recorded.find("params"), *saved = recorded.find("saved");
    if (id == nullptr || params == nullptr || recorded.find("blocks") == nullptr || recorded.find("root") == nullptr) {
        std::printf("%-32s unreadable\n", id == nullptr ? "a case" : id->text.c_str());
        return false;
    }
    const bool own = saved != nullptr && saved->kind == Document::Kind::List;
    const Sizes expected = recordedSizes(recorded), here = sizesHere(own ? *saved : *params);
    std::printf("%-32s %s\n", id->text.c_str(), expected == here ? "equal" : "differs");
    if (expected != here)
        std::printf("    recorded %s\n    here     %s\n", textOf(expected).c_str(), textOf(here).c_str());
    return expected == here;
}

}  // namespace

int main(int argc, char** argv) {
    int different = argc < 2 ? 1 : 0;
    int equal = 0;
    for (int i = 1; i < argc; ++i) {
        std::ostringstream text;
        text << std::ifstream(argv[i], std::ios::binary).rdbuf();
        const auto file = parseJson(text.str(), argv[i]);
        const Document* cases = file ? file->find("cases") : nullptr;
        if (cases == nullptr) {
            std::printf("%s: unreadable: %s\n", argv[i], file ? "no cases" : describe(file.error()).c_str());
            ++different;
            continue;
        }
        for (const Document& recorded : cases->items) ++(unitsAreEqual(recorded) ? equal : different);
        for (const auto& [name, value] : cases->members) {
            const Document* hex = value.find("bytes_hex");
            const Document* result = value.find("result");
            std::string bytes;
            if (hex == nullptr || result == nullptr || !fromHex(hex->text, bytes)) {
                std::printf("%-32s unreadable\n", name.c_str());
                ++different;
                continue;
            }
            const auto header = parseSafetensorsHeader(bytes, static_cast<std::int64_t>(bytes.size()), name);
            const std::string ours = verdictOf(header);
            const bool same = result->text.starts_with("accepted") ? ours == result->text : !header.has_value();
            ++(same ? equal : different);
            std::printf("%-32s %s\n", name.c_str(), same ? "equal" : "differs");
            if (!same) std::printf("    recorded %s\n    here     %s\n", result->text.c_str(), ours.c_str());
        }
    }
    std::printf("%d equal, %d differ\n", equal, different);
    return different == 0 && equal > 0 ? 0 : 1;
}
