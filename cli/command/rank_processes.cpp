#include "cli/command/rank_processes.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>

#include "cli/face/text_picture.h"
#include "core/base/printable.h"
#include "runtime/launch/launch.h"

namespace shardscope::cli {

using core::ErrorCode;
using core::fail;
using core::Result;

namespace {
constexpr std::int64_t kUsualJoinTimeout = 180, kUsualTimeout = 1800;  // seconds

/// Those that say what becomes of a report: "-o, --json"; empty: none is given.
std::string optionsOfReports(const Arguments& arguments) {
    std::vector<std::string_view> given;
    if (!arguments.outputs.empty()) given.emplace_back("-o");
    if (!arguments.logJson.empty()) given.emplace_back("--log-json");
    if (arguments.json) given.emplace_back("--json");
    if (arguments.compare) given.emplace_back("--compare");
    if (!arguments.machine.empty()) given.emplace_back("--machine");
    return fmt::format("{}", fmt::join(given, ", "));
}

}  // namespace

Result<RankPlacement> placementOf(const Arguments& arguments, runtime::DeviceKind device, std::int64_t ranks) {
    RankPlacement placement;
    const runtime::GlooPatience patience{
        std::chrono::seconds(arguments.timeout > 0 ? arguments.timeout : kUsualTimeout),
        std::chrono::seconds(arguments.joinTimeout > 0 ? arguments.joinTimeout : kUsualJoinTimeout)};
    if (const auto launched = runtime::launchedRank()) {
        placement.kind = RankPlacement::Kind::OneRank;
        placement.process = *launched;
        placement.process.patience = patience;
        placement.launched = true;
        return placement;
    }
    placement.process.store = {"127.0.0.1", 0};
    placement.process.patience = patience;
    if (!arguments.rendezvous.empty()) {
        SHARDSCOPE_ASSIGN(placement.process.store, runtime::endpointOf(arguments.rendezvous).map_error([](auto error) {
            error.where = "--rendezvous";
            return error;
        }));
    }
    const bool threads = arguments.ranksAs == "threads";
    if (threads && (arguments.rank >= 0 || !arguments.rendezvous.empty()))
        return fail(ErrorCode::Usage, "threads meet without a rendezvous", "--ranks-as threads",
                    "leave --rank and --rendezvous out, or take processes");
    if (threads && (arguments.timeout > 0 || arguments.joinTimeout > 0))
        return fail(ErrorCode::Usage, "threads wait for one another without a limit", "--ranks-as threads",
                    "leave --timeout and --join-timeout out, or take processes");
    if (arguments.rank >= 0) {
        if (arguments.rendezvous.empty() || placement.process.store.port == 0)
            return fail(ErrorCode::Usage, fmt::format("rank {} knows no place to meet the others", arguments.rank),
                        "--rank", "say it with --rendezvous HOST:PORT, the same for every rank");
        if (placement.process.store.host == "0.0.0.0" || placement.process.store.host == "::")
            return fail(ErrorCode::Usage, "an address at which no other machine finds rank 0", "--rendezvous",
                        "give the address of rank 0's machine that the others reach, the same for every rank");
        if (arguments.rank >= ranks)
            return fail(ErrorCode::Usage, fmt::format("found rank {}, the plan has {}", arguments.rank, ranks),
                        "--rank", fmt::format("ranks are 0 to {}; --ranks says how many", ranks - 1));
        if (arguments.rank == 0) {
            const std::string& host = placement.process.store.host;
            if (const std::string address = runtime::loopbackBehind(host); !address.empty())
                return fail(
                    ErrorCode::Usage,
                    fmt::format("\"{}\" is {} on this machine, where no other machine finds rank 0", host, address),
                    "--rendezvous",
                    "give the address of rank 0's machine that the others reach, or localhost if all ranks "
                    "are here");
        }
        placement.process.rank = arguments.rank;
        placement.kind = arguments.rank == 0 ? RankPlacement::Kind::Server : RankPlacement::Kind::OneRank;
        return placement;
    }
    const bool usual = device == runtime::DeviceKind::Cpu && ranks > 1;
    if (arguments.ranksAs == "processes" || (usual && !threads) || !arguments.rendezvous.empty())
        placement.kind = RankPlacement::Kind::Processes;
    return placement;
}

Result<void> runOneRank(const runtime::TrainConfig& config, const RankPlacement& placement,
                        const Arguments& arguments) {
    if (const std::string reports = optionsOfReports(arguments); !placement.launched && !reports.empty())
        std::fputs(fmt::format("rank {}: {} not used here: rank 0 reports\n", placement.process.rank, reports).c_str(),
                   stderr);
    runtime::RankEnd end = runtime::runRank(config, placement.process);
    if (placement.launched && !end.result && end.told) std::exit(exitCodeOf(end.result.error().code));
    if (!end.result || placement.launched) return std::move(end.result);
    const std::string done =
        fmt::format("rank {} of {} is done; rank 0 reports\n", placement.process.rank, config.plan.mesh.size());
    if (!arguments.json) return print(done);
    std::fputs(done.c_str(), stderr);  // nothing but JSON goes to the other stream
    return {};
}

Result<runtime::TrainReport> trainAs(const runtime::TrainConfig& config, const RankPlacement& placement,
                                     const Arguments& arguments) {
    if (placement.kind == RankPlacement::Kind::Threads) return runtime::trainSteps(config);
    if (placement.kind == RankPlacement::Kind::Server) return runtime::runRankAndServe(config, placement.process);
    runtime::LaunchOptions options;
    options.arguments = arguments.words;
    options.store = placement.process.store;
    options.said = [](std::int64_t rank, const std::string& line) {
        std::fputs(fmt::format("[rank {}] {}\n", rank, core::printable(line)).c_str(), stderr);
    };
    return runtime::launchRanks(config, options);
}

std::string clockText(const std::vector<runtime::RankClock>& clocks) {
    std::int64_t offset = 0, residual = 0;
    double drift = 0;
    for (const runtime::RankClock& clock : clocks) {
        offset = std::max(offset, std::abs(clock.offset));
        residual = std::max(residual, clock.residual);
        drift = std::max(drift, std::fabs(clock.driftPerSecond));
    }
    if (offset == 0 && drift == 0)
        return fmt::format("\nAll ranks read one clock, to within {}\n", durationText(residual));
    return fmt::format(
        "\nThe ranks' clocks were up to {} apart and drifted up to {:.1f} us a second; their times are corrected, to "
        "within {}\n",
        durationText(offset), drift / 1e3, durationText(residual));
}

}  // namespace shardscope::cli
