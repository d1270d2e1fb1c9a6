// Holds recorded verdicts of the official safetensors reader against ours.
//   check_safetensors FILE...
// FILE: {"cases": {NAME: {"bytes_hex": ..., "result": "accepted ['a', ...]" or an error}}}. Exit 1 on any difference.

#include <cstdio>
#include <fstream>
#include <sstream>

#include "core/base/document.h"
#include "core/model/safetensors.h"

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
    return different == 0 ? 0 : 1;
}
