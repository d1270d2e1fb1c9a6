#include "cli/face/run_machine.h"

#include <fmt/format.h>

#include <utility>

#include "cli/face/files.h"
#include "core/base/printable.h"
#include "traces/formats/run_file.h"

namespace shardscope::cli {

using core::Document;
using core::ErrorCode;
using core::fail;
using core::Result;

namespace {

std::string linkText(const core::ArtificialLink& link) {
    return link.given() ? fmt::format("{:g} GB/s, {:g} us", link.bandwidth * 1e-9, link.latency * 1e6) : "none";
}

}  // namespace

Document documentOf(const RunMachine& machine) {
    Document out = Document::table();
    out.set("processor", Document::of(machine.processor));
    out.set("cores", Document::of(machine.cores));
    out.set("device", Document::of(machine.device));
    out.set("transport", Document::of(machine.transport));
    out.set("ranks", Document::of(machine.ranks));
    out.set("link_bandwidth", Document::of(machine.link.bandwidth));
    out.set("link_latency", Document::of(machine.link.latency));
    return out;
}

Result<RunMachine> runMachineFrom(const Document& document, const std::string& where) {
    RunMachine machine;
    const auto wrong = [&](const char* key, const char* kind) {
        return fail(ErrorCode::Input, fmt::format("'{}' is no {}", key, kind), where, formats::kWriteRunAnew);
    };
    for (const auto& [key, text] : {std::pair{"processor", &machine.processor}, std::pair{"device", &machine.device},
                                    std::pair{"transport", &machine.transport}}) {
        const Document* found = document.find(key);
        if (found == nullptr || found->kind != Document::Kind::Text) return wrong(key, "text");
        *text = found->text;
    }
    for (const auto& [key, number] : {std::pair{"cores", &machine.cores}, std::pair{"ranks", &machine.ranks}}) {
        const Document* found = document.find(key);
        if (found == nullptr || found->kind != Document::Kind::Integer || found->integer < 1)
            return wrong(key, "count");
        *number = found->integer;
    }
    for (const auto& [key, number] :
         {std::pair{"link_bandwidth", &machine.link.bandwidth}, std::pair{"link_latency", &machine.link.latency}}) {
        const Document* found = document.find(key);
        constexpr double kMost = 1e18;  // as in the machine's times
        if (found == nullptr || !found->isNumber() || !(found->number() >= 0 && found->number() <= kMost))
            return wrong(key, "number from 0 to 1e18");
        *number = found->number();
    }
    return machine;
}

Result<core::MachineTimes> readTimesFor(const RunMachine& machine, const std::string& path, const std::string& run) {
    SHARDSCOPE_ASSIGN(const std::string text, readFile(path));
    SHARDSCOPE_ASSIGN(const Document document, core::parseJson(text, path));
    SHARDSCOPE_ASSIGN(core::MachineTimes times, core::parseMachineTimes(document, path));
    const auto differs = [&](const char* what, const std::string& file, const std::string& here) -> Result<void> {
        if (file == here) return {};
        return fail(ErrorCode::Input, fmt::format("measured with the {} {}, {} has {}", what, file, run, here), path,
                    "measure anew with the same options (`shardscope calibrate -o FILE.json`)");
    };
    SHARDSCOPE_TRY(differs("processor", core::printable(times.processor), machine.processor));
    SHARDSCOPE_TRY(differs("number of cores", std::to_string(times.cores), std::to_string(machine.cores)));
    SHARDSCOPE_TRY(differs("device", core::printable(times.device), machine.device));
    if (machine.ranks > 1) SHARDSCOPE_TRY(differs("transport", core::printable(times.transport), machine.transport));
    SHARDSCOPE_TRY(differs("artificial link", linkText(times.link), linkText(machine.link)));
    return times;
}

}  // namespace shardscope::cli
