// Any document is a scenario or an error with a message; a scenario is written so that it reads back equal, takes any
// override, and resolves or says why not.

#include <cstdint>
#include <cstdlib>
#include <string>

#include "core/scenario/resolve.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace shardscope::core;
    // The part after a zero byte is an override.
    const std::string_view all(reinterpret_cast<const char*>(data), size);
    const std::size_t zero = all.find('\0');
    const auto document = parseToml(all.substr(0, zero), "fuzz.toml");
    if (!document) return 0;
    auto scenario = parseScenario(*document, "fuzz.toml");
    if (!scenario) {
        if (scenario.error().message.empty()) std::abort();
        return 0;
    }
    if (zero != std::string_view::npos) (void)applyOverride(*scenario, std::string(all.substr(zero + 1)));
    const auto text = parseToml(writeScenario(*scenario), "written.toml");
    if (!text) std::abort();
    const auto again = parseScenario(*text, "written.toml");
    if (!again || !(*again == *scenario)) std::abort();
    for (const char* strategy : {"single", "naive", "ddp", "fsdp"}) {
        const std::string word = strategy;
        const auto resolved = resolve(*scenario, {VitSpec{}, std::nullopt, ""}, {&word, 1});
        if (resolved && resolved->cases.size() != 1) std::abort();
    }
    return 0;
}
