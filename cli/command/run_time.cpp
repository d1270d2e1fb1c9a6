#include "cli/command/run_time.h"

#include <fmt/format.h>

#include <algorithm>
#include <variant>

#include "core/graph/build.h"

namespace shardscope::cli {

using core::ErrorCode;
using core::fail;
using core::Result;

namespace {

// What a device does on one core, about, and how long a run may take, asked for and not.
constexpr double kLoopFlopsPerSecond = 0.5e9, kCpuFlopsPerSecond = 15e9;
constexpr double kStepSeconds = 1e-3;  // a rank's, however small the model
constexpr double kMostSeconds = 3600, kMostOfPass = 600;

/// "90 s", "25 minutes", "40 hours", "12 days".
std::string readable(double seconds) {
    if (seconds < 120) return fmt::format("{:.0f} s", seconds);
    if (seconds < 2 * 3600) return fmt::format("{:.0f} minutes", seconds / 60);
    if (seconds < 2 * 86'400) return fmt::format("{:.0f} hours", seconds / 3600);
    return seconds < 1e9 ? fmt::format("{:.0f} days", seconds / 86'400)
                         : fmt::format("{:.2g} years", seconds / (365.25 * 86'400));
}

double rateOf(runtime::DeviceKind device) {
    return device == runtime::DeviceKind::Cpu ? kCpuFlopsPerSecond : kLoopFlopsPerSecond;
}

double flopsOfStep(const core::Model& model, const core::Plan& plan) {
    return (static_cast<double>(core::forwardFlops(model).value) +
            static_cast<double>(core::backwardFlops(model).value)) *
           static_cast<double>(plan.microBatches);
}

// The stages of one pipeline work one after another, so a step takes as long as one pipeline's samples do.
double secondsOf(const core::Model& model, const runtime::TrainConfig& config, std::int64_t steps) {
    return static_cast<double>(steps) * (flopsOfStep(model, config.plan) / rateOf(config.device) +
                                         static_cast<double>(config.plan.mesh.size()) * kStepSeconds);
}

/// Seconds that an artificial link takes for the transfers of a step, which wait for one another.
double linkSeconds(const core::StepGraph& graph, const runtime::ArtificialLink& link) {
    double longest = 0;
    for (const core::RankClass& rankClass : graph.classes) {
        double sum = 0;
        for (const core::Op& op : graph.opsOf(rankClass)) {
            if (!op.group.valid()) continue;
            const auto bytes = static_cast<double>(op.bytes.value);
            const std::int64_t members = graph.groups[op.group.index()].size;
            double wire = runtime::ArtificialLink::ringBytes(bytes, members);
            if (op.kind == core::OpKind::AllReduce) wire *= 2;
            if (op.kind == core::OpKind::Send || op.kind == core::OpKind::Receive) wire = bytes;
            sum += static_cast<double>(link.nanoseconds(wire)) / 1e9;
        }
        longest = std::max(longest, sum);
    }
    return longest;
}

}  // namespace

std::int64_t stepsOfPass(const core::Model& model, const runtime::TrainConfig& config, std::int64_t images) {
    const core::Plan& plan = config.plan;
    if (plan.evaluation || plan.afterEvaluation || !std::holds_alternative<core::VitSpec>(config.model)) return 0;
    const std::int64_t ranks = plan.mesh.dpReplicate * plan.mesh.dpShard;
    const std::int64_t steps = (images + ranks - 1) / ranks / (config.batch * plan.microBatches);
    return secondsOf(model, config, steps) <= kMostOfPass ? steps : 0;
}

Result<void> checkWork(const core::Model& model, const runtime::TrainConfig& config, const std::string& source) {
    const std::int64_t steps = config.steps;
    const char* word = steps == 1 ? "step" : "steps";
    const double seconds = secondsOf(model, config, steps);
    if (seconds > kMostSeconds)
        return fail(ErrorCode::Unsupported,
                    fmt::format("{} {} of {:.2g} FLOPs a rank {} about {} at {:g} GFLOP/s a core, expected at most {}",
                                steps, word, flopsOfStep(model, config.plan), steps == 1 ? "takes" : "take",
                                readable(seconds), rateOf(config.device) / 1e9, readable(kMostSeconds)),
                    source,
                    "use a smaller model (vit_tiny), a smaller training.local_batch_size or global_batch_size or fewer "
                    "--steps; or simulate it");
    if (!config.link.given()) return {};
    SHARDSCOPE_ASSIGN(const core::StepGraph graph, core::buildStepGraph(model, config.plan));
    const double moving = static_cast<double>(steps) * linkSeconds(graph, config.link);
    if (moving <= kMostSeconds) return {};
    return fail(ErrorCode::Unsupported,
                fmt::format("the transfers of {} {} take about {} over that link, expected at most {}", steps, word,
                            readable(moving), readable(kMostSeconds)),
                "--link-bandwidth, --link-latency", "use a faster link, a smaller model or fewer --steps");
}

}  // namespace shardscope::cli
